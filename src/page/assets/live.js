// SPDX-License-Identifier: MIT
// The live page of `--page`: the state of each line four times per second as server-sent events, one line in detail.
"use strict";

const live = {
  line: Number(new URLSearchParams(location.search).get("line")) || 0,
  lines: [], points: [], reach: 0, events: [], second: null,
  history: {t: [], snr_db: [], rx_level_dbm0: [], pending: [], dispatch_us: [], late: []},
};
const keptSeconds = 600, keptPoints = 1536, keptEvents = 200, shownEvents = 60;
const historyKeys = ["snr_db", "rx_level_dbm0", "pending", "dispatch_us", "late"];

const known = v => v !== null && v !== undefined;
const signed = (v, decimals) => (Number(v.toFixed(decimals)) + 0).toFixed(decimals);  // no -0
const fixed = (v, decimals, unit) => known(v) ? v.toFixed(decimals) + (unit ? " " + unit : "") : "-";
const rates = l => l.rx_bit_rate || l.tx_bit_rate ? `${group(l.rx_bit_rate || 0)} / ${group(l.tx_bit_rate || 0)}` : "-";
const retrainsOf = l => l.retrain_causes ? Object.values(l.retrain_causes).reduce((a, b) => a + b, 0) : 0;
const causeNames = {unknown: "of unknown cause", own: "requested here", far: "by the far end", lost: "signal lost", timeout: "time-out in a procedure"};
const counted = (n, what) => `${group(n)} ${what}${n === 1 ? "" : "s"}`;
const lossesOf = l => l.samples_late + l.samples_filled_in + l.overrun_samples + l.underrun_samples;
const clockText = t => new Date(t).toTimeString().slice(0, 8);
function age(ms) {
  const s = Math.floor(ms / 1000), two = n => String(n).padStart(2, "0");
  return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

// Green: a device or call is running and nothing is late. Red: losses within ten seconds, or a lost card.
function judge(line) {
  if (line.phase === "gone" || line.late_recently > 0) return "insufficient";
  if (line.phase === "retraining" || line.phase === "on hold") return "marginal";
  return line.phase === "data" || line.phase === "running" ? "sufficient" : "";
}

// Text that changes in place. setText() does not replace equal text, so that a reader's selection remains.
const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };

function liveTiles() {
  const names = ["bit/s, received / sent", "SNR", "Received level", "Samples pending", "Late blocks", "Dispatch latency"];
  const tiles = names.map(name => ({value: el("div", {class: "value"}, "-"), note: el("div", {class: "note"}), name: el("div", {class: "name"}, name)}));
  page.append(el("div", {class: "tiles"}, ...tiles.map(t => el("div", {class: "tile"}, t.name, t.value, t.note))));
  return tiles;
}

function showTiles(tiles, l) {
  const put = (i, value, note, over) => {
    setText(tiles[i].value, value);
    setText(tiles[i].note, note);
    tiles[i].value.className = over ? "value over" : "value";
  };
  const device = l.retrain_causes === undefined;
  tiles.slice(0, 3).forEach(t => { t.value.parentNode.hidden = device; });
  put(0, rates(l), [l.modulation, l.rx_symbol_rate ? `${l.rx_symbol_rate.toFixed(0)} symbols/s` : ""].filter(Boolean).join(", ") || "no modulation yet");
  put(1, fixed(l.snr_db, 1, "dB"), known(l.echo_return_loss_db) ? `echo cancelled: ${l.echo_return_loss_db.toFixed(0)} dB` : "of the equalised symbols");
  put(2, fixed(l.rx_level_dbm0, 1, "dBm0"), `${counted(retrainsOf(l), "retrain")}, ${counted(l.slips || 0, "slip")} in the call`, retrainsOf(l) > 0);
  put(3, group(l.pending_peak_samples), `most in the last second; ${group(l.pending_max_samples)} since the start`);
  put(4, group(l.blocks_late), `of ${group(l.blocks_served)} blocks; ${counted(lossesOf(l), "sample")} lost`, lossesOf(l) > 0);
  put(5, duration(l.dispatch_peak_us), `longest in the last second; 99.9 % ${known(l.dispatch_p999_us) ? duration(l.dispatch_p999_us) : "-"}, maximum ${known(l.dispatch_max_us) ? duration(l.dispatch_max_us) : "-"}`);
}

