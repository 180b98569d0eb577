// Asks the server for the state every second and draws it. All text is set as text, never as HTML:
// titles, files and labels are the user's.
"use strict";

const token = new URLSearchParams(location.search).get("token");
const at = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const EVERY = 1000; // milliseconds between questions
let chosen = null; // the query that the user has clicked on; null: the newest
let histogram = null; // the histogram that the user has picked; null: the first
let shown = null; // the state that is on the screen

const whole = (value) => Math.round(value).toLocaleString("en");
const UNITS = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
function short(value) {
  const [size, unit] = UNITS.find(([least]) => Math.abs(value) >= least) || [1, ""];
  return `${+(value / size).toPrecision(3)}${unit && " " + unit}`;
}
const ticks = (values) => values.map((value) => (value === null ? "" : short(value).replace(" ", "")));
function lasting(seconds) {
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

function ask(path, options, method = "GET") {
  const words = new URLSearchParams({ token, ...options });
  return fetch(`${path}?${words}`, { method, cache: "no-store" });
}

// Charts. A plot is made once and then gets new data, but for a new size or another look.

const plots = new Map();
function draw(id, make, data, key) {
  const box = at(id), width = box.clientWidth;
  const known = plots.get(id);
  if (known && known.key === key && known.width === width) {
    known.plot.setData(data);
    return;
  }
  if (known) known.plot.destroy();
  box.replaceChildren();
  plots.set(id, { key, width, plot: new uPlot(make(width), data, box) });
}

function axes(x, y) {
  const look = { stroke: colour("--soft"), grid: { stroke: colour("--grid") }, ticks: { stroke: colour("--grid") } };
  return [
    { ...look, label: x, labelSize: x ? 22 : 0, size: 32, values: (plot, values) => ticks(values) },
    { ...look, label: y, size: 56, values: (plot, values) => ticks(values) },
  ];
}

function line(id, seconds, values) {
  draw(id, (width) => ({
    width, height: 170, legend: { show: false }, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: (plot, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: axes("seconds", ""),
    series: [{}, { stroke: colour("--main"), width: 1.5, fill: colour("--fill"), points: { show: false } }],
  }), [seconds, values], "line");
}

function histogramOf(figure) {
  if (figure.axes.length === 2) return map(figure);
  const [axis] = figure.axes;
  const edges = axis.edges || axis.names.map((name, i) => i).concat(axis.names.length);
  const values = figure.values.concat(figure.values[figure.values.length - 1]);
  const key = JSON.stringify([figure.title, axis]);
  draw("histogram", (width) => {
    const both = axes(axis.label, "");
    if (axis.names) nameBins(both[0], axis, width);
    return {
      width, height: 280, legend: { show: false }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range: (plot, low, high) => [Math.min(low, 0), high > 0 ? high * 1.1 : 1] } },
      axes: both,
      series: [{}, {
        stroke: colour("--main"), width: 1.5, fill: colour("--fill"), points: { show: false },
        paths: uPlot.paths.stepped({ align: 1 }),
      }],
    };
  }, [edges, values], key);
}

function fine(value) {
  const size = Math.abs(value);
  if (size >= 1000) return short(value).replace(" ", "");
  return value !== 0 && size < 0.001 ? value.toExponential(0) : `${+value.toPrecision(2)}`;
}

// Up to so many marks along an axis: where they are, from 0 to 1, and what they say.
function marks(axis, most) {
  const count = axis.names ? axis.names.length : axis.edges.length - 1;
  const step = Math.max(Math.ceil(count / most), 1);
  const found = [];
  for (let i = 0; i < count + (axis.names ? 0 : 1); i += step) {
    found.push(axis.names ? [(i + 0.5) / count, axis.names[i]] : [i / count, fine(axis.edges[i])]);
  }
  return found;
}

// Names of categories: each in the middle of its bin, and as long as there is room.
function nameBins(scale, axis, width) {
  const named = marks(axis, Math.max(Math.floor(width / 100), 1));
  const room = Math.max(Math.floor(width / named.length / 8), 3);
  scale.splits = () => named.map(([place]) => place * axis.names.length);
  scale.values = () => named.map(([, words]) => (words.length > room ? `${words.slice(0, room - 1)}…` : words));
}

function ruler(axis, most, side) {
  const box = document.createElement("div");
  box.className = side;
  for (const [place, words] of marks(axis, most)) {
    const mark = document.createElement("span");
    mark.textContent = mark.title = words;
    mark.style[side === "left" ? "bottom" : "left"] = `${100 * place}%`;
    box.append(mark);
  }
  return box;
}

function said(className, words) {
  const box = document.createElement("div");
  box.className = className;
  box.textContent = words;
  return box;
}

