// SPDX-License-Identifier: MIT
// The page of `offhook compare`: ratios of B to A, then every quantity of both.
"use strict";

const comparedValue = v => v === null ? "-" : typeof v === "number" ? (Number.isInteger(v) ? group(v) : Math.abs(v) < 1e-4 ? v.toExponential(3) : String(Number(v.toPrecision(6)))) :
  v === true ? "yes" : v === false ? "no" : v;
const mostRatios = 40;

// Ratios of the quantities that differ, the largest change first: one row each, on a logarithmic scale around 1.
function ratioRows(box, rows) {
  const width = Math.min(1072, Math.max(300, box.clientWidth || 980)), row = 19, top = 8, bottom = 40;
  const names = rows.map(r => r.quantity.replace(/^figures\./, "")), longest = Math.max(...names.map(n => n.length));
  const left = Math.min(6.7 * longest + 16, 0.62 * width), right = 24, height = top + rows.length * row + bottom;
  const most = 1.15 * Math.max(...rows.map(r => Math.abs(Math.log10(r.ratio))), Math.log10(1.1));
  const px = ratio => left + (Math.log10(ratio) + most) / (2 * most) * (width - left - right);
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `B / A of ${rows.length} quantities, the largest change first: ` +
    rows.slice(0, 5).map(r => `${r.quantity} ${r.ratio.toPrecision(3)}`).join(", ")});
  const steps = most > 1 ? [1] : most > 0.3 ? [1, 2, 5] : [0.8, 0.9, 1, 1.1, 1.25, 1.5, 2];
  const ticks = most > 0.3 ? [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap(p => steps.map(s => s * Math.pow(10, p))) : steps;
  for (const t of ticks.filter(t => Math.abs(Math.log10(t)) <= most)) {
    root.append(svg("line", {x1: px(t), x2: px(t), y1: top, y2: height - bottom, stroke: colour(t === 1 ? "ink-3" : "grid")}),
      svg("text", {x: px(t), y: height - bottom + 16, "text-anchor": "middle"}, String(Number(t.toPrecision(3)))));
  }
  rows.forEach((r, i) => {
    const y = top + (i + 0.5) * row, name = names[i].length * 6.7 + 16 > left ? "\u2026" + names[i].slice(-Math.floor((left - 24) / 6.9)) : names[i];
    root.append(svg("text", {x: left - 10, y: y + 4, "text-anchor": "end"}, name),
      svg("line", {x1: px(1), x2: px(r.ratio), y1: y, y2: y, stroke: colour("accent"), "stroke-width": 2}),
      svg("circle", {cx: px(r.ratio), cy: y, r: 4, fill: colour("accent")}, svg("title", {}, `${r.quantity}: ${r.ratio.toPrecision(4)}`)));
  });
  root.append(svg("text", {x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle"}, "B / A, logarithmic"));
  box.append(root);
  return {columns: ["quantity", "ratio"], rows: rows.map(r => [r.quantity, r.ratio])};
}

function ratioFigure(part, rows, id, title) {
  const change = r => Math.abs(Math.log(r.ratio));
  const shown = rows.filter(r => r.ratio > 0 && r.ratio !== 1).sort((p, q) => change(q) - change(p)).slice(0, mostRatios);
  if (!shown.length) return;
  if (title) part.append(el("h3", {}, title));
  figure(part, id, box => ratioRows(box, shown));
}

function comparePage() {
  page.classList.add("wide");
  const differ = data.rows.filter(r => JSON.stringify(r.a) !== JSON.stringify(r.b)), items = [...new Set(differ.map(r => r.item))];
  const ratios = differ.filter(r => r.ratio > 0 && r.ratio !== 1);
  if (ratios.length) {
    const part = section("Ratios", "B / A of each number that differs, on a logarithmic scale, the largest change first.");
    const mostItems = 12;
    items.slice(0, mostItems).forEach((item, i) => ratioFigure(part, differ.filter(r => r.item === item), "ratio-" + i, item || (items.length > 1 ? "The whole" : "")));
    if (items.length > mostItems) part.append(el("p", {class: "caption"}, `The first ${mostItems} of ${items.length} items; the table has all.`));
  }
  const named = data.rows.some(r => r.item);
  const head = [...(named ? ["item"] : []), "quantity", data.a, data.b, "B - A", "B / A", "unit"];
  const row = r => el("tr", {}, ...(named ? [cell(r.item, "left")] : []), cell(r.quantity, "left"), cell(comparedValue(r.a), typeof r.a === "string" ? "words" : ""),
    cell(comparedValue(r.b), typeof r.b === "string" ? "words" : ""), cell(r.difference === undefined ? "" : (r.difference > 0 ? "+" : "") + comparedValue(r.difference)),
    cell(r.ratio === undefined ? "" : r.ratio.toFixed(3)), cell(r.unit, "left"));
  const part = section("Quantities that differ", "A is the first column of values, B the second.");
  if (differ.length) table(part, head, differ.map(row)); else part.append(el("p", {}, "There are none."));
  const equal = data.rows.filter(r => JSON.stringify(r.a) === JSON.stringify(r.b));
  if (equal.length) {
    const details = el("details", {}, el("summary", {}, `${group(equal.length)} equal quantities`));
    part.append(details);
    table(details, head, equal.map(row));
  }
}
