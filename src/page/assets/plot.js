// SPDX-License-Identifier: MIT
// A figure of a paper, redrawn: series of points, lines, steps or bars with confidence intervals, on linear, logarithmic
// or named axes, and what was published as marks across it. SVG, so that it prints as sharp as the paper.
"use strict";

const superscript = p => [...String(p)].map(c => c === "-" ? "\u207b" : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[c]).join("");
const plain = v => Math.abs(v) >= 10000 ? group(v) : String(Number(v.toPrecision(6)));

// A scale: data to 0..1, and its ticks [value, text].
function plotScale(axis, values, wanted, lowest) {
  const finite = values.filter(v => Number.isFinite(v) && (!axis.log || v > 0));
  let low = axis.min !== undefined ? axis.min : Math.min(...finite, axis.log ? Infinity : lowest);
  let high = axis.max !== undefined ? axis.max : Math.max(...finite);
  if (!Number.isFinite(low) || !Number.isFinite(high)) [low, high] = axis.log ? [1, 10] : [0, 1];
  if (axis.log) {
    if (axis.min === undefined) low = Math.pow(10, Math.floor(Math.log10(low) + 1e-9));
    if (axis.max === undefined) high = Math.pow(10, Math.ceil(Math.log10(high * 1.02)));
    if (high <= low) high = 10 * low;
    const a = Math.log10(low), b = Math.log10(high), ticks = [];
    const every = Math.max(1, Math.ceil((b - a) / wanted));
    const powers = a < -3 || b > 5, steps = b - a < 2.2 ? [1, 2, 5] : [1];
    for (let p = every * Math.floor(a / every); p <= b + 1e-9; p += every) {
      for (const step of steps) {
        const v = step * Math.pow(10, p);
        if (v >= low * 0.999 && v <= high * 1.001) ticks.push([v, powers && p !== 0 && p !== 1 ? "10" + superscript(p) : plain(v)]);
      }
    }
    return {low, high, to: v => (Math.log10(Math.max(v, low * 1e-3)) - a) / (b - a), ticks: axis.ticks || ticks};
  }
  if (high <= low) high = low + 1;
  if (axis.max === undefined) high += 0.06 * (high - low);
  if (axis.min === undefined && low !== lowest) low -= 0.04 * (high - low);
  return {low, high, to: v => (v - low) / (high - low), ticks: axis.ticks || linearTicks(low, high, wanted).map(t => [t, plain(t)])};
}

// The path of one symbol of radius r, and whether it is filled.
function symbolPath(symbol, x, y, r) {
  switch (symbol) {
    case "cross": return `M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}`;
    case "square": return `M${x - r} ${y - r}H${x + r}V${y + r}H${x - r}Z`;
    case "triangle": return `M${x} ${y - r}L${x + r} ${y + r}H${x - r}Z`;
    default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  }
}

function seriesColours(list) {
  let simulated = -1, published = 0;
  const ours = ["c0", "c4", "c3", "c1", "c5", "c7"], theirs = ["c2", "c6"];
  return list.map(s => s.published ? theirs[published++ % theirs.length] : ours[(s.variant ? simulated : ++simulated) % ours.length]);
}

const dashes = s => s.published || s.variant === 1 ? "6 3" : s.variant === 2 ? "1.5 3" : "none";

// Text on a drawing, with its own background.
function labelOn(root, text, x, y, anchor, name) {
  const length = 6.4 * text.length + 6;
  root.append(svg("rect", {x: anchor === "end" ? x - length + 3 : x - 3, y: y - 11, width: length, height: 14, fill: colour("paper"), "fill-opacity": 0.82}),
    svg("text", {x, y, "text-anchor": anchor, class: name}, text));
}

// Next to, above or below the point, at a free position.
function labelPoint(root, text, px, py, taken) {
  const w = 6.6 * text.length, h = 12;
  const places = [[px, py - 8, "middle", px - w / 2], [px + 8, py + 4, "start", px + 8], [px, py + 18, "middle", px - w / 2], [px - 8, py + 4, "end", px - 8 - w]];
  const free = p => taken.every(t => p[3] >= t.x + t.w || t.x >= p[3] + w || p[1] - h >= t.y || t.y - t.h >= p[1]);
  const [tx, ty, anchor, from] = places.find(free) || places[0];
  taken.push({x: from, y: ty, w, h});
  root.append(svg("text", {x: tx, y: ty, "text-anchor": anchor, class: "on-map"}, text));
}