// All lines, if there are several: one row each, which links to its details.
function liveOverview() {
  const part = section("Lines", "Select a line to see its details.");
  const heads = ["line", "state", "caller", "bit/s, received / sent", "SNR", "level", "retrains", "late blocks", "calls", "failed"];
  const rows = live.lines.map((_, k) => el("tr", {}, ...heads.map((_h, i) => el("td", [1, 2].includes(i) ? {class: "left"} : {}))));
  table(part, heads, rows, {what: "Lines"});
  rows.forEach((row, k) => row.children[0].append(el("a", {href: "?line=" + k, ...(k === live.line ? {"aria-current": "true"} : {})}, String(k))));
  return () => live.lines.forEach((l, k) => {
    const cells = [null, l.phase, l.caller || "", rates(l), fixed(l.snr_db, 1, "dB"), fixed(l.rx_level_dbm0, 1, "dBm0"), group(retrainsOf(l)), group(l.blocks_late), group(l.calls || 0), group(l.calls_failed || 0)];
    cells.forEach((text, i) => { if (i > 0) setText(rows[k].children[i], text); });
    rows[k].children[1].className = "left class " + judge(l);
    rows[k].children[7].className = l.blocks_late > 0 ? "bad" : "zero";
  });
}

function drawLiveConstellation(box) {
  const size = Math.min(420, box.clientWidth || 420), points = live.points, n = points.length / 2;
  const {context} = canvasIn(box, size, n ? `Received constellation: the newest ${n} points` : "Received constellation: no symbols yet", size);
  const radii = points.map(Math.abs).sort((a, b) => a - b);
  const wanted = Math.max(1e-6, 1.15 * (radii[Math.floor(0.9975 * (radii.length - 1))] || 1));
  // The scale changes slowly, so that the picture is steady.
  live.reach = live.reach === 0 || wanted > 1.6 * live.reach || wanted < 0.4 * live.reach ? wanted : 0.9 * live.reach + 0.1 * wanted;
  const to = v => size / 2 + Math.max(-1, Math.min(1, v / live.reach)) * (size / 2 - 8);
  context.strokeStyle = colour("line");
  context.strokeRect(0.5, 0.5, size - 1, size - 1);
  context.fillStyle = colour("grid");
  for (const t of linearTicks(-live.reach, live.reach, 6)) {
    context.fillRect(Math.round(to(t)), 1, 1, size - 2);
    context.fillRect(1, Math.round(to(t)), size - 2, 1);
  }
  if (n === 0) {
    context.fillStyle = colour("ink-2");
    context.fillText("no symbols yet", size / 2 - 38, size / 2 - 6);
  }
  context.fillStyle = colour("accent");
  for (let i = 0; i < points.length; i += 2) {  // the newest points are the strongest
    context.globalAlpha = 0.25 + 0.7 * (i + 2) / points.length;
    context.fillRect(to(points[i]) - 1, to(-points[i + 1]) - 1, 2.2, 2.2);
  }
  context.globalAlpha = 1;
  box.dataset.points = n;
}

