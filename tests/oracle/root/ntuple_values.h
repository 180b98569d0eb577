// Values for fields of any type from an entry's number (`set`), and as JSON (`put`): numbers so that
// they come back to the bit, nothing as null, tuples as lists, classes as objects.
#ifndef TREEMILL_NTUPLE_VALUES
#define TREEMILL_NTUPLE_VALUES
#include "ntuple_types.h"
#include <ROOT/RNTupleTypes.hxx>
#include <ROOT/RVec.hxx>
#include <atomic>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <ostream>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>

namespace ntuples {

inline double ranged(long long i, double low, double high) {
  return i % 5 == 0 ? low : i % 5 == 1 ? high : low + (high - low) * (0.5 + 0.5 * std::sin(double(i)));
}

template <typename T> void number(T &x, long long i) {
  if constexpr (std::is_same_v<T, bool>) x = i % 3 == 1;
  else if (i % 7 == 5) x = std::numeric_limits<T>::max();
  else if (i % 7 == 6) x = std::numeric_limits<T>::lowest();
  else if constexpr (std::is_floating_point_v<T>) {
    x = i % 11 == 3 ? std::numeric_limits<T>::quiet_NaN()
      : i % 11 == 4 ? -std::numeric_limits<T>::infinity()
      : i % 11 == 7 ? -T(0) : i % 11 == 8 ? std::numeric_limits<T>::denorm_min() : T(std::sin(double(i)) * 1e3);
  } else x = T(i * 2654435761LL);
}

// All overloads are declared before any is used: arguments of std types are not found otherwise.
#define TREEMILL_OVERLOAD(parameters, type) \
  template <parameters> void set(type &, long long); \
  template <parameters> void put(std::ostream &, const type &);
#define TREEMILL_COMMA ,

template <typename T> std::enable_if_t<std::is_arithmetic_v<T>> set(T &x, long long i) { number(x, i); }
template <typename T> std::enable_if_t<std::is_arithmetic_v<T>> put(std::ostream &, const T &);
TREEMILL_OVERLOAD(typename T, std::vector<T>)
TREEMILL_OVERLOAD(typename T, ROOT::RVec<T>)
TREEMILL_OVERLOAD(typename T, std::set<T>)
TREEMILL_OVERLOAD(typename T, std::multiset<T>)
TREEMILL_OVERLOAD(typename T, std::unordered_set<T>)
TREEMILL_OVERLOAD(typename T, std::optional<T>)
TREEMILL_OVERLOAD(typename T, std::unique_ptr<T>)
TREEMILL_OVERLOAD(typename T, std::atomic<T>)
TREEMILL_OVERLOAD(typename K TREEMILL_COMMA typename V, std::map<K TREEMILL_COMMA V>)
TREEMILL_OVERLOAD(typename K TREEMILL_COMMA typename V, std::multimap<K TREEMILL_COMMA V>)
TREEMILL_OVERLOAD(typename K TREEMILL_COMMA typename V, std::unordered_map<K TREEMILL_COMMA V>)
TREEMILL_OVERLOAD(typename A TREEMILL_COMMA typename B, std::pair<A TREEMILL_COMMA B>)
TREEMILL_OVERLOAD(typename... T, std::tuple<T...>)
TREEMILL_OVERLOAD(typename... T, std::variant<T...>)
TREEMILL_OVERLOAD(typename T TREEMILL_COMMA std::size_t N, std::array<T TREEMILL_COMMA N>)
template <std::size_t N> void set(std::bitset<N> &, long long);
template <std::size_t N> void put(std::ostream &, const std::bitset<N> &);
inline void set(std::string &, long long);
inline void put(std::ostream &, const std::string &);
inline void set(Base &, long long);
inline void put(std::ostream &, const Base &);
inline void set(Derived &, long long);
inline void put(std::ostream &, const Derived &);
inline void set(Nested &, long long);
inline void put(std::ostream &, const Nested &);
inline void set(std::byte &x, long long i) { x = std::byte(i); }
inline void put(std::ostream &out, const std::byte &x) { out << int(x); }
inline void set(Colour &x, long long i) { x = i % 3 == 0 ? kRed : i % 3 == 1 ? kGreen : kBlue; }
inline void put(std::ostream &out, const Colour &x) { out << int(x); }
inline void set(Small &x, long long i) { x = i % 2 ? Small::kOne : Small::kMany; }
inline void put(std::ostream &out, const Small &x) { out << int(x); }
template <typename T> void put(std::ostream &out, const ROOT::RNTupleCardinality<T> &x) { out << T(x); }

template <typename T> std::enable_if_t<std::is_arithmetic_v<T>> put(std::ostream &out, const T &x) {
  if constexpr (std::is_same_v<T, bool>) out << (x ? "true" : "false");
  else if constexpr (std::is_integral_v<T>) out << +x;
  else if (std::isnan(x)) out << "NaN";
  else if (std::isinf(x)) out << (x < 0 ? "-Infinity" : "Infinity");
  else {
    char text[40];
    std::snprintf(text, sizeof text, "%.16e", double(x));
    out << text;
  }
}

// Not ASCII alone, and none that JSON must escape; empty ones too.
inline void set(std::string &x, long long i) {
  x.clear();
  for (long long k = 0; k < i % 5; ++k) x += char('a' + (i + k) % 26);
  if (i % 9 == 8) x += "\xc3\xa9";
}
inline void put(std::ostream &out, const std::string &x) { out << '"' << x << '"'; }

template <typename C> void fill(C &x, long long i) {
  x.clear();
  for (long long k = 0; k < (i * i + i / 3) % 4; ++k) {
    typename C::value_type item{};
    set(item, i * 3 + k);
    x.insert(x.end(), std::move(item));
  }
}
template <typename C> void list(std::ostream &out, const C &x) {
  out << '[';
  bool is_first = true;
  for (const auto &item : x) {
    if (!is_first) out << ", ";
    is_first = false;
    put(out, static_cast<const typename C::value_type &>(item));
  }
  out << ']';
}
#define TREEMILL_LIST(type) \
  template <typename T> void set(type<T> &x, long long i) { fill(x, i); } \
  template <typename T> void put(std::ostream &out, const type<T> &x) { list(out, x); }
TREEMILL_LIST(std::vector)
TREEMILL_LIST(ROOT::RVec)
TREEMILL_LIST(std::set)
TREEMILL_LIST(std::multiset)
TREEMILL_LIST(std::unordered_set)

template <typename M> void fill_map(M &x, long long i) {
  x.clear();
  for (long long k = 0; k < (i + i / 4) % 4; ++k) {
    std::pair<typename M::key_type, typename M::mapped_type> item{};
    set(item.first, i + k);
    set(item.second, i * 2 + k);
    x.insert(std::move(item));
  }
}
template <typename M> void put_map(std::ostream &out, const M &x) {
  out << '[';
  bool is_first = true;
  for (const auto &[key, value] : x) {
    out << (is_first ? "[" : ", [");
    is_first = false;
    put(out, key);
    out << ", ";
    put(out, value);
    out << ']';
  }
  out << ']';
}
#define TREEMILL_MAP(type) \
  template <typename K, typename V> void set(type<K, V> &x, long long i) { fill_map(x, i); } \
  template <typename K, typename V> void put(std::ostream &out, const type<K, V> &x) { put_map(out, x); }
TREEMILL_MAP(std::map)
TREEMILL_MAP(std::multimap)
TREEMILL_MAP(std::unordered_map)

template <typename A, typename B> void set(std::pair<A, B> &x, long long i) {
  set(x.first, i);
  set(x.second, i + 1);
}
template <typename A, typename B> void put(std::ostream &out, const std::pair<A, B> &x) {
  out << '[';
  put(out, x.first);
  out << ", ";
  put(out, x.second);
  out << ']';
}

template <typename... T> void set(std::tuple<T...> &x, long long i) {
  std::apply([&](auto &...one) { (set(one, i++), ...); }, x);
}
template <typename... T> void put(std::ostream &out, const std::tuple<T...> &x) {
  const char *before = "[";
  std::apply([&](const auto &...one) { ((out << before, put(out, one), before = ", "), ...); }, x);
  out << ']';
}

template <std::size_t K = 0, typename... T> void choose(std::variant<T...> &x, long long i) {
  if constexpr (K < sizeof...(T)) {
    if (i % (long long)(sizeof...(T)) != K) return choose<K + 1>(x, i);
    x.template emplace<K>();
    set(std::get<K>(x), i);
  }
}
template <typename... T> void set(std::variant<T...> &x, long long i) { choose(x, i + i / 7); }
template <typename... T> void put(std::ostream &out, const std::variant<T...> &x) {
  std::visit([&](const auto &one) { put(out, one); }, x);
}

template <typename T> void set(std::optional<T> &x, long long i) {
  x.reset();
  if (i % 3 != 1) set(x.emplace(), i);
}
template <typename T> void put(std::ostream &out, const std::optional<T> &x) {
  if (x) put(out, *x); else out << "null";
}
template <typename T> void set(std::unique_ptr<T> &x, long long i) {
  x.reset();
  if (i % 4 == 1) return;
  x = std::make_unique<T>();
  set(*x, i);
}
template <typename T> void put(std::ostream &out, const std::unique_ptr<T> &x) {
  if (x) put(out, *x); else out << "null";
}
template <typename T> void set(std::atomic<T> &x, long long i) {
  T value{};
  set(value, i);
  x = value;
}
template <typename T> void put(std::ostream &out, const std::atomic<T> &x) { put(out, x.load()); }

template <typename T, std::size_t N> void set(std::array<T, N> &x, long long i) {
  for (auto &one : x) set(one, i++);
}
template <typename T, std::size_t N> void put(std::ostream &out, const std::array<T, N> &x) { list(out, x); }

template <std::size_t N> void set(std::bitset<N> &x, long long i) {
  for (std::size_t k = 0; k < N; ++k) x[k] = (i * 2654435761LL >> (k % 60)) & 1;
}
template <std::size_t N> void put(std::ostream &out, const std::bitset<N> &x) {
  for (std::size_t k = 0; k < N; ++k) out << (k == 0 ? "[" : ", ") << (x[k] ? "true" : "false");
  out << ']';
}

inline void set(Base &x, long long i) {
  x.base = int(i);
  set(x.more, i + 1);
}
inline void put(std::ostream &out, const Base &x) {
  out << "{\"base\": " << x.base << ", \"more\": ";
  put(out, x.more);
  out << '}';
}
inline void set(Derived &x, long long i) {
  set(static_cast<Base &>(x), i);
  x.other = double(i) / 3;
  set(x.name, i);
  for (int k = 0; k < 6; ++k) x.array[k / 3][k % 3] = short(i + k);
  set(x.small, i);
}
inline void put(std::ostream &out, const Derived &x) {
  out << "{\"base\": " << x.base << ", \"more\": ";
  put(out, x.more);
  out << ", \"other\": ";
  put(out, x.other);
  out << ", \"name\": ";
  put(out, x.name);
  out << ", \"array\": [";
  for (int k = 0; k < 6; ++k) out << (k % 3 ? ", " : k ? "], [" : "[") << x.array[k / 3][k % 3];
  out << "]], \"small\": ";
  put(out, x.small);
  out << '}';
}
inline void set(Nested &x, long long i) {
  set(x.inner, i);
  set(x.many, i);
  set(x.named, i);
}
inline void put(std::ostream &out, const Nested &x) {
  out << "{\"inner\": ";
  put(out, x.inner);
  out << ", \"many\": ";
  put(out, x.many);
  out << ", \"named\": ";
  put(out, x.named);
  out << '}';
}

}  // namespace ntuples
#endif
