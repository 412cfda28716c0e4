// SPDX-License-Identifier: MIT
// Use of the CPUs, on canvases that zoom (wheel, + and -), move (drag, arrows) and return to the whole (double click, 0).
// The overview shows shares of the time and zooms to single segments; close-ups draw every segment at least one pixel wide.
"use strict";

// `text` describes the figure to screen readers. tell(time, y, time per pixel) gives the text at the pointer.
function zoomCanvas(box, height, domain, text, paint, tell) {
  const readout = el("div", {class: "readout"});
  box.append(readout);
  const {canvas, context, width} = canvasIn(box, height, text + ". " + zoomKeys);
  canvas.classList.add("zoom");
  canvas.tabIndex = 0;
  const left = width < 500 ? 104 : 132, right = 52;
  let view = domain.slice();
  const toX = t => left + (t - view[0]) / (view[1] - view[0]) * (width - left - right);
  const toT = x => view[0] + (x - left) / (width - left - right) * (view[1] - view[0]);
  const redraw = () => {
    context.clearRect(0, 0, width, height);
    paint({context, width, height, left, right, view, toX, toT});
  };
  const clamp = () => {
    const whole = domain[1] - domain[0], span = Math.min(Math.max(view[1] - view[0], 1e-8 * whole), whole);
    view[0] = Math.min(Math.max(view[0], domain[0]), domain[1] - span);
    view[1] = view[0] + span;
  };
  const zoom = (t, factor) => {
    view = [t - (t - view[0]) * factor, t + (view[1] - t) * factor];
    clamp();
    redraw();
  };
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoom(toT(event.offsetX), Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.002))));
  }, {passive: false});
  onZoomKeys(canvas, {zoom: factor => zoom((view[0] + view[1]) / 2, factor), whole: () => { view = domain.slice(); redraw(); }, move: share => {
    const shift = share * (view[1] - view[0]);
    view = [view[0] + shift, view[1] + shift];
    clamp();
    redraw();
  }});
  let held = null;
  canvas.addEventListener("pointerdown", event => { held = event.offsetX; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointermove", event => {
    if (held !== null) {
      const shift = toT(held) - toT(event.offsetX);
      view = [view[0] + shift, view[1] + shift];
      held = event.offsetX;
      clamp();
      redraw();
    }
    readout.textContent = event.offsetX >= left ? tell(toT(event.offsetX), event.offsetY, toT(1) - toT(0)) : "";
  });
  canvas.addEventListener("pointerleave", () => { readout.textContent = ""; });
  canvas.addEventListener("dblclick", () => { view = domain.slice(); redraw(); });
  redraw();
}

function timeAxis({context, width, height, left, right, view, toX}, text) {
  const y = height - 20;
  context.fillStyle = colour("line");
  context.fillRect(left, y, width - left - right, 1);
  context.textAlign = "center";
  for (const t of linearTicks(view[0], view[1], (width - left) / 90)) {
    context.fillStyle = colour("grid");
    context.fillRect(Math.round(toX(t)), 0, 1, y);
    context.fillStyle = colour("ink-2");
    context.fillText(text(t), toX(t), y + 14);
  }
  context.textAlign = "left";
}

// Entities that run the driver first, then by CPU time.
function laneOrder(entities) {
  return entities.map((e, i) => ({...e, i})).sort((a, b) => (b.serves - a.serves) || (b.cpu_ms - a.cpu_ms) || (a.i - b.i));
}

// Segments as src/report/call_report.cpp writes them: base64 of numbers with seven bits per octet. Times in 0.1 us.
function* writtenSegments(text) {
  const octets = atob(text);
  let at = 0, end = 0;
  const number = () => {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const octet = octets.charCodeAt(at++);
      value += (octet & 127) * scale;
      if (octet < 128) return value;
    }
  };
  while (at < octets.length) {
    const gap = number(), begin = end + (gap % 2 ? -(gap + 1) / 2 : gap / 2);
    end = begin + number();
    yield {begin, end, id: number(), cpu: number()};
  }
}

// The segments of the page by entity, in order of their beginning: {begin, end, cpu}, in s. Those of the close-ups
// follow those of the first part of the call.
function segmentsByEntity(timeline) {
  const of = new Map(), until = knownUntil(timeline);
  const keep = (id, segment) => of.has(id) ? of.get(id).push(segment) : of.set(id, [segment]);
  for (const {begin, end, id, cpu} of writtenSegments(timeline.segments)) {
    if (begin * 1e-7 < until) keep(id, {begin: begin * 1e-7, end: Math.min(end * 1e-7, until), cpu});
  }
  for (const [from, to, closeUp] of closeUpsAfter(timeline, until)) {
    for (const [a, b, id, cpu] of closeUp.segments_us) {
      const begin = Math.max(from, closeUp.centre_s + a * 1e-6), end = Math.min(to, closeUp.centre_s + b * 1e-6);
      if (begin < end) keep(id, {begin, end, cpu});
    }
  }
  for (const segments of of.values()) segments.sort((a, b) => a.begin - b.begin);
  return of;
}
const knownUntil = timeline => timeline.segments_until_s === null ? Infinity : timeline.segments_until_s;