// A value over the last ten minutes. o: key, unit, decimals, colour, floor (least top of the axis), zero (axis begins at 0)
function drawStrip(box, o) {
  const height = 118, left = 52, right = 8, top = 8, bottom = 20;
  const {t} = live.history, v = live.history[o.key], values = v.filter(known);
  const last = values.length ? v.filter(known).at(-1) : null;
  const {context, width} = canvasIn(box, height, `${o.title}: ${last === null ? "no values yet" : `now ${last.toFixed(o.decimals)} ${o.unit}, from ${Math.min(...values).toFixed(o.decimals)} to ${Math.max(...values).toFixed(o.decimals)} in the last ten minutes`}`);
  const end = t.length ? t.at(-1) : Date.now(), had = t.length ? (end - t[0]) / 60000 : 0;
  const minutes = [1, 2, 5].find(m => had <= m) || keptSeconds / 60;
  const x = ms => width - right - (end - ms) / (minutes * 60000) * (width - left - right);
  let low = o.zero ? 0 : Math.min(...values), high = Math.max(...values, o.zero ? o.floor || 1 : -1e9);
  if (!values.length) { low = o.zero ? 0 : -1; high = o.zero ? o.floor || 1 : 1; }
  if (!o.zero) { const middle = (low + high) / 2, half = Math.max((high - low) / 2 * 1.15, o.floor / 2); low = middle - half; high = middle + half; }
  else high *= 1.08;
  const y = u => top + (high - u) / (high - low) * (height - top - bottom);
  if (!values.length) {
    context.fillStyle = colour("ink-2");
    context.fillText("no values yet", width / 2 - 36, height / 2 - 8);
  }
  for (const tick of values.length ? linearTicks(low, high, 3) : []) {
    context.fillStyle = colour("grid");
    context.fillRect(left, Math.round(y(tick)), width - left - right, 1);
    context.fillStyle = colour("ink-2");
    context.textAlign = "right";
    context.fillText(String(tick), left - 6, y(tick) + 4);
  }
  context.fillStyle = colour("ink-2");
  context.textAlign = "center";
  for (const back of minutes === 1 ? [0, 0.5, 1] : linearTicks(0, minutes, width < 420 ? 2 : 5)) {
    const text = back === 0 ? "now" : back < 1 || minutes === 1 ? `-${60 * back} s` : `-${back} min`;
    context.fillText(text, Math.max(left + 14, Math.min(x(end - back * 60000), width - right - 12)), height - 4);
  }
  context.textAlign = "left";
  context.strokeStyle = context.fillStyle = colour(o.colour);
  context.lineWidth = 1.5;
  context.beginPath();
  let before = null;
  t.forEach((ms, i) => {
    if (!known(v[i])) { before = null; return; }
    if (before === null || ms - before > 5000) context.moveTo(x(ms), y(v[i])); else context.lineTo(x(ms), y(v[i]));
    if (before === null) context.fillRect(x(ms) - 0.8, y(v[i]) - 0.8, 1.6, 1.6);
    before = ms;
  });
  context.stroke();
  // Losses and retrains are marks on the axis of every strip.
  context.fillStyle = colour("insufficient");
  t.forEach((ms, i) => { if (live.history.late[i] > 0) context.fillRect(x(ms) - 1, height - bottom - 5, 2, 9); });
  context.fillStyle = colour("accent-2");
  for (const e of live.events) if (e.kind === "retrain" && e.line === live.line && x(e.t) >= left) context.fillRect(x(e.t) - 1, top, 2, height - bottom - top);
}

const strips = [
  {key: "snr_db", title: "SNR", unit: "dB", decimals: 1, colour: "accent", floor: 4, calls: true},
  {key: "rx_level_dbm0", title: "Received level", unit: "dBm0", decimals: 1, colour: "accent-3", floor: 4, calls: true},
  {key: "pending", title: "Samples pending", heading: "Samples pending, most per second", unit: "samples", decimals: 0, colour: "accent", floor: 60, zero: true},
  {key: "dispatch_us", title: "Dispatch latency", heading: "Dispatch latency, longest per second, us", unit: "us", decimals: 0, colour: "accent-3", floor: 50, zero: true},
];

function networkText(key, value) {
  const [, name, unit] = /^(.*?)(_ms|_ppm)?$/.exec(key);
  return `${name.replace(/_/g, " ")} ${Number.isInteger(value) ? group(value) : value.toFixed(2)}${unit ? " " + unit.slice(1) : ""}`;
}