function drawSeries(root, s, fill, x, y, base, bars, taken) {
  const r = v => Math.round(10 * v) / 10;
  if (s.style === "bars") {
    const width = Math.max(1, x(s.x[0] + s.bar_width) - x(s.x[0]));
    const shift = bars.count > 1 ? width / bars.count : 0, gap = width > 6 ? 0.8 : width > 3 ? 0.3 : 0;
    const each = bars.count > 1 ? width / bars.count : width;
    s.x.forEach((v, i) => root.append(svg("rect", {x: r(x(v) + bars.index * shift), y: r(Math.min(base, y(s.y[i]))),
      width: Math.max(1, r(each - gap)), height: Math.max(0, r(base - y(s.y[i]))), fill, "fill-opacity": 0.85},
      svg("title", {}, `${s.name}, ${plain(v)} to ${plain(v + s.bar_width)}: ${plain(s.y[i])}`))));
  } else if (s.style === "line" || s.style === "step") {
    let d = "", before = null;
    s.x.forEach((v, i) => {
      if (s.y[i] === null) return before = null;
      const px = r(x(v)), py = r(y(s.y[i]));
      d += before === null ? `M${px} ${py}` : s.style === "step" ? `H${px}V${py}` : `L${px} ${py}`;
      before = py;
    });
    root.append(svg("path", {d, fill: "none", stroke: fill, "stroke-width": 1.6, "stroke-dasharray": dashes(s)}));
  }
  if (s.interval) {
    let d = "";
    s.x.forEach((v, i) => {
      if (s.y[i] === null) return;
      const px = r(x(v + (s.style === "bars" ? s.bar_width / 2 : 0))), a = r(y(s.y[i] - s.interval[i])), b = r(y(s.y[i] + s.interval[i]));
      d += `M${px - 3} ${a}H${px + 3}M${px} ${a}V${b}M${px - 3} ${b}H${px + 3}`;
    });
    root.append(svg("path", {d, fill: "none", stroke: s.style === "bars" ? colour("ink") : fill, "stroke-width": 1.2}));
  }
  const marked = s.style === "points" || (s.symbol !== "dot" && s.style !== "bars");
  if (marked && s.symbol === "dot") {
    // Thousands of points are one path of round line ends.
    let d = "";
    s.x.forEach((v, i) => { if (s.y[i] !== null) d += `M${r(x(v))} ${r(y(s.y[i]))}h0`; });
    root.append(svg("path", {d, stroke: fill, "stroke-width": s.x.length > 400 ? 2.4 : 4, "stroke-linecap": "round", fill: "none"}));
  } else if (marked) {
    const open = s.symbol === "ring" || s.symbol === "cross" || s.symbol === "half", size = 4.2;
    s.x.forEach((v, i) => {
      if (s.y[i] === null) return;
      const px = r(x(v)), py = r(y(s.y[i]));
      root.append(svg("path", {d: symbolPath(s.symbol, px, py, size), fill: open ? (s.symbol === "cross" ? "none" : colour("paper")) : fill, stroke: fill, "stroke-width": 1.7},
        svg("title", {}, `${s.labels ? s.labels[i] + ": " : ""}${s.name}, ${plain(v)}, ${plain(s.y[i])}`)));
      if (s.symbol === "half") root.append(svg("path", {d: `M${px} ${py - size}a${size} ${size} 0 0 0 0 ${2 * size}Z`, fill}));
      if (s.labels) labelPoint(root, s.labels[i], px, py, taken);
    });
  }
}

