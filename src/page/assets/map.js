// SPDX-License-Identifier: MIT
// The reservation map (Figure 17 of Jones and Saroiu): amount X against period Y, what each reservation came to, the authors' two lines and
// the exact boundary of the reservation law.
"use strict";

const classMarks = {sufficient: "\u25cf", marginal: "\u25d0", insufficient: "\u2715"};

function reservationMap(box, data) {
  const map = data.map, rows = data.rows.filter(r => r.x !== undefined);
  const dense = rows.length > 150;
  const yMax = Math.ceil(map.y_max * 1.12), xMax = Math.ceil(map.x_max * 1.2);
  const width = Math.min(1072, Math.max(320, box.clientWidth || 980)), height = Math.min(500, width), left = 58, right = 20, top = 14, bottom = 48;
  const px = period => left + period / yMax * (width - left - right);
  const py = amount => height - bottom - amount / xMax * (height - top - bottom);
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "reservation map"});
  const clip = svg("clipPath", {id: "map-area"}, svg("rect", {x: left, y: top, width: width - left - right, height: height - top - bottom}));
  root.append(svg("defs", {}, clip));
  for (const t of linearTicks(0, yMax, Math.min(14, width / 40))) {
    root.append(svg("line", {x1: px(t), x2: px(t), y1: top, y2: height - bottom, stroke: colour("grid")}));
    root.append(svg("text", {x: px(t), y: height - bottom + 17, "text-anchor": "middle"}, String(t)));
  }
  for (const t of linearTicks(0, xMax, 9)) {
    root.append(svg("line", {x1: left, x2: width - right, y1: py(t), y2: py(t), stroke: colour("grid")}));
    root.append(svg("text", {x: left - 8, y: py(t) + 4, "text-anchor": "end"}, String(t)));
  }
  root.append(svg("text", {x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle"}, "period Y, ticks of " + data.tick_ms.toFixed(4).replace(/0+$/, "").replace(/\.$/, "") + " ms"));
  root.append(svg("text", {x: 16, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 16 ${height / 2})`}, "amount X, ticks"));

  const drawing = svg("g", {"clip-path": "url(#map-area)"}), cells = svg("g", {}), lines = svg("g", {"clip-path": "url(#map-area)"});
  root.append(drawing, cells, lines);  // from below: the sufficient area, what was measured on a dense grid, the lines
  const points = list => list.map(([y, x]) => `${px(y).toFixed(2)},${py(x).toFixed(2)}`).join(" ");
  const law = map.law;
  if (law && law.boundary.length > 1) {
    const last = law.boundary[law.boundary.length - 1];
    // Sufficient: left of the boundary, below X = Y.
    drawing.append(svg("polygon", {points: points([...law.boundary, [last[1], last[1]], [law.boundary[0][1], law.boundary[0][1]]]),
      fill: colour("sufficient-wash"), stroke: "none"}));
  }
  lines.append(svg("line", {x1: px(0), y1: py(0), x2: px(yMax), y2: py(yMax), stroke: colour("line")}));
  const dashed = {stroke: colour("ink-2"), "stroke-width": 1.4, "stroke-dasharray": "7 5", fill: "none"};
  lines.append(svg("line", {x1: px(0), y1: py(0), x2: px(yMax), y2: py(yMax * map.share), ...dashed}));
  lines.append(svg("line", {x1: px(map.gap_ms), y1: py(0), x2: px(map.gap_ms + xMax), y2: py(xMax), ...dashed, "stroke-dasharray": "2 4"}));
  if (law && law.boundary.length > 1) {
    lines.append(svg("polyline", {points: points(law.boundary), fill: "none", stroke: colour("paper"), "stroke-width": 5}),
      svg("polyline", {points: points(law.boundary), fill: "none", stroke: colour("sufficient"), "stroke-width": 2}));
  }
  if (law) {
    const x = px(law.period_ms / data.tick_ms), y = py(law.cost_ms / data.tick_ms);
    lines.append(svg("path", {d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z`, fill: "none", stroke: colour("ink"), "stroke-width": 1.5},
      svg("title", {}, `actual: ${law.cost_ms.toFixed(2)} ms every ${law.period_ms.toFixed(2)} ms`)));
  }

  const side = values => Math.max(2, Math.min(60, 0.92 * smallestStep(values)));
  const cellWidth = side(rows.map(r => px(r.y))), cellHeight = side(rows.map(r => py(r.x)));
  const named = [];
  for (const row of rows) {
    const x = px(row.y), y = py(row.x), fill = colour(row.verdict);
    const title = svg("title", {}, `${row.name}: ${row.verdict}, ${row.complete} of ${row.runs} complete` +
      (row.complete ? `, ${row.mean_s.toFixed(2)} s` : "") + (row.published && row.published.verdict ? `; published ${row.published.verdict}` : ""));
    if (dense) {
      cells.append(svg("rect", {x: x - cellWidth / 2, y: y - cellHeight / 2, width: cellWidth, height: cellHeight, fill,
        "fill-opacity": row.verdict === "insufficient" ? 0.35 : 0.85}, title));
      continue;
    }
    if (row.published && row.published.verdict && row.published.verdict !== row.verdict) {
      root.append(svg("circle", {cx: x, cy: y, r: 12, fill: "none", stroke: colour(row.published.verdict), "stroke-width": 2, "stroke-dasharray": "3 3"}));
    }
    if (row.verdict === "sufficient") {
      root.append(svg("circle", {cx: x, cy: y, r: 6, fill}, title));
    } else if (row.verdict === "marginal") {
      root.append(svg("circle", {cx: x, cy: y, r: 6, fill: colour("paper"), stroke: fill, "stroke-width": 2}, title),
        svg("path", {d: `M${x} ${y - 6}A6 6 0 0 0 ${x} ${y + 6}Z`, fill}));
    } else {
      root.append(svg("path", {d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x + 5} ${y - 5}L${x - 5} ${y + 5}`, stroke: fill, "stroke-width": 2.4}, title));
    }
    // Only if the neighbour's name leaves room; the point's own title always has the name.
    const length = 6.6 * `${row.x}/${row.y}`.length;
    if (named.some(n => n.y === y && Math.abs(n.x - x) < (n.length + length) / 2 + 2)) continue;
    named.push({x, y, length});
    root.append(svg("text", {x, y: y - 11, "text-anchor": "middle", class: "on-map"}, `${row.x}/${row.y}`));
  }
  box.append(root);
  const key = el("div", {class: "legend"});
  for (const verdict of ["sufficient", "marginal", "insufficient"]) {
    key.append(el("span", {class: "class " + verdict}, `${dense ? "\u25a0" : classMarks[verdict]} ${verdict}`));
  }
  key.append(el("span", {}, `\u2504 the authors' share line, ${(100 * map.share).toFixed(1)} %`));
  key.append(el("span", {}, `\u2508 the authors' gap line, ${map.gap_ms} ms`));
  if (law) key.append(el("span", {class: "class sufficient"}, "\u2501 boundary of the reservation law"), el("span", {}, "\u25c7 actual cost and block period"));
  if (!dense && rows.some(r => r.published)) key.append(el("span", {}, "\u25cc published class, if it differs"));
  box.append(key);
  return {columns: ["name", "x_ticks", "y_ticks", "class", "complete", "runs", "mean_s"], rows: rows.map(r => [r.name, r.x, r.y, r.verdict, r.complete, r.runs, r.complete ? r.mean_s : null])};
}

function smallestStep(values) {
  const sorted = [...new Set(values.map(v => Math.round(v * 100) / 100))].sort((a, b) => a - b);
  let least = 1e9;
  for (let i = 1; i < sorted.length; ++i) least = Math.min(least, sorted[i] - sorted[i - 1]);
  return least;
}
