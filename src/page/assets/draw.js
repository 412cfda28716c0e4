// SPDX-License-Identifier: MIT
// What every figure needs: elements, colours of the theme, axes, and one list of figures to draw again when the theme,
// the width or the medium changes.
"use strict";

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  for (const child of children) node.append(child);
  return node;
}

const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const palette = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];

const group = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
function duration(us) {
  if (us === 0) return "0";
  if (us < 1) return (us * 1000).toPrecision(3) + " ns";
  if (us < 999.5) return trim(us) + " us";
  if (us < 999500) return trim(us / 1000) + " ms";
  const s = us / 1e6;
  if (s < 600) return trim(s) + " s";
  if (s < 7200) return trim(s / 60) + " min";
  if (s < 172800) return trim(s / 3600) + " h";
  return s < 63115200 ? trim(s / 86400) + " days" : trim(s / 31557600) + " years";
}
function trim(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

// Round steps of 1, 2 or 5 that give about `wanted` ticks.
function linearTicks(low, high, wanted) {
  const raw = (high - low) / Math.max(1, wanted);
  if (!(raw > 0)) return [low];
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = power * ([1, 2, 5, 10].find(m => m * power >= raw * 0.999));
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

const figures = [];
// draw(box) fills an empty box and returns its data, {columns, rows}. It is called again whenever the look changes.
function figure(parent, id, draw) {
  const box = el("div", {class: "chart", id: "figure-" + id});
  parent.append(el("figure", {}, box));
  figures.push({box, draw});
  return box;
}
function drawFigure({box, draw}) {
  box.replaceChildren();
  try {
    draw(box);
    box.dataset.drawn = "yes";
  } catch (error) {
    box.dataset.drawn = "failed";
    box.append(el("p", {class: "caption"}, "This figure could not be drawn: " + error.message));
    console.error(box.id, error);
  }
}
function drawAll() {
  forgetSeriesCharts();
  figures.forEach(drawFigure);
}

// Keys for every view that zooms over time. o: zoom(factor), move(share of the visible range), whole()
const zoomKeys = "Keys: plus and minus zoom, left and right move, 0 shows all.";
function onZoomKeys(node, o) {
  node.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const act = {"+": () => o.zoom(0.6), "=": () => o.zoom(0.6), "-": () => o.zoom(1 / 0.6), "0": o.whole, Escape: o.whole,
      ArrowLeft: () => o.move(-0.2), ArrowRight: () => o.move(0.2)}[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

// A canvas with the box's width and sharp pixels. `text` describes it for screen readers.
function canvasIn(box, height, text, width) {
  const w = Math.max(200, Math.floor(width || box.clientWidth || 1000));
  if (capturing) {
    const context = new SvgContext(w, height, el("canvas").getContext("2d"));
    for (const [name, value] of Object.entries({role: "img", "aria-label": text})) context.root.setAttribute(name, value);
    box.append(context.root);
    return {canvas: el("canvas"), context, width: w, height};
  }
  const ratio = window.devicePixelRatio || 1;
  const canvas = el("canvas", {width: Math.round(w * ratio), height: Math.round(height * ratio), role: "img", "aria-label": text});
  canvas.style.width = w + "px";
  canvas.style.height = height + "px";
  box.append(canvas);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = "12px system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";
  return {canvas, context, width: w, height};
}

// Items: [name, colour, series of a figure if it is one, which is drawn as in the figure].
function legendOf(items) {
  const node = el("div", {class: "legend"});
  for (const [name, fill, series] of items) {
    const swatch = el("i");
    if (series && (series.style === "line" || series.style === "step")) {
      swatch.append(svg("svg", {width: 20, height: 11}, svg("path", {d: "M0 6H20", stroke: fill, "stroke-width": 2, "stroke-dasharray": dashes(series)})));
      swatch.className = "line";
    } else if (series && series.style === "points" && series.symbol !== "dot" && series.symbol !== "half") {
      const open = series.symbol === "ring" || series.symbol === "cross";
      swatch.append(svg("svg", {width: 11, height: 11}, svg("path", {d: symbolPath(series.symbol, 5.5, 5.5, 4), stroke: fill, "stroke-width": 1.7, fill: open ? "none" : fill})));
    } else {
      swatch.style.background = fill;
    }
    node.append(el("span", {}, swatch, name));
  }
  return node;
}

// A histogram in SVG: bars [low, high, count]; x and y may be logarithmic; marks [value, label, strong].
function histogramSvg(box, o) {
  const width = Math.max(300, o.width || Math.min(1070, box.clientWidth || 520)), height = o.height || 210, left = 46, right = 14, top = 26, bottom = 34;
  const x0 = o.xLog ? Math.log10(o.xMin) : o.xMin, x1 = o.xLog ? Math.log10(o.xMax) : o.xMax;
  const peak = Math.max(1, ...o.bars.map(b => b[2]));
  const yTop = Math.ceil(Math.log10(peak) + 0.15);
  const toX = v => {
    const u = o.xLog ? Math.log10(Math.max(v, o.xMin)) : v;
    return left + (Math.min(Math.max(u, x0), x1) - x0) / (x1 - x0) * (width - left - right);
  };
  const base = height - bottom;
  // A count of one is a little above the base line, so that a single outlier is visible.
  const toY = n => base - (Math.log10(n) + 0.35) / (yTop + 0.35) * (base - top);
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": o.label});
  for (let p = 0; p <= yTop; ++p) {
    const y = toY(Math.pow(10, p));
    root.append(svg("line", {x1: left, x2: width - right, y1: y, y2: y, stroke: colour("grid")}));
    root.append(svg("text", {x: left - 6, y: y + 4, "text-anchor": "end"}, p < 4 ? group(Math.pow(10, p)) : "10" + "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[p]));
  }
  for (const [value, text] of o.xTicks) {
    const x = toX(value);
    root.append(svg("line", {x1: x, x2: x, y1: base, y2: base + 4, stroke: colour("line")}));
    root.append(svg("text", {x, y: base + 17, "text-anchor": "middle"}, text));
  }
  for (const [low, high, count] of o.bars) {
    const a = toX(low), b = toX(high);
    root.append(svg("rect", {x: a, y: toY(count), width: Math.max(2, b - a - 0.6), height: base - toY(count),
      fill: o.fill || colour("accent")}, svg("title", {}, `${o.name(low, high)}: ${group(count)}`)));
  }
  root.append(svg("line", {x1: left, x2: width - right, y1: base, y2: base, stroke: colour("ink-3")}));
  let lastEnd = -1e9, row = 0;
  for (const [value, text, strong] of o.marks || []) {
    const x = toX(value);
    const stroke = strong ? colour("insufficient") : colour("ink-3");
    root.append(svg("line", {x1: x, x2: x, y1: top - 4, y2: base, stroke, "stroke-width": strong ? 1.5 : 1,
      "stroke-dasharray": strong ? "none" : "3 3"}));
    // To the right of its line, or to the left near the edge; one row lower if it would cover the previous label.
    const length = 7 * text.length, anchor = x + length > width ? "end" : "start";
    const begin = anchor === "end" ? x - length : x;
    row = begin < lastEnd ? 1 - row : 0;
    lastEnd = begin + length + 8;
    root.append(svg("text", {x: anchor === "end" ? x - 4 : x + 4, y: 12 + 13 * row, "text-anchor": anchor,
      class: strong ? "strong" : ""}, text));
  }
  box.append(root);
  return {columns: ["from", "to", "count"], rows: o.bars};
}