function liveFacts(l) {
  const facts = [["State", l.state], ["Card", l.card], ["Context", l.context]];
  if (l.caller) facts.push(["Caller", l.caller + " (not verified)"]);
  if (l.retrain_causes !== undefined) {
    facts.push(["Call", known(l.call_ms) ? age(l.call_ms) : "none"], ["Calls", `${group(l.calls)}, ${group(l.calls_failed)} of them failed`]);
    const causes = Object.entries(l.retrain_causes).filter(([, n]) => n > 0).map(([c, n]) => `${n} ${causeNames[c] || c}`);
    facts.push(["Retrains", causes.join(", ") || "none"]);
    facts.push(["Line", [known(l.clock_ppm) ? `clock ${signed(l.clock_ppm, 0)} ppm` : "", known(l.carrier_hz) ? `carrier ${signed(l.carrier_hz, 1)} Hz` : "",
      known(l.round_trip_ms) ? `round trip ${l.round_trip_ms.toFixed(0)} ms` : "", `${group(l.samples_lost)} samples lost in the call`].filter(Boolean).join(", ")]);
    facts.push(["V.42", `${group(l.bytes_received)} bytes received, ${group(l.bytes_sent)} sent; frames of the call: ${group(l.frames_again)} sent again, ${group(l.bad_frames)} damaged`]);
    if (l.last_end) facts.push(["Last call", l.last_end]);
  }
  facts.push(["Lost", `${group(l.samples_late)} samples late, ${group(l.samples_filled_in)} before service, ${group(l.overrun_samples)} overrun, ${group(l.underrun_samples)} underrun`]);
  const times = ["p50", "p99", "p999", "max"].map(q => l["service_" + q + "_us"]);
  if (times.every(known)) facts.push(["Service", `${times.map(duration).join(", ")} of CPU time: median, 99 %, 99.9 %, maximum`]);
  if (l.yields + l.throttles + l.demoted > 0) facts.push(["Thread", `${group(l.yields)} budgets spent, ${group(l.throttles)} throttled${l.demoted ? ", demoted by the watchdog" : ""}`]);
  if (l.network) facts.push(["Network", Object.entries(l.network).filter(([k, v]) => known(v) && (v !== 0 || /lost|jitter/.test(k))).map(([k, v]) => networkText(k, v)).join(", ")]);
  return facts;
}

function listFacts(list) {
  let shown = "";
  return l => {
    const facts = liveFacts(l), now = JSON.stringify(facts);
    if (now === shown) return;
    const names = JSON.stringify(facts.map(f => f[0])), before = [...list.querySelectorAll("dt")].map(n => n.textContent);
    if (names !== JSON.stringify(before)) list.replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
    else facts.forEach(([, value], i) => setText(list.children[2 * i + 1], value));
    shown = now;
  };
}

function listEvents(body) {
  const marks = {retrain: "marginal", late: "insufficient", failure: "insufficient", slip: "marginal"};
  return () => {
    const several = live.lines.length > 1;
    body.replaceChildren(...live.events.slice(-shownEvents).reverse().map(e => el("tr", {}, cell(clockText(e.t)), ...(several ? [cell(String(e.line))] : []),
      el("td", {class: "left words"}, marks[e.kind] ? el("span", {class: "class " + marks[e.kind]}, e.text) : e.text))));
    if (!live.events.length) body.append(el("tr", {}, el("td", {colspan: several ? 3 : 2}, "Nothing yet.")));
  };
}

// One sample per second, the worst of each second, as kept by the server.
function addSample(t, l) {
  const second = Math.floor(t / 1000), h = live.history;
  const worst = (a, b) => known(a) ? Math.max(a, b || 0) : b;
  const sample = {t, snr_db: l.phase === "data" ? l.snr_db : null, rx_level_dbm0: l.rx_level_dbm0 === undefined ? null : l.rx_level_dbm0, pending: l.pending_peak_samples, dispatch_us: l.dispatch_peak_us || null, blocks_late: l.blocks_late};
  if (live.second && live.second.second === second) {
    live.second.pending = worst(live.second.pending, sample.pending);
    live.second.dispatch_us = worst(live.second.dispatch_us, sample.dispatch_us);
    return false;
  }
  const before = live.second;
  live.second = {second, ...sample};
  if (!before) return false;
  h.t.push(before.t);
  for (const key of historyKeys) h[key].push(key === "late" ? Math.max(0, sample.blocks_late - before.blocks_late) : before[key]);
  if (h.t.length > keptSeconds) for (const key of ["t", ...historyKeys]) h[key].shift();
  return true;
}

