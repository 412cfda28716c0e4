// SPDX-License-Identifier: MIT
// The page of `offhook mttf`: bufferings against time between underruns, or computations against their deadlines.
"use strict";

const timeCell = (s, none) => cell(s === null ? none : duration(1e6 * s));

function bufferingsPart() {
  const of = n => data.bufferings.filter(b => b.buffers === n), counts = [...new Set(data.bufferings.map(b => b.buffers))];
  const line = (rows, name, key, more) => ({name, x: rows.map(b => b.buffer_ms), y: rows.map(b => b[key]), ...more});
  const times = section("Mean time to an underrun", "Simulated (rings), and the formula (n - 1) t / share of latencies above the slack (dashed). " +
    "Points are omitted where no underrun occurred, or where the measurements rule out any.");
  figure(times, "mttf", box => plotFigure(box, {title: "Mean time to an underrun by length of a buffer", marks: [],
    x: {text: "length of a buffer, ms"}, y: {text: "mean time to an underrun, s", log: true},
    series: counts.flatMap(n => [line(of(n), `${n} buffers`, "simulated_s", {style: "line", symbol: "ring"}),
      line(of(n), `${n} buffers, formula`, "formula_s", {style: "line", symbol: "dot", variant: 1})])}));
  table(times, ["buffers", "t, ms", "buffered, ms", "slack, ms", "formula", "every t", "simulated", "95 % confidence", "underruns", "missed", "simulated for"],
    data.bufferings.map(b => el("tr", {}, cell(String(b.buffers)), cell(String(b.buffer_ms)), cell(String(b.tolerance_ms)), cell(Number(b.slack_ms.toPrecision(6)).toString()),
      timeCell(b.formula_s, "never"), timeCell(b.every_buffer_s, "never"), timeCell(b.simulated_s, "none"),
      cell(b.high_s === null ? `over ${duration(1e6 * b.low_s)}` : `${duration(1e6 * b.low_s)} to ${duration(1e6 * b.high_s)}`),
      cell(group(b.underruns)), cell(group(b.missed)), cell(b.simulated_hours.toPrecision(3) + " h"))));
  const latency = section("Latencies of this host", "The share of waits that were longer than a time. Rings: measurements. The simulation draws " +
    "from the line between them, and never more than the last one.");
  figure(latency, "latency", box => plotFigure(box, {title: "Share of waits that were longer", marks: [], x: {text: "latency, ms", log: true}, y: {text: "share that was longer", log: true},
    series: [{name: "measured", style: "line", symbol: "ring", x: data.points.map(p => p.latency_ms), y: data.points.map(p => p.longer || null)}]}));
}

function computationsPart() {
  const marks = {"meets it": "sufficient", "fails": "insufficient", "undecided": "marginal"};
  const all = section("Computations", "Permitted: at most one drop in the stated time. Response: the longest by response-time analysis with the pseudo-worst latency.");
  const ms = v => cell(v === null ? "unbounded" : v.toPrecision(3) + " ms");
  table(all, ["computation", "simulation", "one drop in, permitted", "drops", "one drop in, 95 %", "worst latency", "pseudo worst", "blocking", "response", "period", "schedulable"],
    data.computations.map(c => el("tr", {}, cell(c.name), el("td", {class: "left"}, el("span", {class: "class " + marks[c.simulation]}, `${classMarks[marks[c.simulation]]} ${c.simulation}`)),
      cell(duration(1e6 * c.permitted_interval_s)), cell(group(c.drops)),
      cell(c.drop_interval_high_s === null ? `over ${duration(1e6 * c.drop_interval_low_s)}` : `${duration(1e6 * c.drop_interval_low_s)} to ${duration(1e6 * c.drop_interval_high_s)}`),
      withNote(c.worst_latency_ms.toPrecision(3) + " ms", c.beyond_measurement ? "rarer than the measurement could show" : ""), ms(c.pseudo_worst_ms), ms(c.blocking_ms), ms(c.response_ms),
      ms(c.period_ms), cell(c.schedulable ? "yes" : "no"))));
}

function mttfPage() {
  page.classList.add("wide");
  if (data.bufferings) bufferingsPart(); else computationsPart();
}
