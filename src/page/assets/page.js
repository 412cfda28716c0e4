// SPDX-License-Identifier: MIT
// The page: its layout.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");

function section(title, caption) {
  const id = "part-" + title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const node = el("section", {id}, el("h2", {}, title), caption ? el("p", {class: "caption"}, caption) : null);
  page.append(node);
  return node;
}

const cell = (text, name) => el("td", name ? {class: name} : {}, text);
function withNote(text, note) {
  const node = cell(text);
  if (note) node.append(el("div", {class: "note"}, note));
  return node;
}
const lossCell = n => cell(group(n), n > 0 ? "bad" : "zero");

function header() {
  const button = el("button", {type: "button", title: "Light or dark"}, "light / dark");
  button.addEventListener("click", () => chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  document.body.prepend(el("header", {class: "top"}, el("span", {class: "product"}, "Offhook"),
    el("span", {}, pages[data.kind].name), button));
  page.append(el("h1", {}, data.title));
  page.append(el("div", {class: "verdict " + data.verdict}, el("p", {class: "headline"}, data.headline),
    el("ul", {}, ...data.reasons.map(r => el("li", {}, r)))));
  for (const warning of data.warnings) page.append(el("p", {class: "warning"}, warning[0].toUpperCase() + warning.slice(1)));
  if (data.settings.length) {
    const list = el("div", {class: "settings"}, ...data.settings.map(([name, value]) => el("span", {}, name + " ", el("b", {}, value))));
    page.append(data.settings.length <= 8 ? list : el("details", {}, el("summary", {}, `All ${data.settings.length} settings`), list));
  }
}

// The contents of a page with many parts: after the verdict, before the figures.
const contentsFrom = 5;
function contents() {
  const heads = [...page.querySelectorAll("section[id] > h2, h2.paper")];
  if (heads.length < contentsFrom) return;
  const list = el("ul", {}, ...heads.map((h, i) => {
    const target = h.parentNode === page ? h : h.parentNode;
    if (!target.id) target.id = "part-" + i;
    return el("li", {}, el("a", {href: "#" + target.id}, h.textContent));
  }));
  const first = page.querySelector("section[id], .tiles");
  page.insertBefore(el("nav", {class: "contents", "aria-label": "On this page"}, el("h2", {}, "On this page"), list), first);
}

function callPage() {
  page.append(el("div", {class: "tiles"}, ...data.tiles.map(t => el("div", {class: "tile"}, el("div", {class: "name"}, t.name),
    el("div", {class: t.over_limit ? "value over" : "value"}, t.value), el("div", {class: "note"}, t.note)))));
  const phases = section("Phases of the call");
  table(phases, ["phase", "from", "to", "interrupts", "pending, max", "longest service", "CPU share", "blocks late", "samples late",
    "concealed", "overrun", "underrun"], data.phases.map(p => el("tr", {}, cell(p.name), cell(p.begin_s.toFixed(2) + " s"),
    cell(p.end_s.toFixed(2) + " s"), cell(group(p.interrupts)), cell(group(p.pending_max)), cell(duration(1000 * p.elapsed_max_ms)),
    cell(p.share === null ? "-" : (100 * p.share).toFixed(1) + " %"), lossCell(p.blocks_late), lossCell(p.samples_late), lossCell(p.filled_in),
    lossCell(p.overrun), lossCell(p.underrun))));

  const range = [data.begin_s, Math.max(data.end_s, data.begin_s + 0.001)];
  const bands = data.phases.length > 1 ? data.phases.slice(0, -1) : data.phases;
  const losses = [data.late, data.filled_in, data.overruns, data.underruns].flatMap(s => s.t.map(t => ({t, colour: "insufficient"})));
  const chart = (parent, id, options) => figure(parent, id, box => seriesChart(box, {phases: bands, range, ...options}));

  const held = data.device ? data.device.buffers * data.device.buffer_samples : data.ring_samples;
  const holder = data.device ? `${data.device.buffers} buffers of ${data.device.buffer_samples} samples` : `ring of ${data.ring_samples} samples`;
  const pending = section("Samples pending",
    (data.device ? `Received samples not yet taken, after each service. The device has ${holder}. `
      : `Received samples not yet taken, after each service (Figures 5 to 7 and 14 of Jones and Saroiu). The ring holds ${data.ring_samples}. `) +
    "Red ticks on the axis: samples lost. Drag or + to zoom all charts over time, double click or 0 to go back.");
  chart(pending, "pending", {series: [{name: "pending", ...data.pending, style: "points", colour: "accent"}], unit: "samples", decimals: 0,
    level: {value: held, text: holder}, ticks: losses, height: 260, floor: 60});

  const latencies = section("Latencies",
    "Each block is counted from the interrupt that completed it. Both scales are logarithmic; a single outlier is one small bar, and the maximum is marked.");
  const grid = el("div", {class: "columns"});
  latencies.append(grid);
  const used = data.latencies.filter(h => h.count > 0);
  const low = Math.min(...used.flatMap(h => h.bars_us.filter(b => b[1] > 0).map(b => Math.max(b[0], b[1] / 2))), 1e9);
  const high = Math.max(...used.map(h => h.max_us), 1);
  const xMin = Math.pow(10, Math.floor(Math.log10(Math.max(low, 0.1)))), xMax = Math.pow(10, Math.ceil(Math.log10(high * 1.05)));
  const decades = [];
  for (let p = Math.round(Math.log10(xMin)); p <= Math.round(Math.log10(xMax)); ++p) decades.push([Math.pow(10, p), shortDecade(p)]);
  used.forEach((h, i) => {
    const column = el("div", {}, el("h3", {}, h.name), el("p", {class: "caption"},
      `${group(h.count)} values; median ${duration(h.p50_us)}, 99 % ${duration(h.p99_us)}, 99.9 % ${duration(h.p999_us)}`));
    grid.append(column);
    figure(column, "latency-" + i, box => histogramSvg(box, {bars: h.bars_us, xLog: true, xMin, xMax, xTicks: decades, label: h.name,
      name: (a, b) => `${duration(a)} to ${duration(b)}`, marks: [[h.p50_us, "median"], [h.max_us, "max " + duration(h.max_us), true]]}));
  });
  if (used.length === 0) latencies.append(el("p", {}, "No block was served."));

  const elapsed = section("Elapsed time in service", "From wake-up to return, with everything that preempted it (Figures 2, 4, 8, 9 and 15 of Jones and Saroiu).");
  chart(elapsed, "elapsed", {series: [{name: "service run", ...data.elapsed_ms, style: "points", colour: "accent"},
    {name: "ISR", ...data.isr_ms, style: "points", colour: "accent-2"}].filter(s => s.t.length), unit: "ms", decimals: 3});
  elapsed.append(legendNames([["service run", "accent"], ["ISR", "accent-2"]]));
  elapsed.append(el("h3", {}, "Time from interrupt to output"),
    el("p", {class: "caption"}, "From the interrupt that completed a block until its output was queued. Red ticks on the axis: samples lost."));
  chart(elapsed, "latency-time", {series: [{name: "interrupt to output", ...data.latency_ms, style: "points", colour: "accent-3"}], unit: "ms", decimals: 3, ticks: losses});

  if (data.timeline.entities.length) {
    const cpu = section("CPU use",
      "One lane for each interrupt, DPC and thread: its share of the time (right: of the whole call), those of the driver first. " +
      "Wheel or +/- to zoom to single segments, drag or arrow keys to move, double click or 0 to go back." + (data.timeline.segments_until_s === null ? ""
        : ` Single segments are kept up to ${data.timeline.segments_until_s.toFixed(2)} s, and around the moments below.`));
    figure(cpu, "cpu", box => overviewTimeline(box, data));
    cpu.append(el("h3", {}, "CPU share of the modem"), el("p", {class: "caption"}, "In each interval of 12.5 ms, all its entities together (Figure 3 of Jones and Saroiu)."));
    chart(cpu, "share", {series: [{name: "share", t: data.window_share.t, v: data.window_share.v.map(v => 100 * v), style: "points", colour: "accent"}], unit: "%", decimals: 1, height: 170});
    data.timeline.close_ups.forEach((closeUp, i) => {
      cpu.append(el("h3", {}, closeUp.title), el("p", {class: "caption"}, `60 ms each side of ${closeUp.centre_s.toFixed(3)} s, every segment.`));
      figure(cpu, "close-up-" + i, box => closeUpTimeline(box, closeUp, data.timeline.entities));
    });
  }

  const card = section("Interrupts", "Time between the card's interrupts (Figure 1 of Jones and Saroiu).");
  chart(card, "period", {series: [{name: "period", ...data.period_ms, style: "points", colour: "accent"}], unit: "ms", decimals: 3, height: 170});

  if (data.timer.count > 0) {
    const timer = section("1 ms timer callbacks", `Time between callbacks in buckets of ${data.timer.bucket_us} us (Figures 10 to 13 and 16 of Jones and Saroiu). ` +
      `${group(data.timer.count)} wake-ups, ${(100 * data.timer.near_2ms).toFixed(2)} % of them near 2 ms; longest ${duration(data.timer.max_us)}.`);
    const width = data.timer.bucket_us, last = Math.max(2200, Math.ceil(data.timer.counts.length * width / 1000) * 1000);
    figure(timer, "timer", box => histogramSvg(box, {height: 250, label: "timer intervals",
      bars: data.timer.counts.map((n, i) => [i * width, (i + 1) * width, n]).filter(b => b[2] > 0), xMin: 0, xMax: last,
      xTicks: linearTicks(0, last, 12).map(t => [t, t / 1000 + " ms"]), name: (a, b) => `${a} to ${b} us`,
      marks: [[Math.min(data.timer.max_us, last), "max " + duration(data.timer.max_us), true]]}));
  }

  if (data.ends.some(e => e.bytes.t.length)) {
    const link = section("Transfer", "User bytes delivered in order, and V.42 retransmissions (ticks on the axis).");
    const again = data.ends.flatMap((e, i) => e.retransmitted.t.map(t => ({t, colour: i ? "accent-2" : "insufficient"})));
    chart(link, "transfer", {series: data.ends.filter(e => e.bytes.t.length).map((e, i) => ({name: e.name, ...e.bytes, style: "step", colour: i ? "accent-2" : "accent"})),
      unit: "bytes", decimals: 0, ticks: again, level: data.bytes ? {value: data.bytes, text: `the file, ${group(data.bytes)} bytes`} : undefined});
    link.append(el("p", {class: "caption"}, data.ends.map(e => `${e.name}: ${group(e.bytes_delivered)} bytes received, ${group(e.frames_retransmitted)} frames sent again in ` +
      `${group(e.recoveries)} recoveries, ${group(e.bad_frames)} bad frames`).join("; ") + "."));
  }

  const ways = (of, names) => names.map(name => ({name, ...of[name]}));
  if (data.dmt) {
    const directions = ways(data.dmt, ["down", "up"]);
    const trained = data.dmt.trained_s < 0 ? "Data mode was never reached. "
      : `In data mode after ${data.dmt.trained_s.toFixed(2)} s, trainings: ${data.dmt.trainings}. `;
    const line = section("Tones", trained + "Bits and signal-to-noise ratio of each tone, as its receiver measured them in MEDLEY.");
    table(line, ["direction", "gross rate, kbit/s", "net rate, kbit/s", "rate carried, kbit/s", "least margin, dB", "superframes", "wrong", "octets corrected", "words lost", "bits compared", "bits wrong"],
      directions.map(w => el("tr", {}, cell(w.name), cell(group(w.gross_bit_rate / 1000)), cell(group(w.net_bit_rate / 1000)), cell(group(Math.round(w.carried_bit_rate / 1000))), cell(w.margin_db.toFixed(1)),
        ...[w.superframes, w.crc_errors, w.corrected_octets, w.lost_words, w.bits_compared, w.wrong_bits].map(n => cell(group(n))))));
    const cells = directions.filter(w => w.cells !== undefined);
    if (cells.length) table(line, ["direction", "ATM cells", "idle cells", "HEC errors", "delineation lost"],
      cells.map(w => el("tr", {}, cell(w.name), ...[w.cells, w.idle_cells, w.hec_errors, w.delineation_losses].map(n => cell(group(n))))));
    const tones = (name, unit, of) => ({title: name, x: {text: "tone of 4.3125 kHz"}, y: {text: unit, min: 0}, marks: [],
      series: directions.filter(w => w.tones.length).map(w => ({name: w.name, style: "points", symbol: "dot", x: w.tones.map(t => t.tone), y: w.tones.map(of)}))});
    for (const plot of [tones("Bits a tone", "bits", t => t.bits), tones("Signal-to-noise ratio per tone", "dB", t => t.snr_db)]) {
      if (!plot.series.length) continue;
      line.append(el("h3", {}, plot.title));
      figure(line, plot.y.text, box => plotFigure(box, plot));
    }
    if (data.ends.some(e => e.bad.t.length)) {
      line.append(el("h3", {}, "Wrong superframes, cumulative"),
        el("p", {class: "caption"}, "By each end's CRC. Ticks on the axis: losses."));
      chart(line, "superframes", {series: data.ends.filter(e => e.bad.t.length).map((e, i) => ({name: e.name, ...e.bad, style: "step", colour: i ? "accent-2" : "accent"})),
        unit: "superframes", decimals: 0, height: 170, ticks: losses});
    }
  }

  if (data.pump) {
    const reached = data.pump.connected_s < 0 ? "Data mode was never reached. "
      : `In data mode after ${data.pump.connected_s.toFixed(3)} s, retrains: ${data.pump.retrains}. `;
    const own = section(`Pump ${data.pump.name}`, reached + "Both ends send a test pattern through the pump and check the received bits.");
    table(own, ["direction", "kbit/s", "bits compared", "bits wrong", "pattern lost"],
      ways(data.pump, ["received", "sent"]).map(w => el("tr", {}, cell(w.name), ...[w.bit_rate / 1000, w.bits_compared, w.wrong_bits, w.pattern_losses].map(n => cell(group(n))))));
    if (data.pump.metrics.length) table(own, ["value of the pump", "", "unit"],
      data.pump.metrics.map(m => el("tr", {}, cell(m.name), cell(String(+m.value.toPrecision(6))), cell(m.unit))));
  }

  if (data.fax) {
    const fax = section("Fax", `${data.fax.pages_whole} of ${data.fax.pages_due} pages arrived whole. ` +
      (data.fax.failure ? `T.30 ended the call: ${data.fax.failure} ` : "") +
      `Trainings: ${data.fax.trainings}, refused: ${data.fax.failed_trainings}. Pages refused: ${data.fax.refused_pages}.`);
    if (data.fax.pages.length) table(fax, ["page", "received after, s", "modulation", "bit/s", "frames sent again", "lines damaged"],
      data.fax.pages.map(p => el("tr", {}, cell(group(p.page)), cell(p.taken_s.toFixed(1)), cell(p.modulation), ...[p.bit_rate, p.frames_again, p.bad_lines].map(n => cell(group(n))))));
  }

  if (data.radio) {
    const met = data.radio.connected_s < 0 ? "Data mode was never reached. "
      : `In data mode after ${data.radio.connected_s.toFixed(3)} s, links lost: ${data.radio.retrains}. `;
    const air = section("Slots", met + `A burst is due in every slot of its sender, each ${data.radio.slot_ms} ms. Late: lost while the host lost samples. At most: the miss ratio with 95 % confidence.`);
    table(air, ["direction", "kbit/s", "SNR, dB", "bursts due", "not heard", "broken", "of these late", "at most", "bits compared", "bits wrong"],
      ways(data.radio, ["received", "sent"]).map(w => el("tr", {}, cell(w.name), cell(group(w.bit_rate / 1000)), cell(w.snr_db.toFixed(1)),
        ...[w.bursts_due, w.bursts_missed, w.bursts_broken, w.bursts_late].map(n => cell(group(n))), cell(w.miss_ratio_at_most.toPrecision(2)), ...[w.bits_compared, w.wrong_bits].map(n => cell(group(n))))));
    if (data.ends.some(e => e.bad.t.length)) {
      air.append(el("h3", {}, "Lost bursts, cumulative"), el("p", {class: "caption"}, "By each end's count. Ticks on the axis: samples lost."));
      chart(air, "bursts", {series: data.ends.filter(e => e.bad.t.length).map((e, i) => ({name: e.name, ...e.bad, style: "step", colour: i ? "accent-2" : "accent"})),
        unit: "bursts", decimals: 0, height: 170, ticks: losses});
    }
  }

  const logged = data.ends.filter(e => e.offers.length || e.end);
  if (logged.length) {
    const offered = section("Offers of both ends, and the end of the call",
      "CM and JM are the menus of V.8, and INFO0 is the menu of V.34's Phase 2. Each end lists its sent and its received sequences.");
    const slips = e => e.instruments[10].v.length ? e.instruments[10].v.at(-1).toFixed(0) : "0";
    table(offered, ["end", "offered", "slips", "the connection ended"],
      logged.map(e => el("tr", {}, cell(e.name), cell(e.offers.join("; ") || "not exchanged", "left words"), cell(slips(e)), cell(e.end || "with the call", "left words"))));
  }

  const charted = [0, 1, 2, 3, 4];  // instruments over time; 5: retrains, 6: the last training
  const measured = e => [...charted, 5, 6].some(which => e.instruments[which].t.length) || e.taps_db.length > 0;
  if (data.ends.some(measured)) {
    const line = section("The modem's measurements of its line",
      "Ten times per second by the receiver of each end. Ticks on the axis: retrains, by either end.");
    const retrains = data.ends.flatMap((e, i) => e.instruments[5].t.map(t => ({t, colour: i ? "accent-2" : "insufficient"})));
    const shows = [[0, "SNR of the equalised symbols", "dB", false], [1, "Far symbol clock relative to the near one", "ppm", true], [2, "Received carrier relative to nominal", "Hz", true],
      [3, "Echo cancelled", "dB", false], [4, "Path metric: mean squared distance of the Viterbi decoder's best path, 10 log10, grid units", "dB", true]];
    for (const [which, title, unit, signed] of shows) {
      const series = data.ends.map((e, i) => ({name: e.name, ...e.instruments[which], style: "points", colour: i ? "accent-2" : "accent"})).filter(s => s.t.length);
      if (!series.length) continue;
      line.append(el("h3", {}, title));
      chart(line, "instrument-" + which, {series, unit, decimals: 2, height: 170, signed, ticks: retrains});
    }
    line.append(legendNames(data.ends.map((e, i) => [e.name, i ? "accent-2" : "accent", e]).filter(n => charted.some(which => n[2].instruments[which].t.length))));
    const why = data.ends.flatMap(e => e.instruments[5].t.map((t, i) => `${e.name} at ${t.toFixed(2)} s: ${e.retrain_causes[i]}`));
    const settled = data.ends.filter(e => e.instruments[6].v.length).map(e => { const [ms, sent, received] = e.instruments.slice(6, 9).map(s => s.v.at(-1).toFixed(0));
      return `${e.name}: round trip ${ms} ms, ${sent} symbols/s sent, ${received} received`; });
    if (settled.length) line.append(el("p", {class: "caption"}, "The last training: " + settled.join("; ") + "."));
    if (why.length) line.append(el("p", {class: "caption"}, "Retrains: " + why.join("; ") + "."));
    const pair = el("div", {class: "columns"});
    data.ends.forEach((end, i) => {
      if (!end.taps_db.length) return;
      const column = el("div", {}, el("h3", {}, `Equaliser of the ${end.name}`), el("p", {class: "caption"}, "The taps at the end of the call, half a symbol apart, relative to the largest; the first tap has the oldest sample."));
      pair.append(column);
      figure(column, "taps-" + i, box => drawTaps(box, end.taps_db));
    });
    if (pair.children.length) line.append(pair);
  }

  const shown = data.ends.filter(e => e.constellation.length);
  if (shown.length) {
    const constellation = section("Received constellation", "Equalised symbols (uniform sample of the call).");
    const pair = el("div", {class: "columns"});
    constellation.append(pair);
    shown.forEach((end, i) => {
      const column = el("div", {}, el("h3", {}, end.name), el("p", {class: "caption"}, `${group(end.constellation.length / 2)} of ${group(end.symbols)} symbols`));
      pair.append(column);
      figure(column, "constellation-" + i, box => drawConstellation(box, end.constellation));
    });
  }

  if (data.host.length) {
    const host = section("The host", "The machine at the start of the call.");
    table(host, ["what", "value"], data.host.map(([name, value]) => el("tr", {}, cell(name), cell(value, "left words"))));
  }
}

const legendNames = items => {
  const node = el("div", {class: "legend"});
  for (const [name, variable] of items) {
    const swatch = el("i");
    swatch.style.background = `var(--${variable})`;
    node.append(el("span", {}, swatch, name));
  }
  return node;
};

function shortDecade(p) {
  return p < 0 ? Math.round(Math.pow(10, p + 3)) + " ns" : p < 3 ? Math.pow(10, p) + " us" : p < 6 ? Math.pow(10, p - 3) + " ms" : Math.pow(10, p - 6) + " s";
}

function drawTaps(box, taps) {
  const width = Math.min(520, box.clientWidth || 520), height = 170, floor = -60, left = 34;
  const {context} = canvasIn(box, height, `${taps.length} equaliser taps; the largest is number ${1 + taps.indexOf(Math.max(...taps))}`, width);
  const x = i => left + (i + 0.5) / taps.length * (width - left - 4), y = db => 6 + (Math.max(db, floor) / floor) * (height - 14);
  for (let db = 0; db >= floor; db -= 20) {
    context.fillStyle = colour("grid");
    context.fillRect(left, Math.round(y(db)), width - left, 1);
    context.fillStyle = colour("ink-2");
    context.fillText(db + " dB", 0, y(db) + 4);
  }
  context.fillStyle = colour("accent");
  taps.forEach((db, i) => context.fillRect(x(i) - 1.2, y(db), 2.4, height - 8 - y(db)));
  return {columns: ["tap", "dB"], rows: taps.map((db, i) => [i, db])};
}

function drawConstellation(box, points) {
  const size = Math.min(380, box.clientWidth || 380);
  const {context} = canvasIn(box, size, `Received constellation: ${points.length / 2} points in the plane`, size);
  const radii = points.map(Math.abs).sort((a, b) => a - b);
  // Wide enough for 99.5 % of the points; the others are at the rim.
  const reach = Math.max(1e-6, 1.15 * radii[Math.floor(0.9975 * (radii.length - 1))]);
  const to = v => size / 2 + Math.max(-1, Math.min(1, v / reach)) * (size / 2 - 8);
  context.strokeStyle = colour("line");
  context.strokeRect(0.5, 0.5, size - 1, size - 1);
  context.fillStyle = colour("grid");
  for (const t of linearTicks(-reach, reach, 6)) {
    context.fillRect(Math.round(to(t)), 1, 1, size - 2);
    context.fillRect(1, Math.round(to(t)), size - 2, 1);
    context.fillStyle = colour("ink-2");
    if (t > -reach * 0.9) context.fillText(String(t), to(t) + 3, size - 5);
    context.fillStyle = colour("grid");
  }
  context.fillStyle = colour("accent");
  context.globalAlpha = points.length > 4000 ? 0.45 : 0.75;
  for (let i = 0; i < points.length; i += 2) context.fillRect(to(points[i]) - 1, to(-points[i + 1]) - 1, 2, 2);
  return {columns: ["real", "imaginary"], rows: Array.from({length: points.length / 2}, (_, i) => [points[2 * i], points[2 * i + 1]])};
}

// Three axes and more: the axis with the most numbers is the abscissa of small charts, the next one gives their series,
// and each combination of the others has a chart.
const mostCharts = 24, mostSeries = 8;
function axisCharts() {
  const values = data.axes.map((_, a) => [...new Set(data.rows.map(r => r.axes[a]))]);
  const numeric = data.axes.map((_, a) => values[a].every(v => v !== "" && Number.isFinite(Number(v))));
  const order = data.axes.map((_, a) => a).sort((p, q) => (numeric[q] - numeric[p]) || (values[q].length - values[p].length) || (p - q));
  const [abscissa, ...others] = order, series = others.find(a => values[a].length <= mostSeries), panels = others.filter(a => a !== series).sort((p, q) => p - q);
  const quantities = [["mean transfer, s", r => r.complete ? r.mean_s : null], ["late blocks", r => r.blocks_late]];
  const [unit, of] = data.rows.some(r => r.complete && r.mean_s > 0) ? quantities[0] : quantities[1];
  const key = r => panels.map(a => `${data.axes[a]} = ${r.axes[a]}`).join(", ");
  const names = [...new Set(data.rows.map(key))];
  const most = 1.06 * Math.max(...data.rows.map(of).filter(v => v !== null), 1e-9);
  const part = section("By axis", `${unit[0].toUpperCase() + unit.slice(1)} against ${data.axes[abscissa]}, one chart per combination of the other axes, all on one scale. ` +
    "A missing point: no run was complete." + (names.length > mostCharts ? ` The first ${mostCharts} of ${names.length} charts.` : ""));
  const grid = el("div", {class: "columns small"});
  part.append(grid);
  names.slice(0, mostCharts).forEach((name, i) => {
    const column = el("div", {}, el("h3", {}, name || "All"));
    grid.append(column);
    const rows = data.rows.filter(r => key(r) === name);
    const x = v => numeric[abscissa] ? Number(v) : values[abscissa].indexOf(v);
    const lines = (series === undefined ? [undefined] : values[series]).map(s => ({name: s === undefined ? unit : `${data.axes[series]} = ${s}`, style: "line", symbol: "ring",
      ...(points => ({x: points.map(r => x(r.axes[abscissa])), y: points.map(of)}))(rows.filter(r => s === undefined || r.axes[series] === s).sort((p, q) => x(p.axes[abscissa]) - x(q.axes[abscissa])))}));
    figure(column, "axes-" + i, box => plotFigure(box, {title: `${unit}, ${name}`, marks: [], x: {text: data.axes[abscissa], ...(numeric[abscissa] ? {} : {ticks: values[abscissa].map((v, k) => [k, v])})},
      y: {text: unit, min: 0, max: most}, series: lines.filter(l => l.x.length)}));
  });
}

function sweepPage() {
  page.classList.add("wide");
  if (data.map) {
    const law = data.map.law;
    const map = section("Reservation map", "Amount and period of each reservation, and its class (Figure 17 of Jones and Saroiu). " + (law ?
      `The law's boundary is exact for ${law.cost_ms.toFixed(2)} ms of work a block (output after ${(100 * law.output_fraction).toFixed(0)} %), blocks every ` +
      `${law.period_ms.toFixed(2)} ms and a transmit lead of ${law.lead_samples} samples, that is ${law.slack_ms.toFixed(3)} ms after the longest block; in its simple ` +
      `form: more than ${(100 * law.share).toFixed(1)} % of the CPU, and no gap over ${law.gap_ms.toFixed(2)} ms (${law.gap_ticks.toFixed(2)} ticks).` : ""));
    figure(map, "map", box => reservationMap(box, data));
  }
  const manyAxes = (data.axes || []).length > 2 && data.rows.every(r => r.axes.length === data.axes.length);
  if (manyAxes) axisCharts();
  const rows = section("All configurations", "Means cover the complete runs; late blocks and retransmitted frames are sums over all runs.");
  const published = data.rows.some(r => r.published), lawful = data.rows.some(r => r.law);
  const head = [...(manyAxes ? data.axes : ["configuration"]), "class", "complete", "mean transfer", "against reference", "pending, max", "late blocks", "sent again"];
  const decided = data.rows.some(r => r.decides);
  if (lawful) head.push("law, margin");
  if (published) head.push("published class", "published transfer");
  if (decided) head.push("what decides");
  const body = [];
  let group_ = null;
  for (const r of data.rows) {
    if (r.group !== group_) {
      group_ = r.group;
      if (group_) body.push(el("tr", {class: "group"}, el("td", {colspan: head.length}, group_)));
    }
    const name = cell("");
    name.append(r.link ? el("a", {href: r.link}, r.name) : r.name);
    const named = manyAxes ? r.axes.map(v => cell(v)) : [name];
    const cells = [...named, classCell(r.verdict), cell(`${r.complete} of ${r.runs}`), withNote(r.complete ? r.mean_s.toFixed(2) + " s" : "-",
      r.complete > 1 && r.max_s > 1.01 * r.min_s ? `${r.min_s.toFixed(2)} to ${r.max_s.toFixed(2)}` : ""), cell(r.slower === null ? "-" : (r.slower >= 0 ? "+" : "") + (100 * r.slower).toFixed(1) + " %"),
      cell(group(r.pending_max)), lossCell(r.blocks_late), lossCell(r.retransmitted)];
    if (lawful) cells.push(cell(!r.law ? "" : r.law.overloaded ? "overload" : (r.law.margin_ms >= 0 ? "+" : "") + r.law.margin_ms.toFixed(2) + " ms"));
    if (published) {
      const p = r.published || {};
      cells.push(p.verdict ? classCell(p.verdict) : cell(""), withNote(p.mean_s ? p.mean_s.toFixed(2) + " s" : "",
        [p.note, p.provenance].filter(Boolean).join("; ")));
    }
    if (decided) cells.push(cell(r.decides, "left words"));
    body.push(el("tr", {}, ...cells));
  }
  if (data.rows.length <= 200) {
    table(rows, head, body);
  } else {
    const details = el("details", {}, el("summary", {}, `All ${group(data.rows.length)} rows`));
    rows.append(details);
    table(details, head, body);
  }
}

const classCell = verdict => el("td", {class: "left"}, el("span", {class: "class " + verdict}, `${classMarks[verdict]} ${verdict}`));

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  drawAll();
}
// The chosen theme applies to all pages in this browser, unless the browser stores nothing for files.
const themeKey = "offhook.theme";
function rememberedTheme() {
  try {
    return localStorage.getItem(themeKey);
  } catch (error) {
    return null;
  }
}
function chooseTheme(theme) {
  try {
    localStorage.setItem(themeKey, theme);
  } catch (error) {
    console.info("this browser keeps no theme:", error.message);
  }
  setTheme(theme);
}

