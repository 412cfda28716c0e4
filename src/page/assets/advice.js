// SPDX-License-Identifier: MIT
// The page of `offhook advise`.
"use strict";

function advicePage() {
  page.classList.add("wide");
  const a = data.advice, tried = a.trials.filter(t => !t.refusal);
  const bars = (title, caption, items, limit) => {
    const part = section(title, caption);
    figure(part, title, box => adviceBars(box, items, limit));
  };
  bars("The device", `Time from interrupt to queued output: the longest, and in full colour the value that 999 in 1000 do not exceed. A block can wait ${a.limit_ms.toPrecision(4)} ms (dashed line).`,
    tried.map(t => ({name: t.context, value: t.latency_max_ms, inner: t.latency_p999_ms, bad: !t.loses_nothing})), {value: a.limit_ms, text: "a block can wait"});
  bars("Everyone else", "Delay of a 1 ms timer's callback beyond its period: the longest, and in full colour the value that 999 in 1000 do not exceed.",
    [{name: "without the device", value: a.control.timer_late_max_ms, inner: a.control.timer_late_p999_ms},
      ...tried.map(t => ({name: t.context, value: t.timer_late_max_ms, inner: t.timer_late_p999_ms}))]);
  if (a.passed_over_for.length) {
    const others = section("Rejected", "The other contexts, and the reasons against them.");
    others.append(el("dl", {class: "others"}, ...a.passed_over_for.flatMap(p => [el("dt", {}, p.contexts.join("; ")), el("dd", {}, p.because)])));
  }
  if (a.priorities.length) {
    const order = section("Priority order on this host", "The most urgent first.");
    order.append(el("ol", {class: "priorities"}, ...a.priorities.map(p => el("li", {}, p))));
  }
  if (a.commands.length) section("To copy", "The context as commands, unit lines and calls.").append(el("pre", {class: "commands"}, a.commands.join("\n")));
  const all = section("All contexts", "Margin: the rest, at the worst moment, of the time that a block can wait. " + (a.linux ?
    `Marked: an interrupt routine of more than ${a.pc99.interrupt_us} us, a softirq of more than ${a.pc99.dpc_us} us.` :
    `PC 99, the design guide for PCs of its time, allows an interrupt routine ${a.pc99.interrupt_us} us and a DPC ${a.pc99.dpc_us} us.`));
  const over = (v, limit) => cell(v.toFixed(0) + " us", v > limit ? "bad" : "");
  table(all, ["context", "class", "between losses", "blocks late", "samples lost", "margin", "buffers needed", "longest ISR", "longest DPC", "CPU share", "before any thread", "timer late, max"],
    a.trials.map(t => t.refusal ? el("tr", {}, cell(t.context), el("td", {class: "left words", colspan: 11}, t.refusal)) : el("tr", {}, cell(t.context),
      classCell(t.class),
      cell(`${t.between_losses.low} (${t.between_losses.evidence})`), lossCell(t.blocks_late + t.blocks_given_up), lossCell(t.samples_lost), cell(t.margin_ms.toPrecision(3) + " ms" + (t.thin && t.loses_nothing ? " !" : "")),
      cell(t.swamped ? "-" : String(t.buffers_needed)), over(t.isr_max_us, a.pc99.interrupt_us), over(t.dpc_max_us, a.pc99.dpc_us),
      cell((100 * t.share).toFixed(1) + " %"), cell((100 * t.stolen_share).toFixed(2) + " %"), cell(t.timer_late_max_ms.toFixed(2) + " ms"))));
}

function adviceBars(box, items, limit) {
  const width = Math.min(1072, Math.max(300, box.clientWidth || 980)), row = 24, right = width < 500 ? 64 : 110;
  const label = 6.6 * Math.max(...items.map(i => i.name.length)) + 14, left = Math.min(Math.max(label, width < 500 ? 124 : 150), 0.52 * width);
  // A context that failed by seconds must not flatten the others.
  const sane = items.map(i => i.value).filter(v => !limit || v < 3 * limit.value);
  const most = 1.1 * Math.max(...sane, limit ? limit.value : 0, 0.1), height = items.length * row + 44;
  const px = v => left + Math.min(v, most) / most * (width - left - right);
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "times by context"});
  for (const t of linearTicks(0, most, Math.max(2, Math.min(8, (width - left - right) / 60)))) {
    root.append(svg("line", {x1: px(t), x2: px(t), y1: 8, y2: height - 32, stroke: colour("grid")}));
    root.append(svg("text", {x: px(t), y: height - 16, "text-anchor": "middle"}, Number(t.toPrecision(6)) + " ms"));
  }
  items.forEach((item, i) => {
    const y = 10 + i * row, fill = colour(item.bad ? "insufficient" : "accent");
    root.append(svg("text", {x: left - 10, y: y + 13, "text-anchor": "end"}, item.name));
    root.append(svg("rect", {x: left, y, width: Math.max(1, px(item.value) - left), height: row - 7, fill, "fill-opacity": 0.35}));
    root.append(svg("rect", {x: left, y, width: Math.max(1, px(item.inner) - left), height: row - 7, fill, "fill-opacity": 0.8}));
  });
  if (limit) {
    root.append(svg("line", {x1: px(limit.value), x2: px(limit.value), y1: 4, y2: height - 32, stroke: colour("ink"), "stroke-dasharray": "5 4"}));
    root.append(svg("text", {x: px(limit.value), y: height - 2, "text-anchor": "middle"}, limit.text));
  }
  items.forEach((item, i) => root.append(svg("text", {x: px(item.value) + 6, y: 23 + i * row, class: "on-map"}, duration(1000 * item.value))));
  box.append(root);
  return {columns: ["context", "longest_ms", "999 in 1000, ms"], rows: items.map(i => [i.name, i.value, i.inner])};
}
