// SPDX-License-Identifier: MIT
// The page of `offhook advise law`.
"use strict";

function lawPage() {
  page.classList.add("wide");
  const map = section("Sufficient reservations of the device",
    "X of CPU time in every Y, served in fixed slots only. Green: granted by the law.");
  figure(map, "map", box => reservationMap(box, data));
  if (data.boundary.length) {
    table(map, ["X, ticks", "X", "longest Y, full law", "costliest block, host's work", "simple law", "authors' rule", "what decides"], data.boundary.map(b =>
      el("tr", {}, cell(String(b.x)), cell(b.x_ms.toFixed(3) + " ms"), ...[b.full, b.on_host, b.simple, b.authors].map(y => cell(y > 0 ? y.toFixed(3) + " ms" : "-")),
        cell(b.decides, "left words"))));
  }
  data.experiments.forEach((e, i) => {
    const part = section(e.title, [e.changes, e.sentence].filter(Boolean).join(" "));
    if (e.rows.length) figure(part, "experiment-" + i, box => reservationMap(box, e));
    const shown = y => cell(y > 0 ? String(y) : "-");
    table(part, ["X, ticks", "longest Y: law", "authors' rule", "simulated"], e.limits.map(l => el("tr", {}, cell(String(l.x)),
      shown(l.law), shown(l.authors), shown(l.simulated))));
  });
  if (data.phases.length) {
    const part = section("Success by starting phase", "Each bar is one run: the position of the first slot within the period, with the card's " +
      "crystal equal to the host's. Filled: nothing was lost. The law grants a reservation that succeeds from every phase.");
    figure(part, "phases", phaseStrips);
  }
}

function phaseStrips(box) {
  const width = Math.min(1072, Math.max(320, box.clientWidth || 980)), rowHeight = 26, left = 170, right = 20;
  const height = data.phases.length * rowHeight + 40;
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "success by starting phase"});
  data.phases.forEach((phase, row) => {
    const y = 6 + row * rowHeight, step = (width - left - right) / phase.points.length;
    const ok = phase.points.filter(p => p[1]).length;
    root.append(svg("text", {x: left - 12, y: y + 14, "text-anchor": "end"}, `${phase.name}  ${ok} of ${phase.points.length}` + (phase.law ? "  (law)" : "")));
    phase.points.forEach(([at, success], i) => root.append(svg("rect", {x: left + i * step, y, width: Math.max(1, step - 1), height: rowHeight - 8,
      fill: colour(success ? "sufficient" : "insufficient"), "fill-opacity": success ? 0.9 : 0.3}, svg("title", {}, `${phase.name}, phase ${at.toFixed(3)}: ${success ? "nothing lost" : "samples lost"}`))));
  });
  for (const t of linearTicks(0, 1, width < 500 ? 4 : 10)) root.append(svg("text", {x: left + t * (width - left - right), y: height - 18, "text-anchor": "middle"}, t.toFixed(1)));
  root.append(svg("text", {x: (left + width - right) / 2, y: height - 2, "text-anchor": "middle"}, "starting phase, share of Y"));
  box.append(root);
  return {columns: ["reservation", "phase", "success"], rows: data.phases.flatMap(p => p.points.map(([at, success]) => [p.name, at, success ? 1 : 0]))};
}
