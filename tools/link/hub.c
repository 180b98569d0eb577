// hub COUNT: makes COUNT network devices and carries IPv4 packets from one to another, late, no
// faster than a rate, and not all of them: a distance for programs that know nothing of it.
//
// It prints the devices' names in one line. A packet goes to the device that the last byte of its
// destination's address names, 1 being the first. A line of standard input,
//   DEVICE DELAY_MS MBIT STREAM_MBIT LOSS_PERCENT
// sets one device's wire (a rate of 0: no limit) and is answered with "ok"; the end of input ends
// the hub, and its devices with it. A packet is delayed by the sum of both ends' delays.
//
// Devices take segments of up to 64 KB as the kernel has them (TSO), counted as what they would be
// on a wire, so that the hub is no bottleneck below some Gbit/s. It knows no names and no
// namespaces: link.py does.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <math.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_DEVICES = 16,
  LARGEST = 70000,       // bytes of one packet with its header for the hub
  BURST = 64,            // packets taken from a device before the others have their turn
  STREAMS = 1 << 16,     // buckets for streams' rates
  IP_HEADER = 20,
  HEADERS = 52,          // of IP and TCP with time stamps, which each segment has on the wire
  FRAME = 18,            // of Ethernet
};
static const uint64_t QUEUE = 200000000;  // nanoseconds of packets that wait for a rate; more are lost

typedef struct Packet {
  struct Packet *next;
  uint64_t due;
  size_t length;
  unsigned char bytes[];
} Packet;

typedef struct {
  int file;
  double delay, mbit, stream_mbit, loss;  // ms, Mbit/s, Mbit/s, share
  uint64_t up, down;                      // when its wire is free again, each way
} Device;

typedef struct {
  Packet *first, *last;
} Way;

static Device devices[MOST_DEVICES];
static Way ways[MOST_DEVICES][MOST_DEVICES];  // from, to: packets in the order in which they came
static uint64_t streams[STREAMS];             // when each is free again
static int count;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static _Noreturn void fail(const char *what) {
  perror(what);
  exit(1);
}

static void make(Device *device) {
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
  strcpy(request.ifr_name, "wire%d");
  device->file = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device->file < 0 || ioctl(device->file, TUNSETIFF, &request))
    fail("/dev/net/tun");
  if (ioctl(device->file, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4))
    fail("TUNSETOFFLOAD");
  printf("%s ", request.ifr_name);
}

// When `bytes` that arrive at `at` have passed a wire that is free at `*free`; 0: they are lost.
static uint64_t passed(uint64_t *free, uint64_t at, double mbit, double bytes) {
  if (mbit <= 0)
    return at;
  uint64_t start = *free > at ? *free : at;
  if (start - at > QUEUE)
    return 0;
  return *free = start + (uint64_t)(bytes * 8e3 / mbit);
}

static uint64_t *stream(const unsigned char *ip) {
  uint32_t key[3] = {0};
  size_t header = (size_t)(ip[0] & 15) * 4;
  memcpy(key, ip + 12, 8);          // both addresses
  memcpy(key + 2, ip + header, 4);  // both ports, of TCP and UDP
  uint64_t mixed = key[0];
  for (int i = 1; i < 3; i++)
    mixed = (mixed ^ (mixed >> 29)) * 0x9e3779b97f4a7c15u + key[i];
  return &streams[(mixed * 0x9e3779b97f4a7c15u) >> 48];
}