// [from, to, close-up] of each close-up, without the range that the first part or an earlier close-up covers.
function closeUpsAfter(timeline, until) {
  const out = [];
  for (const closeUp of [...timeline.close_ups].sort((a, b) => a.centre_s - b.centre_s)) {
    const times = closeUp.segments_us.flatMap(s => [s[0], s[1]]);
    if (!times.length) continue;
    const from = Math.max(until, closeUp.centre_s + Math.min(...times) * 1e-6), to = closeUp.centre_s + Math.max(...times) * 1e-6;
    if (from < to) out.push([from, until = to, closeUp]);
  }
  return out;
}

// The first segment that ends after t; segments of several CPUs may overlap by less than a job.
function firstAfter(segments, t) {
  let low = 0, high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (segments[middle].end > t) high = middle; else low = middle + 1;
  }
  return low;
}

// One lane between two times, from its segments: those of at least two pixels individually, shorter ones as a share of
// time per column.
function paintSegments({context, toX}, segments, [from, to], base, full) {
  const x0 = Math.floor(toX(from)), columns = new Float64Array(Math.max(1, Math.ceil(toX(to)) - x0 + 1));
  for (let i = firstAfter(segments, from); i < segments.length && segments[i].begin < to; ++i) {
    const a = toX(Math.max(segments[i].begin, from)), b = toX(Math.min(segments[i].end, to));
    if (b - a >= 2) context.fillRect(a, base - full, b - a, full);
    else for (let x = Math.floor(a); x < b; ++x) columns[x - x0] += Math.min(b, x + 1) - Math.max(a, x);
  }
  columns.forEach((share, i) => {
    if (share <= 0) return;
    const h = Math.max(1, Math.min(1, share) * full);
    context.fillRect(x0 + i, base - h, 1, h);
  });
}

// One lane between two times, from its buckets: the tallest bucket in each column, so that short bursts are visible.
function paintShares({context, toX, toT}, lane, step, [from, to], base, full) {
  const buckets = lane.share.length;
  for (let x = Math.floor(toX(from)); x < toX(to); ++x) {
    const a = Math.max(0, Math.floor(toT(x) / step)), b = Math.min(buckets, Math.max(a + 1, Math.ceil(toT(x + 1) / step)));
    let most = 0;
    for (let i = a; i < b; ++i) most = Math.max(most, lane.share[i] || 0);
    if (most > 0) {
      const h = Math.max(1, most * full);
      context.fillRect(x, base - h, 1, h);
    }
  }
}

// [from, to, known]: the view divided into ranges whose segments are known, and others. All are unknown if buckets are
// narrower than a column.
function stretches(view, step, known) {
  const [begin, end] = view.view;
  if (view.toT(1) - view.toT(0) >= step) return [[begin, end, false]];
  const out = [];
  let at = begin;
  for (const [from, to] of known) {
    if (to <= at || from >= end) continue;
    if (from > at) out.push([at, from, false]);
    out.push([Math.max(at, from), Math.min(to, end), true]);
    at = Math.min(to, end);
  }
  if (at < end) out.push([at, end, false]);
  return out;
}

