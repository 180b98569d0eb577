// Numbers as words, and charts: lines, histograms, maps. Knows nothing of queries. All text is set as
// text, never as HTML: titles, files and labels are the user's.
"use strict";

const at = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function element(kind, className, words) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  if (words !== undefined) made.textContent = words;
  return made;
}

const whole = (value) => Math.round(value).toLocaleString("en");
const UNITS = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
function short(value) {
  const [size, unit] = UNITS.find(([least]) => Math.abs(value) >= least) || [1, ""];
  return `${+(value / size).toPrecision(3)}${unit && " " + unit}`;
}
// The marks of an axis are all in one unit: that of the largest one.
function ticks(values) {
  const most = Math.max(...values.map((value) => Math.abs(value ?? 0)));
  const [size, unit] = most < 10_000 ? [1, ""] : UNITS.find(([least]) => most >= least);
  return values.map((value) => (value === null ? "" : `${+(value / size).toPrecision(6)}${value ? unit : ""}`));
}
function lasting(seconds) {
  if (seconds < 0.9995) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}
function fine(value) {
  const size = Math.abs(value);
  if (size >= 1000) return short(value).replace(" ", "");
  return value !== 0 && size < 0.00001 ? value.toExponential(0) : `${+value.toPrecision(size < 0.001 ? 1 : size < 1 ? 2 : 3)}`;
}

// A plot is made once and then gets new data, but for a new size or another look.

const plots = new Map(); // by the id of their boxes
function forget(id) {
  const known = plots.get(id);
  if (known) known.plot.destroy();
  plots.delete(id);
}
function draw(id, make, data, key) {
  const box = at(id), width = box.clientWidth;
  const known = plots.get(id);
  if (known && known.key === key && known.width === width) {
    known.plot.setData(data);
    return;
  }
  forget(id);
  box.replaceChildren();
  plots.set(id, { key, width, plot: new uPlot(make(width), data, box) });
}

function axes(x, y) {
  const grid = { stroke: colour("--grid"), width: 1 };
  const look = { stroke: colour("--soft"), grid, ticks: { ...grid, size: 4 }, font: "11px system-ui, sans-serif" };
  return [
    { ...look, label: x, labelSize: x ? 18 : 0, labelFont: look.font, size: 26, values: (plot, values) => ticks(values) },
    { ...look, label: y, size: 46, values: (plot, values) => ticks(values) },
  ];
}
const filledLine = () => (
  { stroke: colour("--main"), width: 1.5, fill: colour("--fill"), points: { show: false } }
);
const quiet = { legend: { show: false }, cursor: { show: false }, padding: [8, 16, 0, 0] };

function line(id, seconds, values) {
  draw(id, (width) => ({
    ...quiet, width, height: 170,
    scales: { x: { time: false }, y: { range: (plot, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: axes("seconds", ""),
    series: [{}, filledLine()],
  }), [seconds, values], "line");
}

// Bins of time with a value each, up to at least `most`. `since`: from where on the ground is tinted.
const tinted = new Map(); // by the id of a box
function steps(id, edges, values, most, since) {
  tinted.set(id, since);
  const tint = (plot) => {
    const from = tinted.get(id);
    if (from === null) return;
    const left = plot.valToPos(from, "x", true), right = plot.bbox.left + plot.bbox.width;
    plot.ctx.fillStyle = colour("--tail");
    plot.ctx.fillRect(left, plot.bbox.top, Math.max(right - left, 0), plot.bbox.height);
  };
  draw(id, (width) => ({
    ...quiet, width, height: 170, hooks: { drawClear: [tint] },
    scales: { x: { time: false }, y: { range: (plot, low, high) => [0, 1.1 * Math.max(most, high, 1)] } },
    axes: axes("seconds", ""),
    series: [{}, { ...filledLine(), paths: uPlot.paths.stepped({ align: 1 }) }],
  }), [edges, values.concat(values[values.length - 1])], `steps ${most}`);
}

function histogramOf(id, figure, height) {
  if (figure.axes.length === 2) return map(id, figure, height);
  const [axis] = figure.axes;
  const edges = axis.edges || axis.names.map((name, i) => i).concat(axis.names.length);
  const values = figure.values.concat(figure.values[figure.values.length - 1]);
  const key = JSON.stringify([figure.title, axis]);
  draw(id, (width) => {
    const both = axes(axis.label, "");
    if (axis.names) nameBins(both[0], axis, width);
    return {
      ...quiet, width, height,
      scales: { x: { time: false }, y: { range: (plot, low, high) => [Math.min(low, 0), high > 0 ? high * 1.1 : 1] } },
      axes: both,
      series: [{}, { ...filledLine(), paths: uPlot.paths.stepped({ align: 1 }) }],
    };
  }, [edges, values], key);
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

// How many of the names of an axis fit beside one another; long ones are cut.
function fitting(axis, width) {
  const longest = axis.names ? Math.max(...axis.names.map((name) => name.length), 1) : 5;
  return Math.max(Math.floor(width / Math.min(8 * longest + 16, 100)), 1);
}

// Names of categories: each in the middle of its bin, and as long as there is room.
function nameBins(scale, axis, width) {
  const named = marks(axis, fitting(axis, width - 56));
  const room = Math.max(Math.floor(width / named.length / 8), 3);
  scale.splits = () => named.map(([place]) => place * axis.names.length);
  scale.values = () => named.map(([, words]) => (words.length > room ? `${words.slice(0, room - 1)}…` : words));
  scale.grid = { show: false };
}

function ruler(axis, most, side) {
  const box = element("div", axis.names ? `${side} names` : side), all = marks(axis, most);
  for (const [place, words] of all) {
    const mark = element("span", "", words);
    mark.title = words;
    mark.style[side === "left" ? "bottom" : "left"] = `${100 * place}%`;
    if (side !== "left") { // a name stays below its bin, and inside of the map
      const inside = axis.names ? 2 * Math.min(place, 1 - place) : 1;
      mark.style.maxWidth = `${100 * Math.min(0.95 / all.length, inside)}%`;
    }
    box.append(mark);
  }
  return box;
}

function map(id, figure, height) {
  const [x, y] = figure.axes.map((axis) => (axis.names ? axis.names.length : axis.edges.length - 1));
  forget(id);
  const canvas = element("canvas", "map");
  canvas.width = x;
  canvas.height = y;
  canvas.style.height = `${height - 48}px`;
  const most = Math.max(...figure.values, 0) || 1;
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour("--main");
  figure.values.forEach((value, i) => {
    pen.globalAlpha = Math.max(value, 0) / most;
    pen.fillRect(i % x, y - 1 - Math.floor(i / x), 1, 1);
  });
  const box = element("div", "field"), [across, up] = figure.axes;
  const small = height < 200;
  const [, unit] = /\[(.+)\]/.exec(`${up.label} ${across.label}`) || [];
  const words = small ? `in ${unit || up.label}` : `${up.label} against ${across.label}`;
  const below = ruler(across, fitting(across, at(id).clientWidth - 60), "below");
  const about = element("div", "about", `${words}; full colour: ${fine(most)}`);
  box.append(ruler(up, small ? 4 : 6, "left"), canvas, element("div"), below, about);
  at(id).replaceChildren(box);
}
