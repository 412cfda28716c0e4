// SPDX-License-Identifier: MIT
// Tables: they scroll if the window is narrow, and show that; a click on a column's name sorts, a long one has a filter.
"use strict";

const filterFromRows = 20;

// Sort key of a cell's text: a number if it begins with one, with times in one unit, and shares and counts unchanged.
function sortKey(text) {
  const found = /^(?:over )?([+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(ns|us|ms|s|min|h|days?|weeks?|years?)?\b/i.exec(text);
  if (!found) return text === "" || text === "-" ? null : text;
  const unit = {ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, day: 86400, days: 86400, week: 604800, weeks: 604800,
    year: 31557600, years: 31557600}[found[2]] || 1;
  return Number(found[1].replace(/,/g, "")) * unit;
}

// Numbers before words, and empty cells last, in both directions.
function compareKeys(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return direction * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, {numeric: true}));
}

const textOf = (row, column) => row.children[column] ? row.children[column].firstChild ? row.children[column].firstChild.textContent.trim() : "" : "";

// Rows between two group headings are sorted among themselves.
function sortBody(body, rows, column, direction) {
  const parts = [[]];
  for (const row of rows) {
    if (row.classList.contains("group")) parts.push([row], []); else parts[parts.length - 1].push(row);
  }
  for (const part of parts) {
    const order = direction === 0 ? part : part.map(row => [sortKey(textOf(row, column)), row]).sort((a, b) => compareKeys(a[0], b[0], direction)).map(p => p[1]);
    body.append(...order);
  }
}

function sortable(heads, body, rows) {
  heads.forEach((head, column) => {
    const name = head.textContent;
    const button = el("button", {type: "button", class: "sort"}, name);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const next = {none: "ascending", ascending: "descending", descending: "none"}[head.getAttribute("aria-sort") || "none"];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (next !== "none") head.setAttribute("aria-sort", next);
      sortBody(body, rows, column, {none: 0, ascending: 1, descending: -1}[next]);
    });
  });
}

// A field that hides the rows without its text. `also(rows)` hides related items elsewhere.
function filterField(rows, what, also) {
  const field = el("input", {type: "search", placeholder: "filter", "aria-label": "Filter " + what});
  const count = el("span", {role: "status"});
  field.addEventListener("input", () => {
    const text = field.value.trim().toLowerCase();
    let shown = 0, of = 0;
    for (const row of rows) {
      if (row.classList.contains("group")) { row.hidden = text !== ""; continue; }
      row.hidden = !row.textContent.toLowerCase().includes(text);
      shown += !row.hidden;
      ++of;
    }
    count.textContent = text ? `${group(shown)} of ${group(of)}` : "";
    if (also) also(rows);
  });
  return el("div", {class: "filter"}, field, count);
}

// A scrollable area must be reachable by keyboard, and must show that it scrolls.
function showScroll(area) {
  const more = area.scrollWidth > area.clientWidth + 1;
  area.parentNode.classList.toggle("more", more);
  if (more) area.setAttribute("tabindex", "0"); else area.removeAttribute("tabindex");
}
// In the next frame, because changing sizes in an observer's callback is an error.
const scrolls = new ResizeObserver(entries => requestAnimationFrame(() => entries.forEach(e => showScroll(e.target.closest(".scroll")))));

// A table of rows <tr>. o: what, its name for screen readers; filter, called with the rows after filtering.
function table(parent, head, rows, o) {
  const columns = head.length;
  // The heading of a column of words is above the beginning of the words.
  const words = head.map((h, i) => rows.some(r => r.children.length === columns && r.children[i].classList.contains("left")));
  const heads = head.map((h, i) => h === "" ? el("td", {}) : el("th", {scope: "col", ...(words[i] ? {class: "left"} : {})}, h));
  const body = el("tbody", {}, ...rows);
  if (rows.length > 2) sortable(heads.filter(h => h.tagName === "TH"), body, rows);
  const title = (o && o.what) || [...parent.querySelectorAll("h2, h3")].map(h => h.textContent).pop() || "table";
  // On a narrow screen, long names in the first column must leave room for a value.
  const longNames = rows.some(r => r.children.length === columns && r.children[0].textContent.length > 24);
  const area = el("div", {class: "scroll", role: "group", "aria-label": title}, el("table", longNames ? {class: "long-names"} : {}, el("thead", {}, el("tr", {}, ...heads)), body));
  if (rows.length > filterFromRows) parent.append(filterField(rows, title, o && o.filter));
  parent.append(el("div", {class: "table"}, area, el("p", {class: "hint"}, "Wider than the window: scroll sideways \u2192")));
  scrolls.observe(area);
  scrolls.observe(area.firstChild);
}