function overviewTimeline(box, data) {
  const timeline = data.timeline, lanes = laneOrder(timeline.entities);
  const segments = segmentsByEntity(timeline), until = knownUntil(timeline);
  const known = [[-Infinity, until], ...closeUpsAfter(timeline, until)];
  const severalCpus = [...segments.values()].some(list => list.some(s => s.cpu > 0));
  const step = timeline.bucket_s, buckets = Math.max(...lanes.map(e => e.share.length));
  const end = Math.max(data.end_s, data.begin_s + step);
  const laneHeight = 26, height = lanes.length * laneHeight + 24;
  zoomCanvas(box, height, [data.begin_s, end], "Share of the CPU over the call: " + lanes.map(e => `${e.name} ${(e.cpu_ms / (end - data.begin_s) / 10).toFixed(1)} %`).join(", "), view => {
    const {context, left, right, width, height} = view;
    timeAxis(view, t => Number(t.toPrecision(8)) + " s");
    const parts = stretches(view, step, known);
    lanes.forEach((lane, row) => {
      const base = row * laneHeight + laneHeight - 4, full = laneHeight - 7;
      context.fillStyle = colour("ink-2");
      context.fillText(lane.name, 0, base - 5, left - 8);
      context.fillText((lane.cpu_ms / (end - data.begin_s) / 10).toFixed(1) + " %", width - right + 6, base - 5);
      context.fillStyle = colour("grid");
      context.fillRect(left, base, width - left - right, 1);
      context.fillStyle = colour(palette[row % palette.length]);
      context.save();
      context.beginPath();
      context.rect(left, 0, width - left - right, height);
      context.clip();
      for (const [from, to, exact] of parts) {
        if (exact) paintSegments(view, segments.get(lane.id) || [], [from, to], base, full);
        else paintShares(view, lane, step, [from, to], base, full);
      }
      context.restore();
    });
  }, (t, y, perPixel) => {
    const lane = lanes[Math.floor(y / laneHeight)];
    if (!lane) return "";
    if (perPixel < step && known.some(([from, to]) => from <= t && t < to)) {
      const own = segments.get(lane.id) || [], next = own[firstAfter(own, t)];
      return `${t.toFixed(6)} s   ${lane.name}: ` + (!next || next.begin > t ? "does not run"
        : `${duration((next.end - next.begin) * 1e6)} from ${next.begin.toFixed(6)} s${severalCpus ? ` on CPU ${next.cpu}` : ""}`);
    }
    const share = lane.share[Math.floor(t / step)] || 0;
    return `${t.toFixed(3)} s   ${lane.name}: ${(100 * share).toFixed(1)} % of ${duration(step * 1e6)}`;
  });
  return {columns: ["from_s", ...lanes.map(e => e.name)], rows: Array.from({length: buckets}, (_, i) => [Number((i * step).toPrecision(9)), ...lanes.map(e => e.share[i] || 0)])};
}

const markKinds = {
  10: {name: "interrupt", colour: "ink"}, 24: {name: "output ready", colour: "sufficient"},
  11: {name: "receive overrun", colour: "insufficient"}, 12: {name: "transmit underrun", colour: "insufficient"},
  26: {name: "concealed", colour: "insufficient"},
};

function closeUpTimeline(box, closeUp, entities) {
  const lanes = laneOrder(entities).filter(e => closeUp.segments_us.some(s => s[2] === e.id));
  const severalCpus = closeUp.segments_us.some(s => s[3] > 0);
  const rowOf = new Map(lanes.map((e, row) => [e.id, row]));
  const laneHeight = 20, top = 26, height = top + lanes.length * laneHeight + 24;
  const times = closeUp.segments_us.flatMap(s => [s[0], s[1]]);
  const domain = [Math.max(-60000, Math.min(-1, ...times)), Math.min(60000, Math.max(1, ...times))];
  const kindOf = mark => mark[1] === 24 && mark[2] > 0 ? {name: `output ${mark[2]} samples late`, colour: "insufficient"} : markKinds[mark[1]];
  zoomCanvas(box, height, domain, `${closeUp.title}: ${closeUp.segments_us.length} segments of ${lanes.map(e => e.name).join(", ")}`, view => {
    const {context, left, right, width, toX} = view;
    timeAxis(view, t => Number((t / 1000).toPrecision(6)) + " ms");
    context.fillStyle = colour("ink-2");
    context.fillText("card and driver", 0, 14, left - 8);
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left - right, height);
    context.clip();
    context.fillStyle = colour("insufficient");
    context.globalAlpha = 0.5;
    context.fillRect(toX(0), 0, 1, height - 20);
    context.globalAlpha = 1;
    for (const mark of closeUp.marks_us) {
      const kind = kindOf(mark);
      if (!kind) continue;
      const x = toX(mark[0]);
      context.fillStyle = colour(kind.colour);
      context.beginPath();
      if (mark[1] === 10) {  // the interrupt arrow comes from above, the output arrow points upwards
        context.moveTo(x, 12); context.lineTo(x - 4, 3); context.lineTo(x + 4, 3);
      } else {
        context.moveTo(x, 12); context.lineTo(x - 4, 21); context.lineTo(x + 4, 21);
      }
      context.fill();
    }
    for (const [begin, end, id] of closeUp.segments_us) {
      const row = rowOf.get(id);
      if (row === undefined) continue;
      const a = toX(begin), b = toX(end);
      if (b < left || a > width) continue;
      context.fillStyle = colour(palette[row % palette.length]);
      context.fillRect(a, top + row * laneHeight + 3, Math.max(1, b - a), laneHeight - 7);
    }
    context.restore();
    context.fillStyle = colour("ink-2");
    lanes.forEach((lane, row) => context.fillText(lane.name, 0, top + row * laneHeight + 14, left - 8));
  }, (t, y) => {
    const at = `${closeUp.centre_s.toFixed(4)} s ${t < 0 ? "-" : "+"} ${duration(Math.abs(t))}`;
    if (y < top) {
      const near = closeUp.marks_us.filter(kindOf).reduce((best, m) => !best || Math.abs(m[0] - t) < Math.abs(best[0] - t) ? m : best, null);
      return near ? `${at}   nearest: ${kindOf(near).name} (${near[2]}) at ${duration(Math.abs(near[0]))} ${near[0] < 0 ? "before" : "after"}` : at;
    }
    const lane = lanes[Math.floor((y - top) / laneHeight)];
    const segment = lane && closeUp.segments_us.find(s => s[2] === lane.id && s[0] <= t && t < s[1]);
    return segment ? `${at}   ${lane.name} for ${duration(segment[1] - segment[0])}${severalCpus ? ` on CPU ${segment[3]}` : ""}` : at;
  });
  box.append(el("div", {class: "legend"}, el("span", {}, "\u25bc interrupt"), el("span", {}, "\u25b2 output ready, lost samples in red")));
  return {columns: ["name", "from_us", "to_us", "cpu"], rows: closeUp.segments_us.map(([begin, end, id, cpu]) => [(entities.find(e => e.id === id) || {}).name, begin, end, cpu])};
}

