// SPDX-License-Identifier: MIT
// Published results next to simulated ones: the layout.
"use strict";

const papers = {
  jones: "Jones and Saroiu, Predictability Requirements of a Soft Modem (2001)",
  regehr: "Regehr and Stankovic, Augmented CPU Reservations (2001)",
  cota: "Cota-Robles and Held, Windows Driver Model Latency Performance on Windows NT and Windows 98 (1999)",
  siemens: "Siemens, Assessing Microsoft Windows CE 3.0 Real-Time Capabilities",
  chen: "Chen et al., The Measured Performance of Personal Computer Operating Systems",
};
const standingClass = {"agrees": "sufficient", "falls short": "insufficient", "no experiment": "insufficient", "differs": "marginal"};
const standingMark = {"agrees": "\u25cf", "falls short": "\u2715", "no experiment": "\u2715", "differs": "\u25d0"};

function shownValue(v) {
  if (v === null) return "-";
  if (typeof v === "string") return v;
  if (Number.isInteger(v)) return group(v);
  return Math.abs(v) >= 1000 ? group(v) : String(Number(v.toPrecision(4)));
}

function standing(word) {
  return el("span", {class: "class " + (standingClass[word] || "")}, `${standingMark[word] || "\u25cb"} ${word}`);
}

function claimRows(parent, claim) {
  table(parent, ["what", "published", "simulated", "unit", "tolerance", "grade", "provenance", "verdict", "remark"], claim.rows.map(r => {
    const counts = r.grade === "hard" || r.grade === "soft" || !r.agrees;
    const word = !counts ? "" : r.agrees ? "agrees" : r.grade === "hard" ? "falls short" : "differs";
    const wide = v => typeof v === "string" && v.length > 14 ? "words" : "";
    return el("tr", {}, cell(r.what, "words"), cell(shownValue(r.published), wide(r.published)), cell(shownValue(r.simulated), wide(r.simulated)),
      cell(r.unit, "left"), cell(r.tolerance, "left"), cell(r.grade, "left"),
      cell(r.provenance, "left"), el("td", {class: "left"}, word ? standing(word) : ""),
      cell([r.note, r.because && `${r.provenance}: ${r.because}`,
        r.hinges && `depends on the unpublished ${r.hinges}`].filter(Boolean).join("; "), "left words remark"));
  }));
}

const provenances = {
  independent: "no constant was fitted with it, or with others of its kind",
  calibrated: "a constant was fitted with it, or with others of its kind",
  derived: "arithmetic on inputs",
  input: "input of the model, read back",
};

function provenanceTable(parent) {
  table(parent, ["provenance", "meaning", "values", "within tolerance", "hard", "hard, within tolerance"],
    Object.entries(provenances).map(([name, words]) => {
      const c = data.counts[name];
      const result = name !== "input";
      return el("tr", {}, cell(name, "left"), cell(words, "left words"), cell(group(c.rows)), cell(result ? group(c.agree) : "no result"),
        cell(result ? group(c.hard) : ""), cell(result ? group(c.hard_agree) : ""));
    }));
}

function sensitivitySection() {
  const part = section("Sensitivity of Table 3 to its constants", "Each constant over a range, the others unchanged, every run again. A disc: the published " +
    "class; a cross: another class. 2/14 is sharp: its two ticks hold (1 + phi) blocks within half a per cent.");
  const grid = el("div", {class: "columns"});
  part.append(grid);
  for (const f of data.sensitivity.figures) {
    const column = el("div", {}, el("h3", {}, f.title), el("p", {class: "caption"}, f.caption));
    grid.append(column);
    figure(column, f.id, box => plotFigure(box, f));
  }
}

// The claims whose rows pass the filter, and papers that have such claims.
function showClaims(rows) {
  data.claims.forEach((claim, i) => { document.getElementById(claim.id).hidden = rows[i].hidden; });
  for (const paper of document.querySelectorAll("h2.paper")) {
    const ofPaper = data.claims.filter(c => paper.dataset.claims === c.id.split(".")[0]);
    paper.hidden = ofPaper.every(c => document.getElementById(c.id).hidden);
  }
}

function reproducePage() {
  page.classList.add("wide");
  provenanceTable(section("Evidence of agreement", "Origin of each simulated value. Only independent results are predictions; " +
    "an input that is read back is not a result."));
  const claims = section("Claims", "Hard (mandatory): the simulation must be within the tolerance. Soft: a difference is reported. " +
    "Input: a measured property of the machine that the model uses. Orange in every figure: the published value.");
  table(claims, ["claim", "where", "grade", "result", "figures"], data.claims.map(c => el("tr", {}, el("td", {}, el("a", {href: "#" + c.id}, c.title)),
    cell(c.at, "left words"), cell(c.grade, "left"), el("td", {class: "left"}, standing(c.standing)),
    cell([...new Set(c.figures.map(f => f.title.split(":")[0]))].join("; "), "left words"))), {filter: showClaims});
  let paper = "";
  for (const claim of data.claims) {
    const of = claim.id.split(".")[0];
    if (of !== paper) {
      paper = of;
      page.append(el("h2", {class: "paper", "data-claims": of}, papers[of] || of));
    }
    const node = el("section", {id: claim.id}, el("h3", {class: "claim"}, claim.title, " ", standing(claim.standing)),
      el("p", {class: "caption"}, `${claim.id}, section ${claim.at}. ${claim.summary}`));
    page.append(node);
    if (claim.rows.length) claimRows(node, claim);
    if (!claim.figures.length) continue;
    const grid = el("div", {class: claim.figures.length === 1 ? "" : "columns"});
    node.append(grid);
    for (const f of claim.figures) {
      const column = el("div", {}, el("h3", {}, f.title), el("p", {class: "caption"}, f.caption));
      grid.append(column);
      figure(column, f.id, box => plotFigure(box, f));
    }
  }
  if (data.sensitivity) sensitivitySection();
}