const pages = {
  call: {name: "call report", draw: callPage},
  sweep: {name: "sweep report", draw: sweepPage},
  reproduce: {name: "reproduce report", draw: reproducePage},
  law: {name: "reservation law", draw: lawPage},
  advice: {name: "advice", draw: advicePage},
  mttf: {name: "time to an underrun", draw: mttfPage},
  memo: {name: "memo", draw: memoPage},
  host: {name: "host", draw: hostPage},
  schedule: {name: "schedule", draw: schedulePage},
  compare: {name: "comparison", draw: comparePage},
  trunk: {name: "trunk test", draw: trunkPage},
  live: {name: "live", draw: livePage},
  decode: {name: "recorded call", draw: decodePage}};
header();
pages[data.kind].draw();
contents();
// Two runs of one command give the same bytes, so the date is the file's. Browsers give it as "11/29/2026 17:04:05".
const fileDate = document.lastModified.replace(/^(\d+)\/(\d+)\/(\d+)/, "$3-$1-$2");
const command = document.querySelector('meta[name="offhook-command"]');
// No line ends between the hyphens of an option.
const words = command ? command.content.split(/(\s+)/).map(w => w.length > 40 || /\s/.test(w) ? w : el("span", {class: "word"}, w)) : [];
page.append(el("footer", {}, data.made_by + ". ", data.kind === "live" ? "" : `File of ${fileDate}. `, data.kind !== "call" ? "" : `Derived from ${group(data.events)} events. Charts over time: dygraphs (MIT). `,
  el("span", {class: "screen"}, data.kind === "live" ? "Values: /status (JSON), /metrics (Prometheus). " : "This page is self-contained and works offline. "),
  command ? "Command: " : "", command ? el("code", {}, ...words) : ""));

