// SPDX-License-Identifier: MIT
// Charts over the time of the call, drawn by dygraphs. All of them zoom together: drag to zoom, shift-drag to move,
// double click for the whole call.
"use strict";

let seriesCharts = [];
let zooming = false;
function forgetSeriesCharts() {
  seriesCharts.forEach(chart => chart.destroy());
  seriesCharts = [];
}

// Several series on one time axis: rows [t, a, b ...] with nulls.
function mergeSeries(list) {
  const rows = new Map();
  list.forEach((s, column) => s.t.forEach((t, i) => {
    if (!rows.has(t)) rows.set(t, [t, ...list.map(() => null)]);
    rows.get(t)[column + 1] = s.v[i];
  }));
  return [...rows.values()].sort((a, b) => a[0] - b[0]);
}

// o: series [{name, t, v, style: "points" | "line" | "step", colour}], unit, level {value, text}, ticks [{t, colour}],
//    phases [{name, begin_s}], range [begin, end], height, floor
function seriesChart(box, o) {
  if (!o.series.some(s => s.t.length)) {
    box.append(el("p", {class: "caption"}, "The log has none of these events."));
    return null;
  }
  const saved = {columns: ["series", "s", o.unit], rows: o.series.flatMap(s => s.t.map((t, i) => [s.name, t, s.v[i]]))};
  if (capturing) {
    const marks = [...(o.phases || []).map(p => ({axis: "x", value: p.begin_s, text: p.name, guide: true})), ...(o.level ? [{axis: "y", value: o.level.value, text: o.level.text, limit: true}] : [])];
    plotFigure(box, {title: o.unit, marks, x: {text: "time, s", min: o.range && o.range[0], max: o.range && o.range[1]}, y: {text: o.unit, ...(o.signed ? {} : {min: 0})},
      series: o.series.filter(s => s.t.length).map(s => ({name: s.name, style: s.style, symbol: "dot", x: s.t, y: s.v}))});
    return saved;
  }
  const readout = el("div", {class: "readout"});
  const area = el("div");
  area.style.width = "100%";
  const height = o.height || 220, namesHeight = 34, axisHeight = 20;
  area.style.height = height + "px";
  box.append(readout, area);
  const perSeries = {};
  for (const s of o.series) {
    perSeries[s.name] = {
      color: colour(s.colour),
      strokeWidth: s.style === "points" ? 0 : 1.6,
      drawPoints: s.style === "points",
      pointSize: s.size || 1.6,
      stepPlot: s.style === "step",
      connectSeparatedPoints: s.style !== "points",
    };
  }
  const highest = Math.max(o.floor || 0, ...o.series.map(s => s.v.reduce((a, b) => Math.max(a, b), 0)));
  const top = o.level && highest > 0.3 * o.level.value ? Math.max(highest, o.level.value) : highest;
  const data = mergeSeries(o.series);
  const decimals = o.decimals === undefined ? 2 : o.decimals;
  // The line above the chart without a pointer: the unit, and a level that is outside.
  const idle = o.unit + (o.level && top < o.level.value ? `; ${o.level.text}, above this chart` : "");
  const levelShown = o.level && top >= o.level.value;
  readout.textContent = idle;
  const chart = new Dygraph(area, data, {
    labels: ["s", ...o.series.map(s => s.name)],
    series: perSeries,
    legend: "never",
    dateWindow: o.range,
    valueRange: o.signed ? null : [0, top > 0 ? top / (1 - namesHeight / (height - axisHeight)) : 1],  // two rows of phase names are above the data
    axisLineColor: colour("line"),
    gridLineColor: colour("grid"),
    highlightCircleSize: 4,
    axisLabelFontSize: 12,
    animatedZooms: false,
    axes: {
      x: {axisLabelFormatter: v => trimSeconds(v) + " s", pixelsPerLabel: 80},
      y: {axisLabelWidth: 52, axisLabelFormatter: v => v >= 1e5 ? group(v / 1000) + "k" : Number(v.toPrecision(6)).toString()},
    },
    highlightCallback: (event, x, points) => {
      readout.replaceChildren(el("b", {}, x.toFixed(4) + " s"));
      for (const p of points) {
        if (p.yval !== null && !Number.isNaN(p.yval)) {
          readout.append("   " + (o.series.length > 1 ? p.name + " " : "") +
            (decimals === 0 ? group(p.yval) : p.yval.toFixed(decimals)) + " " + o.unit);
        }
      }
    },
    unhighlightCallback: () => { readout.textContent = idle; },
    underlayCallback: (context, plot, dygraph) => {
      context.save();
      context.beginPath();
      context.rect(plot.x, plot.y, plot.w, plot.h);
      context.clip();
      context.font = "11.5px system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";
      const rows = [-1e9, -1e9];  // right end of the names in each of two rows
      for (const phase of o.phases || []) {
        const x = dygraph.toDomXCoord(phase.begin_s);
        context.fillStyle = colour("line");
        context.fillRect(Math.round(x), plot.y, 1, plot.h);
        context.fillStyle = colour("ink-2");
        const row = rows.findIndex(end => x >= end);
        if (row >= 0) {
          context.fillText(phase.name, x + 4, plot.y + 11 + 13 * row);
          rows[row] = x + context.measureText(phase.name).width + 10;
        }
      }
      if (o.level) {
        const y = dygraph.toDomYCoord(o.level.value);
        context.strokeStyle = colour("insufficient");
        context.setLineDash([6, 4]);
        context.beginPath();
        context.moveTo(plot.x, y);
        context.lineTo(plot.x + plot.w, y);
        context.stroke();
        context.setLineDash([]);
      }
      for (const tick of o.ticks || []) {
        context.fillStyle = colour(tick.colour);
        context.fillRect(dygraph.toDomXCoord(tick.t) - 0.5, plot.y + plot.h - 9, 1.5, 9);
      }
      context.restore();
    },
    drawCallback: (self, first) => {
      if (first || zooming) return;
      zooming = true;
      for (const other of seriesCharts) if (other !== self) other.updateOptions({dateWindow: self.xAxisRange()});
      zooming = false;
    },
  });
  seriesCharts.push(chart);
  describeChart(area, chart, o);
  if (levelShown) {
    const label = el("span", {class: "level"}, o.level.text);
    label.style.top = Math.max(0, chart.toDomYCoord(o.level.value) - 20) + "px";
    area.append(label);
  }
  return saved;
}

