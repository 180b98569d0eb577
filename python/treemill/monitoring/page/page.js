// Asks the server for the state every second and shows it. All text is set as text, never as HTML:
// titles, files, hosts and labels are the user's.
"use strict";

const token = new URLSearchParams(location.search).get("token");
const EVERY = 1000; // milliseconds between questions
let chosen = null; // the query that the user has clicked on; null: the newest
let histogram = null; // the histogram that the user has picked; null: the server's choice
let sorted = { title: "worker", down: false }; // the column that orders the table of workers
let shown = null; // the state that is on the screen

const address = (path, options) => `${path}?${new URLSearchParams({ token, ...options })}`;
const ask = (path, options, method = "GET") => fetch(address(path, options), { method, cache: "no-store" });

// The list of queries.

function lead(query) {
  if (query.done) {
    const how = ["stopped", "aborted", "failed"].includes(query.state) ? `${query.state}: ` : "";
    return `${how}${whole(query.entries)} events in ${lasting(query.seconds)}${query.traced ? " · trace" : ""}`;
  }
  return `${query.phase}: ${Math.floor((100 * query.entries) / Math.max(query.expected, 1))} %`;
}

function list(state) {
  const box = at("queries");
  const rows = [...state.queries].reverse().map((query) => {
    const row = element("button");
    row.setAttribute("aria-current", String(state.chosen.id === query.id));
    row.append(element("span", "name", query.title), element("span", "state", lead(query)));
    row.title = query.title;
    row.addEventListener("click", () => { chosen = query.id; histogram = null; refresh(); });
    return row;
  });
  const focused = [...box.children].indexOf(document.activeElement);
  box.replaceChildren(...rows);
  if (focused >= 0 && rows[focused]) rows[focused].focus();
}

// The query that is shown.

function numbers(query) {
  const work = query.work;
  const rows = [
    ["events", whole(query.entries)],
    ["of", whole(query.expected)],
    ["events/s", short(query.eventsPerSecond)],
    ["MB/s read", short(query.megabytesPerSecond)],
    ["workers", whole(query.workers)],
    ...(work && !query.done ? [["at work", whole(work.now)]] : []),
    ["time", lasting(query.seconds)],
    ...(work && work.tail !== null ? [["tail", lasting(work.tail)]] : []),
    ...query.counters,
  ];
  at("numbers").replaceChildren(...rows.map(([name, value]) => {
    const box = element("div");
    if (name === "tail") box.title = "For so long fewer workers than before have had a packet";
    box.append(element("b", "", value), element("span", "", name));
    return box;
  }));
}

function pick(names, figure) {
  const box = at("histograms");
  box.hidden = names.length < 2;
  at("histogram-title").textContent = names.length < 2 ? (figure ? figure.title : "") : "";
  const there = [...box.options].map((option) => option.value);
  const wanted = figure ? names : ["", ...names];
  if (JSON.stringify(there) !== JSON.stringify(wanted)) {
    box.replaceChildren(...wanted.map((name) => new Option(name || "Show a histogram", name)));
  }
  box.value = figure ? figure.title : "";
}

function charts(query) {
  const { seconds } = query.series, work = query.work;
  at("rates").hidden = seconds.length < 2 && !work; // a query that was over at once has no rates
  for (const name of ["events", "megabytes"]) {
    const values = query.series[name], some = seconds.length >= 2 && values.some((value) => value > 0);
    at(`${name}-box`).hidden = !some;
    if (some) line(name, seconds, values);
  }
  at("workers-title").textContent = work ? "Workers with a packet" : "Workers";
  at("workers-box").hidden = work ? work.active.length < 1 : seconds.length < 2;
  if (at("workers-box").hidden) return;
  if (!work) {
    tinted.delete("workers");
    line("workers", seconds, query.series.workers);
    return;
  }
  const since = work.tail === null ? null : work.edges[work.edges.length - 1] - work.tail;
  steps("workers", work.edges, work.active, query.workers, since);
}

// What workers do: the small histograms, and the table.

function overview(figures) {
  const box = at("overview");
  if (box.children.length !== figures.length) {
    box.replaceChildren(...figures.map((figure, i) => {
      const made = element("figure"), place = element("div");
      place.id = `overview-${i}`;
      made.append(element("figcaption"), place);
      return made;
    }));
  }
  figures.forEach((figure, i) => {
    box.children[i].hidden = !figure;
    if (!figure) return;
    const caption = box.children[i].firstChild;
    const words = figure.title.replace("_per_", " by ").replaceAll("_", " ").replace("cpu", "CPU");
    caption.textContent = words[0].toUpperCase() + words.slice(1);
    caption.title = `${figure.about}; its name is ${figure.title}`;
    histogramOf(`overview-${i}`, figure, 170);
  });
}