function livePage() {
  page.classList.add("wide", "live");
  const verdict = page.querySelector(".verdict"), headline = verdict.querySelector(".headline"), reasons = verdict.querySelector("ul");
  headline.setAttribute("role", "status");
  reasons.remove();
  const news = el("p", {});
  verdict.append(news);
  let tiles, draw = {}, built = false;

  function build() {
    built = true;
    if (live.line >= live.lines.length) live.line = 0;
    if (live.lines.length > 1) draw.overview = liveOverview();
    const title = live.lines.length > 1 ? `Line ${live.line}` : "";
    if (title) page.append(el("h2", {}, title));
    tiles = liveTiles();
    const device = live.lines[live.line].retrain_causes === undefined;
    const grid = el("div", {class: "columns live"});
    const now = section("Now and before", device ? "Red marks: late blocks." : "Red marks: late blocks. Orange lines: retrains.");
    now.append(grid);
    if (!device) {
      const column = el("div", {}, el("h3", {}, "Received constellation"), el("p", {class: "caption"}, "Equalised symbols, one in eight, the newest strongest."));
      grid.append(column);
      figure(column, "live-constellation", drawLiveConstellation);
    }
    const charts = el("div", {});
    grid.append(charts);
    for (const strip of strips.filter(s => !device || !s.calls)) {
      charts.append(el("h3", {}, strip.heading || `${strip.title}, ${strip.unit}`));
      figure(charts, "live-" + strip.key, box => drawStrip(box, strip));
    }
    const facts = section("Details", "");
    const list = el("dl", {});
    facts.append(list);
    draw.facts = listFacts(list);
    const log = section("Events", `The newest first; the page's server keeps ${keptEvents}.`);
    const heads = live.lines.length > 1 ? ["time", "line", "event"] : ["time", "event"];
    table(log, heads, [el("tr", {}, ...heads.map((h, i) => el("td", i === heads.length - 1 ? {class: "left"} : {})))], {what: "Events"});
    const body = log.querySelector("tbody");
    body.closest("table").classList.add("events");
    draw.events = listEvents(body);
    draw.events();
    const foot = page.querySelector("footer");
    if (foot) page.append(foot);
    drawAll();
  }

  function showState(state) {
    live.lines = state.lines;
    if (!built) build();
    const l = live.lines[live.line], several = live.lines.length > 1;
    const working = live.lines.filter(x => x.phase === "data" || x.phase === "running").length;
    const worst = ["insufficient", "marginal", "sufficient", ""].find(c => live.lines.some(x => judge(x) === c));
    verdict.className = "verdict " + worst;
    setText(headline, several ? `${working} of ${live.lines.length} lines in data mode` : ["retraining", "gone"].includes(l.phase) ? l.phase : l.state);
    const late = live.lines.reduce((n, x) => n + x.late_recently, 0), ever = live.lines.reduce((n, x) => n + lossesOf(x), 0);
    setText(news, [state.news, late > 0 ? `${counted(late, "block")} late in the last ten seconds.` : ever > 0 ? `No block was late in the last ten seconds; since the start, ${counted(ever, "sample")} lost on this machine.` : "Since the start, no block was late and no sample was lost on this machine."].filter(Boolean).join(". "));
    document.title = `${several ? `${working}/${live.lines.length}` : l.phase}: ${data.title}`;
    showTiles(tiles, l);
    if (draw.overview) draw.overview();
    draw.facts(l);
    if (addSample(state.t, l)) figures.filter(f => f.box.id !== "figure-live-constellation").forEach(drawFigure);
    page.dataset.state = l.phase;
  }

  function showPoints({symbols, points}) {
    live.points.push(...points.map(x => x / 4096));
    live.points.splice(0, Math.max(0, live.points.length - 2 * keptPoints));
    const constellation = figures.find(f => f.box.id === "figure-live-constellation");
    if (constellation) drawFigure(constellation);
  }

  const source = new EventSource("events?line=" + live.line);
  const on = (name, act) => source.addEventListener(name, e => { disconnected(false); act(JSON.parse(e.data)); });
  function disconnected(is) {
    document.body.classList.toggle("stale", is);
    if (!is) return;
    verdict.className = "verdict marginal";
    setText(headline, source.readyState === EventSource.CLOSED ? "The page was refused: too many are open, or there is no such line" : "Not connected: the command has ended, or the network is interrupted");
  }
  source.onerror = () => disconnected(true);
  on("history", h => { live.history = h; live.second = null; live.events = []; live.points = []; if (built) drawAll(); });
  on("events", all => {
    const newest = live.events.length ? live.events.at(-1).id : 0;
    live.events.push(...all.filter(e => e.id > newest));
    live.events.splice(0, Math.max(0, live.events.length - keptEvents));
    if (built) draw.events();
  });
  on("state", showState);
  on("points", showPoints);
}
