// SPDX-License-Identifier: MIT
// A decoded call: timeline, spectrograms, line probing, the fields of the messages, constellations.
"use strict";

const eventKinds = [["tones: ANS, CNG, DTMF, call progress", "c1"], ["V.8bis, V.8, T.30", "c0"], ["INFO, tones A and B, AA, AC", "c3"], ["L1, L2", "c6"],
  ["training: S, PP, TRN, TCF", "c4"], ["J, MP, CP, R1 to R5, E", "c5"], ["data and their content", "c7"], ["renegotiation, retrain, cleardown, lost packets", "c2"]];

// One lane per channel. An event's name is in its box if there is room. The wheel zooms into the start-up.
function eventTimeline(box, data) {
  const lane = 44, height = data.channels.length * lane + 24;
  const row = e => e.channel * lane + (e.event === "data" ? 8 : 4), tall = e => e.event === "data" ? 24 : 32;
  zoomCanvas(box, height, [0, data.duration_s], `${data.events.length} events of ${data.channels.join(" and ")} in ${data.duration_s.toFixed(1)} s; the table of events below has each`, view => {
    const {context, left, right, width, toX} = view;
    timeAxis(view, t => Number(t.toPrecision(8)) + " s");
    context.fillStyle = colour("ink-2");
    data.channels.forEach((name, c) => context.fillText(name, 0, c * lane + 24, left - 8));
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left - right, height);
    context.clip();
    for (const e of data.events) {
      const x = toX(e.t), wide = Math.max(1, toX(e.t_end || e.t) - x);
      context.fillStyle = colour(eventKinds[e.kind][1]);
      context.fillRect(x, row(e), wide, tall(e));
      if (context.measureText(e.event).width + 6 < wide) {
        context.fillStyle = colour("paper");
        context.fillText(e.event, Math.max(x, left) + 3, row(e) + tall(e) / 2 + 4);
      }
    }
    context.restore();
  }, (t, y) => {
    const near = data.events.filter(e => e.channel === Math.floor(y / lane));
    const distance = e => t < e.t ? e.t - t : t > (e.t_end || e.t) ? t - (e.t_end || e.t) : 0;
    const best = near.reduce((a, e) => !a || distance(e) < distance(a) || (distance(e) === distance(a) && e.t > a.t) ? e : a, null);
    return best ? `${t.toFixed(4)} s   ${best.event} from ${best.t.toFixed(4)} s${best.detail ? ": " + best.detail : ""}` : "";
  });
  const present = eventKinds.filter((_, kind) => data.events.some(e => e.kind === kind));
  box.append(legendOf(present.map(([name, fill]) => [name, colour(fill)])));
  return {columns: ["from_s", "to_s", "channel", "event", "detail"], rows: data.events.map(e => [e.t, e.t_end || null, e.channel, e.event, e.detail])};
}

// One character per pixel, 128 rows from 4000 to 0 Hz.
function spectrogram(box, text, duration_s, name) {
  const rows = 128, columns = text.length / rows, right = 44, tall = 2 * rows;
  const picture = el("canvas", {width: columns, height: rows});
  const pixels = new ImageData(columns, rows);
  for (let i = 0; i < text.length; ++i) pixels.data.set(Array(3).fill((text.charCodeAt(i) - 63) * 255 / 63).concat(255), 4 * i);
  picture.getContext("2d").putImageData(pixels, 0, 0);
  const {context, width} = canvasIn(box, tall + 20, `Spectrogram of ${name}: 0 to 4000 Hz over ${duration_s.toFixed(1)} s`);
  context.drawImage(picture, 0, 0, width - right, tall);
  context.fillStyle = colour("ink-2");
  for (let hz = 0; hz <= 4000; hz += 1000) context.fillText(hz, width - right + 6, tall - tall * hz / 4000 + (hz === 4000 ? 11 : 0));
  for (const t of linearTicks(0, duration_s, 12)) context.fillText(t + " s", (width - right) * t / duration_s, tall + 15);
  return {columns: ["s", "Hz", "grey, 0 to 63"], rows: Array.from({length: text.length}, (_, i) => [Number(((i % columns) / columns * duration_s).toFixed(4)),
    4000 - Math.floor(i / columns) * 4000 / rows, text.charCodeAt(i) - 63])};
}

function decodePage() {
  const timeline = section("Timeline", "Wheel or +/- to zoom, drag or arrow keys to move, double click or 0 to go back.");
  figure(timeline, "events", box => eventTimeline(box, data));
  const pictures = section("Spectrogram", "0 to 4000 Hz, 70 dB from black to white.");
  data.spectrograms.forEach((picture, c) => {
    pictures.append(el("h3", {}, data.channels[c]));
    figure(pictures, "spectrogram-" + c, box => spectrogram(box, picture, data.duration_s, data.channels[c]));
  });
  if (data.probing.length) {
    const probing = section("Line probing", "Levels of L2's tones over their mean, and their SNR.");
    data.probing.forEach((p, i) => {
      probing.append(el("h3", {}, p.title));
      const series = (name, y) => ({name, x: p.hz, y, style: "line", symbol: "dot"});
      figure(probing, "probing-" + i, box => plotFigure(box, {title: p.title, marks: [], x: {text: "frequency, Hz", min: 0, max: 4000},
        y: {text: "dB"}, series: [series("SNR", p.snr_db), series("level", p.level_db)]}));
    });
  }
  if (data.tables.length) {
    const messages = section("Exchanged messages");
    for (const t of data.tables) {
      messages.append(el("h3", {}, t.title));
      table(messages, t.columns, t.rows.map(row => el("tr", {}, ...row.map(text => cell(text, text.length > 24 ? "left words" : "left")))), {what: t.title});
      if (t.note) messages.append(el("p", {class: "caption"}, t.note));
    }
  }
  if (data.constellations.length) {
    const grid = el("div", {class: "columns"});
    section("Constellations").append(grid);
    data.constellations.forEach((c, i) => {
      const column = el("div", {}, el("p", {class: "caption"}, c.title));
      grid.append(column);
      figure(column, "constellation-" + i, box => drawConstellation(box, c.points));
    });
  }
  table(section("Events"), ["from s", "to s", "channel", "what", "detail"], data.events.map(e => el("tr", {}, cell(e.t.toFixed(4)),
    cell(e.t_end ? e.t_end.toFixed(4) : ""), cell(String(e.channel)), cell(e.event, "left"), cell(e.detail, "left words"))));
}