// The lanes of `offhook schedule`: every segment of every entity, and the missed deadlines.
function ganttTimeline(box, data) {
  const lanes = data.entities, laneHeight = lanes.length > 40 ? 16 : 24, height = lanes.length * laneHeight + 24;
  const text = t => Number((t / 1000).toPrecision(7)) + " ms";
  zoomCanvas(box, height, [0, data.shown_us], `${data.segments.length} segments of ${lanes.length} entities, ${data.misses.length} missed deadlines`, view => {
    const {context, left, right, width, toX} = view;
    timeAxis(view, text);
    context.fillStyle = colour("ink-2");
    lanes.forEach((lane, row) => context.fillText(lane.name, 0, row * laneHeight + laneHeight / 2 + 4, left - 8));
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left - right, height);
    context.clip();
    lanes.forEach((lane, row) => {
      context.fillStyle = colour("grid");
      context.fillRect(left, (row + 1) * laneHeight - 2, width - left - right, 1);
    });
    lanes.forEach((lane, row) => {
      context.fillStyle = colour(palette[row % palette.length]);
      let covered = -1;  // segments closer than a pixel are merged
      for (const [begin, end, entity] of data.segments) {
        if (entity !== row) continue;
        const a = toX(begin), b = Math.max(toX(end), a + 1);
        if (b < left || a > width || b < covered + 0.5) continue;
        context.fillRect(a, row * laneHeight + 3, b - a, laneHeight - 7);
        covered = b;
      }
    });
    context.fillStyle = colour("insufficient");
    for (const [t, entity] of data.misses) {
      const x = toX(t), y = entity * laneHeight;
      if (x < left || x > width) continue;
      context.beginPath();
      context.moveTo(x, y + 7); context.lineTo(x - 4, y); context.lineTo(x + 4, y);
      context.fill();
    }
    context.restore();
  }, (t, y) => {
    const row = Math.floor(y / laneHeight), lane = lanes[row];
    const segment = lane && data.segments.find(s => s[2] === row && s[0] <= t && t < s[1]);
    return lane ? `${text(t)}   ${lane.name}${segment ? ` runs for ${duration(segment[1] - segment[0])} from ${text(segment[0])}` : ""}` : "";
  });
  box.append(el("div", {class: "legend"}, el("span", {class: "class insufficient"}, "\u25bc missed deadline")));
  return {columns: ["name", "from_us", "to_us"], rows: data.segments.map(([begin, end, entity]) => [lanes[entity].name, begin, end])};
}

function schedulePage() {
  page.classList.add("wide");
  const part = section("Gantt chart", (data.cut ? `The first ${group(data.segments.length)} segments, up to ${duration(data.shown_us)} of ${duration(data.horizon_us)}. ` : "") +
    "One lane per entity, in the order of the file. Wheel or +/- to zoom, drag or arrow keys to move, double click or 0 to go back.");
  figure(part, "gantt", box => ganttTimeline(box, data));
  const time = v => cell(v === null ? "-" : duration(v));
  table(section("Entities", "Response time: from release to completion."), ["name", "kind", "released", "completed", "missed", "shortest response", "mean", "longest", "CPU time", "CPU share"],
    data.entities.map(e => el("tr", {}, cell(e.name), cell(e.kind, "left"), cell(group(e.released)), cell(group(e.completed)), lossCell(e.misses), time(e.response_min_us), time(e.response_mean_us),
      time(e.response_max_us), time(e.cpu_us), cell((100 * e.cpu_us / data.horizon_us).toFixed(2) + " %"))));
}