function map(figure) {
  const [x, y] = figure.axes.map((axis) => (axis.names ? axis.names.length : axis.edges.length - 1));
  const known = plots.get("histogram");
  if (known) { known.plot.destroy(); plots.delete("histogram"); }
  const canvas = document.createElement("canvas");
  canvas.className = "map";
  canvas.width = x;
  canvas.height = y;
  const most = Math.max(...figure.values, 0) || 1;
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour("--main");
  figure.values.forEach((value, i) => {
    pen.globalAlpha = Math.max(value, 0) / most;
    pen.fillRect(i % x, y - 1 - Math.floor(i / x), 1, 1);
  });
  const box = document.createElement("div"), [across, up] = figure.axes;
  box.className = "field";
  const words = `${up.label} against ${across.label}; full colour: ${fine(most)}`;
  box.append(ruler(up, 6, "left"), canvas, said("", ""), ruler(across, 8, "below"), said("", ""), said("about", words));
  at("histogram").replaceChildren(box);
}

// The list of queries, and the one that is shown.

function lead(query) {
  if (query.done) return `${whole(query.entries)} events in ${lasting(query.seconds)}`;
  return `${query.phase}: ${Math.floor((100 * query.entries) / Math.max(query.expected, 1))} %`;
}

function list(state) {
  const box = at("queries");
  const rows = [...state.queries].reverse().map((query) => {
    const row = document.createElement("button");
    row.setAttribute("aria-current", String(state.chosen.id === query.id));
    for (const [kind, words] of [["name", query.title], ["state", lead(query)]]) {
      const part = document.createElement("span");
      part.className = kind;
      part.textContent = words;
      row.append(part);
    }
    row.title = query.title;
    row.addEventListener("click", () => { chosen = query.id; histogram = null; refresh(); });
    return row;
  });
  const focused = [...box.children].indexOf(document.activeElement);
  box.replaceChildren(...rows);
  if (focused >= 0 && rows[focused]) rows[focused].focus();
}

function numbers(query) {
  const rows = [
    ["events", whole(query.entries)],
    ["of", whole(query.expected)],
    ["events/s", short(query.eventsPerSecond)],
    ["MB/s read", short(query.megabytesPerSecond)],
    ["workers", whole(query.workers)],
    ["time", lasting(query.seconds)],
    ...query.counters,
  ];
  at("numbers").replaceChildren(...rows.map(([name, value]) => {
    const box = document.createElement("div"), number = document.createElement("b"), label = document.createElement("span");
    number.textContent = value;
    label.textContent = name;
    box.append(number, label);
    return box;
  }));
}

function pick(names, title) {
  const box = at("histograms");
  box.hidden = names.length < 2;
  at("histogram-title").textContent = names.length < 2 ? title || "" : "";
  const there = [...box.options].map((option) => option.value);
  if (JSON.stringify(there) !== JSON.stringify(names)) {
    box.replaceChildren(...names.map((name) => new Option(name, name)));
  }
  if (title !== undefined) box.value = title;
}

function whatIsShown(query) {
  at("title").textContent = query.title;
  const share = (query.done ? query.inResult : query.entries) / Math.max(query.expected, 1);
  at("done").style.width = `${Math.min(100 * share, 100)}%`;
  at("done").className = query.done ? "ended" : "";
  const left = !query.left ? "" : `, about ${lasting(query.left)} left`;
  const less = query.done && query.inResult < query.expected ? ` of ${whole(query.expected)}` : "";
  at("words").textContent = query.done
    ? `Ended. ${whole(query.inResult)}${less} events are in the result.`
    : `${query.phase}${left}`;
  at("stop").disabled = at("abort").disabled = !query.canEnd;
  numbers(query);
  pick(query.histograms, query.figure ? query.figure.title : undefined);
  at("histogram-box").hidden = !query.figure;
  if (query.figure) histogramOf(query.figure);
  at("rates").hidden = query.series.seconds.length < 2; // a query that was over at once has no rates
  for (const name of ["events", "megabytes", "workers"]) line(name, query.series.seconds, query.series[name]);
  at("missing-box").hidden = !query.missing.length;
  const more = query.moreMissing ? [`and ${whole(query.moreMissing)} more`] : [];
  at("missing").replaceChildren(...[...query.missing, ...more].map((words) => {
    const row = document.createElement("li");
    row.textContent = words;
    return row;
  }));
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
    at("stop").disabled = at("abort").disabled = true;
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
  for (const { plot } of plots.values()) plot.destroy();
  plots.clear();
  if (shown !== null) show(shown);
}
addEventListener("resize", again);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
(async function loop() {
  await refresh();
  setTimeout(loop, EVERY);
})();
