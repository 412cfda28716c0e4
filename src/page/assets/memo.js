// SPDX-License-Identifier: MIT
// `offhook advise --memo`: what a meeting needs, on one A4 sheet.
"use strict";

function memoPage() {
  page.classList.add("memo");
  const facts = section("Simulation", "");
  facts.append(el("dl", {}, ...data.facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
  if (!data.against.length) return;
  const others = section("Rejected contexts", "");
  others.append(el("dl", {class: "others"}, ...data.against.flatMap(([names, because]) => [el("dt", {}, names.join("; ")), el("dd", {}, because)])));
}