const preferred = matchMedia("(prefers-color-scheme: dark)");
setTheme({"#dark": "dark", "#light": "light"}[location.hash] || rememberedTheme() || (preferred.matches ? "dark" : "light"));
preferred.addEventListener("change", () => { if (!rememberedTheme()) setTheme(preferred.matches ? "dark" : "light"); });
if (data.kind !== "live") addSaveButtons();
let width = innerWidth, pending = 0;
addEventListener("resize", () => {
  if (innerWidth === width || page.style.width) return;
  width = innerWidth;
  clearTimeout(pending);
  pending = setTimeout(drawAll, 150);
});
let screenTheme = "";
// On paper as on the screen, but light. The width is fixed, because the charts would otherwise be stretched.
addEventListener("beforeprint", () => {
  screenTheme = document.documentElement.dataset.theme;
  if (data.kind !== "memo") page.style.width = "1120px";
  setTheme("light");
  for (const canvas of document.querySelectorAll("canvas")) {  // a canvas may be blank on paper, its picture is not
    const picture = el("img", {src: canvas.toDataURL(), alt: canvas.getAttribute("aria-label"), style: canvas.style.cssText});
    picture.decoding = "sync";
    canvas.replaceWith(picture);
  }
});
addEventListener("afterprint", () => {
  page.style.width = "";
  setTheme(screenTheme);
});
if (location.hash === "#figures") figuresAsFiles();
document.documentElement.dataset.ready = "yes";