static void carry(int from, const unsigned char *bytes, size_t length) {
  struct virtio_net_hdr header;
  memcpy(&header, bytes, sizeof header);
  const unsigned char *ip = bytes + sizeof header;
  size_t size = length - sizeof header;
  int to = ip[19] - 1;
  if (ip[0] >> 4 != 4 || (size_t)(ip[0] & 15) * 4 + 4 > size || to < 0 || to >= count)
    return;
  Device *a = &devices[from], *b = &devices[to];
  double segments = 1;
  if (header.gso_type && header.gso_size)
    segments = ceil((double)(size - HEADERS) / header.gso_size);
  double wire = (double)size + (segments - 1) * HEADERS + segments * FRAME;
  if (drand48() > pow((1 - a->loss) * (1 - b->loss), segments))
    return;
  double slower = a->stream_mbit;  // the lower limit of both ends
  if (slower <= 0 || (b->stream_mbit > 0 && b->stream_mbit < slower))
    slower = b->stream_mbit;
  uint64_t at = passed(stream(ip), now(), slower, wire);
  if (at)
    at = passed(&a->up, at, a->mbit, wire);
  if (at)
    at = passed(&b->down, at + (uint64_t)((a->delay + b->delay) * 1e6), b->mbit, wire);
  Packet *packet = at ? malloc(sizeof *packet + length) : NULL;
  if (!packet)
    return;
  *packet = (Packet){.due = at, .length = length};
  memcpy(packet->bytes, bytes, length);
  Way *way = &ways[from][to];
  if (way->last)
    way->last = way->last->next = packet;
  else
    way->first = way->last = packet;
}

// Delivers what is due. Gives the time until the next packet is, at most a second.
static uint64_t deliver(void) {
  uint64_t time = now(), next = time + 1000000000u;
  for (int from = 0; from < count; from++)
    for (int to = 0; to < count; to++) {
      Way *way = &ways[from][to];
      for (Packet *packet; (packet = way->first) && packet->due <= time; free(packet)) {
        if (!(way->first = packet->next))
          way->last = NULL;
        // What was cut while the packet was under way does not arrive; nor does it while a device
        // is not up yet.
        if (devices[from].loss < 1 && devices[to].loss < 1 &&
            write(devices[to].file, packet->bytes, packet->length) < 0)
          continue;
      }
      if (way->first && way->first->due < next)
        next = way->first->due;
    }
  time = now();
  return next > time ? next - time : 0;
}

static void set(char *line) {
  int which;
  Device said;
  if (sscanf(line, "%d %lf %lf %lf %lf", &which, &said.delay, &said.mbit, &said.stream_mbit,
             &said.loss) != 5 || which < 1 || which > count) {
    puts("no such setting");
    return;
  }
  Device *device = &devices[which - 1];
  device->delay = said.delay, device->mbit = said.mbit, device->stream_mbit = said.stream_mbit;
  device->loss = said.loss / 100;
  puts("ok");
}

int main(int arguments, char **values) {
  count = arguments == 2 ? atoi(values[1]) : 0;
  if (count < 1 || count > MOST_DEVICES)
    return fputs("hub COUNT: 1 to 16\n", stderr), 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  prctl(PR_SET_TIMERSLACK, 1);  // else the kernel wakes us 50 us late
  struct pollfd polled[MOST_DEVICES + 1];
  for (int i = 0; i < count; i++) {
    make(&devices[i]);
    polled[i] = (struct pollfd){.fd = devices[i].file, .events = POLLIN};
  }
  puts("");
  polled[count] = (struct pollfd){.fd = 0, .events = POLLIN};
  static unsigned char bytes[LARGEST];
  char line[256];
  for (;;) {
    uint64_t wait = deliver();
    struct timespec timeout = {.tv_nsec = (long)(wait % 1000000000u), .tv_sec = (time_t)(wait / 1000000000u)};
    if (ppoll(polled, (nfds_t)count + 1, &timeout, NULL) <= 0)
      continue;
    if (polled[count].revents) {
      // The caller waits for the answer before the next line, so that a read is one line.
      ssize_t length = read(0, line, sizeof line - 1);
      if (length <= 0)
        return 0;
      line[length] = 0;
      set(line);
    }
    for (int i = 0; i < count; i++)
      for (int taken = 0; polled[i].revents & POLLIN && taken < BURST; taken++) {
        ssize_t length = read(devices[i].file, bytes, sizeof bytes);
        if (length < (ssize_t)sizeof(struct virtio_net_hdr) + IP_HEADER)
          break;
        carry(i, bytes, (size_t)length);
      }
  }
}