const WRITTEN = {
  text: (value) => value,
  whole,
  short,
  megabytes: (value) => (value / 1e6).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
  seconds: (value) => `${value.toFixed(value < 10 ? 2 : 0)} s`,
  share: (value) => `${Math.round(100 * value)} %`,
};

function cell(value, kind) {
  const made = element("td", kind === "text" ? "text" : "", WRITTEN[kind](value));
  if (kind === "share") {
    const bar = element("i");
    bar.style.width = `${Math.min(100 * value, 100)}%`;
    made.className = "share";
    made.append(bar);
  }
  return made;
}

function heading(column) {
  const mine = sorted.title === column.title;
  const box = element("th", column.kind === "text" ? "text" : ""), made = element("button", "", column.title);
  box.setAttribute("aria-sort", mine ? (sorted.down ? "descending" : "ascending") : "none");
  box.title = column.about;
  made.addEventListener("click", () => {
    sorted = { title: column.title, down: mine ? !sorted.down : column.kind !== "text" && column.title !== "worker" };
    if (shown !== null && shown.chosen.work) table(shown.chosen.work.table);
  });
  box.append(made);
  return box;
}

function table({ columns, rows, more }) {
  const by = Math.max(columns.findIndex((column) => column.title === sorted.title), 0);
  const order = (one, other) => (one[by] < other[by] ? -1 : one[by] > other[by] ? 1 : 0) * (sorted.down ? -1 : 1);
  const head = element("tr");
  head.append(...columns.map(heading));
  const focused = [...at("worker-head").querySelectorAll("button")].indexOf(document.activeElement);
  at("worker-head").replaceChildren(head);
  if (focused >= 0 && head.children[focused]) head.children[focused].firstChild.focus();
  at("worker-rows").replaceChildren(...[...rows].sort(order).map((row) => {
    const made = element("tr");
    made.append(...row.map((value, i) => cell(value, columns[i].kind)));
    return made;
  }));
  at("more-workers").hidden = !more;
  at("more-workers").textContent = `and ${whole(more)} more workers`;
}

function whatIsShown(query) {
  at("title").textContent = query.title;
  const share = (query.done ? query.inResult : query.entries) / Math.max(query.expected, 1);
  at("done").style.width = `${Math.min(100 * share, 100)}%`;
  at("done").className = query.done ? "ended" : "";
  const left = !query.left ? "" : `, about ${lasting(query.left)} left`;
  const less = query.done && query.inResult < query.expected ? ` of ${whole(query.expected)}` : "";
  at("words").textContent = query.done
    ? `${query.state === "failed" ? "Failed" : "Ended"}. ${whole(query.inResult)}${less} events are in the result.`
    : `${query.phase}${left}`;
  at("stop").hidden = at("abort").hidden = !query.canEnd;
  at("trace").hidden = !query.traced;
  at("trace").href = address("trace", { query: query.id });
  numbers(query);
  pick(query.histograms, query.figure);
  at("histogram-box").hidden = !query.figure && query.histograms.length < 2;
  at("histogram").hidden = !query.figure;
  if (query.figure) histogramOf("histogram", query.figure, 300);
  charts(query);
  at("work").hidden = !query.work;
  if (query.work) {
    overview(query.work.overview);
    table(query.work.table);
  }
  at("missing-box").hidden = !query.missing.length;
  const more = query.moreMissing ? [`and ${whole(query.moreMissing)} more`] : [];
  at("missing").replaceChildren(...[...query.missing, ...more].map((words) => element("li", "", words)));
}

function show(state) {
  shown = state;
  at("session").textContent = state.session;
  at("none").hidden = state.chosen !== null;
  at("query").hidden = state.chosen === null;
  if (state.chosen === null) return;
  list(state);
  whatIsShown(state.chosen);
}

async function refresh() {
  const options = {};
  if (chosen !== null) options.query = chosen;
  if (histogram !== null) options.histogram = histogram;
  try {
    const answer = await ask("state", options);
    if (!answer.ok) throw new Error(await answer.text());
    show(await answer.json());
    at("link").textContent = "";
  } catch (error) {
    at("link").textContent = `The session does not answer: ${error.message}`;
    at("stop").hidden = at("abort").hidden = true;
  }
}

for (const how of ["stop", "abort"]) {
  at(how).addEventListener("click", async () => {
    if (shown === null || shown.chosen === null) return;
    await ask(how, { query: shown.chosen.id }, "POST");
    refresh();
  });
}
at("histograms").addEventListener("change", (event) => { histogram = event.target.value; refresh(); });
function again() {
  for (const id of [...plots.keys()]) forget(id);
  if (shown !== null) show(shown);
}
addEventListener("resize", again);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
(async function loop() {
  await refresh();
  setTimeout(loop, EVERY);
})();
