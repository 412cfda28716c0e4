// SPDX-License-Identifier: MIT
// Microbenchmarks of a host and its applications.
"use strict";

const shortNumber = v => v === null ? "-" : Math.abs(v) >= 100 ? group(Math.round(v)) : String(Number(v.toPrecision(3)));

function hostPage() {
  page.classList.add("wide");
  const rows = section("Microbenchmarks", "One operation each, with the cost of measuring subtracted. Spread: from the 10th to the 90th percentile of the repetitions. " +
    "Counters belong to one operation, read in separate repetitions; interrupts count for the whole machine meanwhile. " + data.counters);
  const names = [...new Set(data.rows.flatMap(r => Object.keys(r.counters)))];
  table(rows, ["what", "median", "unit", "spread", "repetitions", ...names, "remark"], data.rows.filter(r => !r.application).map(r => el("tr", {},
    withNote(r.name, r.what), cell(r.skipped ? "-" : shortNumber(r.median)), cell(r.unit, "left"), cell(r.skipped ? "" : `${shortNumber(r.p10)} to ${shortNumber(r.p90)}`),
    cell(r.skipped ? "" : String(r.repetitions)), ...names.map(n => cell(n in r.counters ? shortNumber(r.counters[n]) : "")), cell(r.skipped ? "skipped: " + r.skipped : r.remark, "left words"))));

  const memory = section("Memory access time", "Time of one reference along a ring of pointers through an array, by its size and the stride (Figure 4 of Chen et al. has 128 bytes, up to 1 MB). " +
    "In random order neither the caches' lines nor the prefetcher help.");
  figure(memory, "memory", box => plotFigure(box, {id: "memory", title: "Memory access time", marks: [],
    x: {text: "array, bytes", log: true}, y: {text: "ns a reference", log: true},
    series: data.memory.map(m => ({name: m.stride ? `stride ${m.stride}` : "random order", style: "line", symbol: "ring", x: m.bytes, y: m.median_ns}))}));

  if (!data.rows.some(r => r.application)) return hostTable();
  const work = section("Applications", "Seconds for one round of each, next to Table 6 of the paper (a 90 MHz Pentium of 1995 with other programs, for orientation only), and the speed-up of this host.");
  const beside = r => r.published || {};
  table(work, ["what", "median s", "spread", "repetitions", "NetBSD", "Windows NT", "Windows", "remark"], data.rows.filter(r => r.application).map(r => el("tr", {},
    withNote(r.name, r.what), cell(r.skipped ? "-" : r.median.toFixed(3)), cell(r.skipped ? "" : `${r.p10.toFixed(3)} to ${r.p90.toFixed(3)}`), cell(r.skipped ? "" : String(r.repetitions)),
    ...["netbsd_s", "windows_nt_s", "windows_s"].map(k => cell(beside(r)[k] ? beside(r)[k].toFixed(2) + (r.faster ? ` (${r.faster[k].toFixed(0)} x)` : "") : "")), cell(r.skipped ? "skipped: " + r.skipped : r.remark, "left words"))));
  hostTable();
}

function hostTable() {
  table(section("The host"), ["what", "value"], data.host.map(([name, value]) => el("tr", {}, cell(name), cell(value, "left words"))));
}