// The chart's content in words, and its keys.
function describeChart(area, chart, o) {
  const number = v => group(v) === "0" || Math.abs(v) < 100 ? Number(v.toPrecision(4)).toString() : group(v);
  const words = o.series.filter(s => s.t.length).map(s => `${s.name}: ${number(s.v.reduce((a, b) => Math.min(a, b)))} to ` +
    `${number(s.v.reduce((a, b) => Math.max(a, b)))} ${o.unit}, at last ${number(s.v[s.v.length - 1])}`);
  const range = o.range || chart.xAxisExtremes();
  for (const [name, value] of Object.entries({role: "img", tabindex: "0", "aria-label": `Over ${trimSeconds(range[0])} to ${trimSeconds(range[1])} s. ` +
    words.join("; ") + (o.level ? `; ${o.level.text}` : "") + ". " + zoomKeys})) area.setAttribute(name, value);
  const show = (a, b) => {
    const span = Math.min(b - a, range[1] - range[0]), from = Math.min(Math.max(a, range[0]), range[1] - span);
    chart.updateOptions({dateWindow: [from, from + span]});
  };
  onZoomKeys(area, {whole: () => show(...range), zoom: factor => {
    const [a, b] = chart.xAxisRange(), middle = (a + b) / 2;
    show(middle - (b - a) / 2 * factor, middle + (b - a) / 2 * factor);
  }, move: share => {
    const [a, b] = chart.xAxisRange();
    show(a + share * (b - a), b + share * (b - a));
  }});
}

function trimSeconds(v) {
  return Number(v.toPrecision(8)).toString();
}