let clips = 0;
function plotFigure(box, f) {
  const width = Math.max(280, Math.min(1070, box.clientWidth || 520));
  let height = width > 700 || f.series.some(s => s.labels) ? 340 : 270;
  // Labels of published levels are at the right of the figure, off the data, if there is room.
  const levels = f.marks.filter(m => m.axis === "y" && m.text && !m.guide), levelWidth = 6.6 * Math.max(0, ...levels.map(m => m.text.length)) + 6;
  const beside = levels.length > 0 && levelWidth < width / 2;
  const right = 12 + (beside ? levelWidth : 0);
  const bars = f.series.filter(s => s.style === "bars");
  const xs = f.series.flatMap(s => s.style === "bars" ? [...s.x, ...s.x.map(v => v + s.bar_width)] : s.x);
  const ys = f.series.flatMap(s => s.y.flatMap((v, i) => v === null ? [] : s.interval ? [v - s.interval[i], v + s.interval[i]] : [v]));
  const ofMarks = axis => f.marks.filter(m => m.axis === axis).flatMap(m => m.to === undefined ? [m.value] : [m.value, m.to]);
  const scaleY = plotScale(f.y, [...ys, ...ofMarks("y")], 6, bars.length ? 0 : Infinity);
  const scaleX = plotScale(f.x, [...xs, ...ofMarks("x")], width / 80, Infinity);
  const left = 28 + 6.8 * Math.max(2, ...scaleY.ticks.map(t => t[1].length));
  // Names for which there is not enough room side by side are slanted.
  const longest = Math.max(0, ...(f.x.ticks || []).map(t => t[1].length));
  const aslant = longest * 6.6 * (f.x.ticks || []).length > width - left - right;
  const bottom = aslant ? 34 + 4.6 * longest : 42;
  height += bottom - 42;
  const base = height - bottom;
  const x = v => left + scaleX.to(v) * (width - left - right);

  // Labels of marks along x are above the figure, in enough rows that they do not overlap.
  const along = [];
  for (const m of f.marks.filter(m => m.axis === "x" && m.text).sort((a, b) => b.value - a.value)) {
    const at = x(m.value), length = 6.6 * m.text.length, end = at + length + 8 > width - right, from = end ? at - length - 4 : at + 4;
    let row = 0;
    while (along.some(u => u.row === row && from < u.to + 6 && u.from < from + length + 6)) ++row;
    along.push({row, from, to: from + length, at, end, mark: m});
  }
  const top = 22 + 13 * Math.max(0, ...along.map(u => u.row));
  const y = v => base - scaleY.to(v) * (base - top);
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": f.title});
  for (const [v, text] of scaleY.ticks) {
    root.append(svg("line", {x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: colour("grid")}),
      svg("text", {x: left - 6, y: y(v) + 4, "text-anchor": "end"}, text));
  }
  for (const [v, text] of scaleX.ticks) {
    if (x(v) < left - 1 || x(v) > width - right + 1) continue;
    root.append(svg("line", {x1: x(v), x2: x(v), y1: base, y2: base + 4, stroke: colour("ink-3")}),
      svg("text", aslant ? {transform: `translate(${x(v) + 4} ${base + 14}) rotate(-45)`, "text-anchor": "end"} : {x: x(v), y: base + 17, "text-anchor": "middle"}, text));
  }
  root.append(svg("text", {x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle"}, f.x.text),
    svg("text", {transform: `translate(12 ${(top + base) / 2}) rotate(-90)`, "text-anchor": "middle"}, f.y.text));

  const clip = "clip-" + clips++;
  root.append(svg("clipPath", {id: clip}, svg("rect", {x: left - 3, y: top - 6, width: width - left - right + 9, height: base - top + 9})));
  const inside = svg("g", {"clip-path": `url(#${clip})`});
  root.append(inside);
  const markColour = m => colour(m.guide ? "ink-3" : "accent-2");
  for (const m of f.marks) {
    if (m.to === undefined) continue;
    const [a, b] = m.axis === "y" ? [y(m.to), y(m.value)] : [x(m.value), x(m.to)];
    inside.append(svg("rect", {x: m.axis === "y" ? left : a, y: m.axis === "y" ? a : top, width: m.axis === "y" ? width - left - right : b - a,
      height: m.axis === "y" ? b - a : base - top, fill: markColour(m), "fill-opacity": 0.13}));
  }
  const colours = seriesColours(f.series);
  // No label covers a point.
  const taken = f.series.some(s => s.labels) ? f.series.filter(s => s.style === "points").flatMap(s => s.x.map((v, i) => ({x: x(v) - 4, y: y(s.y[i]) + 4, w: 8, h: 8}))) : [];
  f.series.forEach((s, i) => { if (s.x.length) drawSeries(inside, s, colour(colours[i]), x, y, base, {index: bars.indexOf(s), count: bars.length}, taken); });
  root.append(svg("line", {x1: left, x2: width - right, y1: base, y2: base, stroke: colour("ink-3")}));

  // Published levels, above the simulated data; their labels do not overlap.
  const used = [];
  for (const m of [...f.marks].sort((a, b) => b.value - a.value)) {
    const at = m.axis === "y" ? y(m.value) : x(m.value);
    if (m.to === undefined) {
      inside.append(svg("line", {x1: m.axis === "y" ? left : at, x2: m.axis === "y" ? width - right : at, y1: m.axis === "y" ? at : top - 4,
        y2: m.axis === "y" ? at : base, stroke: markColour(m), "stroke-width": 1.2, "stroke-dasharray": "5 4"}));
    }
    if (!m.text || m.axis !== "y") continue;
    let row = (m.to === undefined ? at : y(m.to) + 14) - 4;
    while (used.some(u => u.guide === m.guide && Math.abs(u.row - row) < 13)) row += 13;
    used.push({row, guide: m.guide});
    if (beside && !m.guide) {
      root.append(svg("text", {x: width - right + 6, y: row + 8, class: "published level"}, m.text));
    } else {
      labelOn(root, m.text, m.guide ? left + 4 : width - right - 3, row, m.guide ? "start" : "end", m.guide ? "" : "published");
    }
  }
  for (const u of along) {
    root.append(svg("text", {x: u.end ? u.at - 4 : u.at + 4, y: 12 + 13 * u.row, "text-anchor": u.end ? "end" : "start",
      class: u.mark.guide ? "" : "published"}, u.mark.text));
  }
  box.append(root);
  const items = f.series.map((s, i) => [s.name + (s.published ? " (published)" : ""), colour(colours[i]), s]);
  if (f.marks.some(m => !m.guide && !m.limit)) items.push(["published", colour("accent-2")]);
  box.append(legendOf(items));
  return {columns: ["series", f.x.text || "x", f.y.text || "y", "half interval"], rows: f.series.flatMap(s => s.x.map((v, i) => [s.name, v, s.y[i], s.interval ? s.interval[i] : null]))};
}
