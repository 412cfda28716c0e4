// SPDX-License-Identifier: MIT
// Opens pages in headless Chromium: at each width, light and dark, and as they print. For each of them: accessibility
// (axe-core), errors on the console, requests to anywhere, figures that failed, text beyond the right edge, canvases
// without a text alternative or without keys. Screenshots and a PDF are left for people to look at.
//
// usage: node look.js JOB.json   {browser, out, pages: [{name, file or url, sheets}]}; prints one line of JSON a finding.
"use strict";

const fs = require("fs");
const path = require("path");
const axe = require("axe-core");
const {chromium} = require("playwright-core");

const looks = [
  {name: "1280-light", width: 1280, colorScheme: "light"},
  {name: "1280-dark", width: 1280, colorScheme: "dark"},
  {name: "390-light", width: 390, colorScheme: "light"},
  {name: "390-dark", width: 390, colorScheme: "dark"},
  {name: "print", width: 1280, colorScheme: "dark", print: true},
];
const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));

// Runs in the page. Each item: [what, where].
function problemsOfPage() {
  const problems = [];
  if (document.documentElement.dataset.ready !== "yes") problems.push(["the page was not drawn to its end", ""]);
  for (const figure of document.querySelectorAll("[data-drawn=failed]")) problems.push(["a figure was not drawn", figure.id]);
  const date = /\b\d{1,2}\/\d{1,2}\/\d{4}\b/.exec(document.body.innerText);
  if (date) problems.push(["a date that is not ISO 8601", date[0]]);
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > room) {
    // Elements that extend beyond the page and are not inside something that scrolls.
    const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > room + 1 &&
      !e.closest("svg") && !e.closest(".scroll"));
    problems.push([`${document.documentElement.scrollWidth} px wide in a window of ${room}`,
      [...new Set(wide.map(e => e.tagName.toLowerCase() + "." + e.className))].slice(0, 4).join(" ")]);
  }
  for (const wide of matchMedia("print").matches ? document.querySelectorAll(".scroll") : [])
    if (wide.scrollWidth > wide.clientWidth + 1)
      problems.push([`cut off on paper: ${wide.scrollWidth} px wide in ${wide.clientWidth}`, (wide.querySelector("th") || {}).textContent || ""]);
  for (const canvas of document.querySelectorAll("canvas")) {
    const named = canvas.closest("[role=img][aria-label], [aria-hidden=true], [role=group][aria-label]");
    const owner = canvas.closest(".chart");
    if (!named) problems.push(["a canvas without a text alternative", owner ? owner.id : ""]);
    if (canvas.classList.contains("zoom") && canvas.tabIndex < 0) problems.push(["a canvas that zooms, but not by keys", owner ? owner.id : ""]);
  }
  return problems;
}

// Plus, minus, arrows and 0 on each canvas that zooms: the picture must change, and return.
async function tryKeys(page) {
  const problems = [];
  for (const canvas of await page.locator("canvas.zoom").all()) {
    const picture = () => canvas.evaluate(c => c.toDataURL());
    const before = await picture();
    await canvas.focus();
    await canvas.press("+");
    const nearer = await picture();
    await canvas.press("ArrowRight");
    const moved = await picture();
    await canvas.press("0");
    const id = await canvas.evaluate(c => (c.closest(".chart") || {}).id || "");
    if (nearer === before) problems.push(["+ does not zoom", id]);
    if (moved === nearer) problems.push(["the arrow key does not move", id]);
    if (await picture() !== before) problems.push(["0 does not go back", id]);
  }
  return problems;
}

// The lanes of CPU use: after zooming by keys, the pointer meets single segments on at least one lane.
async function tryLanes(page) {
  const canvas = page.locator("#figure-cpu canvas.zoom");
  if (await canvas.count() === 0) return [];
  await canvas.focus();
  for (let i = 0; i < 16; ++i) await canvas.press("+");
  const {width, height} = await canvas.boundingBox();
  const met = new Set();
  for (let y = 13; y < height - 24 && met.size < 2; y += 26) {
    for (let x = 140; x < width - 60 && met.size < 2; x += 9) {
      await canvas.hover({position: {x, y}, force: true});
      const text = await page.locator("#figure-cpu .readout").textContent();
      if (/: [\d.]+ [mun]?s from [\d.]+ s/.test(text)) met.add(text);
    }
  }
  await canvas.press("0");
  return met.size > 1 ? [] : [[`lanes of CPU use do not zoom to single segments (${met.size} met)`, "figure-cpu"]];
}

// The chosen theme is used when the page is opened again.
async function tryTheme(page, address) {
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.locator("header.top button").click();
  const chosen = await theme();
  await page.goto(address);
  const problems = [];
  if (chosen === before) problems.push(["the button does not change the theme", ""]);
  if (await theme() !== chosen) problems.push(["the chosen theme is forgotten", ""]);
  return problems;
}

async function lookAt(browser, {name, file, url, sheets}, look) {
  const address = url || "file://" + path.resolve(file);
  const found = (what, where, more) => console.log(JSON.stringify({page: name, look: look.name, what, where, more: more || ""}));
  const context = await browser.newContext({viewport: {width: look.width, height: 900}, colorScheme: look.colorScheme});
  context.setDefaultTimeout(300000);  // a busy machine
  const page = await context.newPage();
  page.on("console", m => { if (["error", "warning"].includes(m.type())) found("on the console: " + m.text(), ""); });
  page.on("pageerror", e => found("an exception: " + e.message, ""));
  page.on("request", r => { if (!/^(file|data|about|blob):/.test(r.url()) && !(url && r.url().startsWith(url))) found("asks for " + r.url(), ""); });
  await page.goto(address);
  if (url) await page.waitForSelector(".tiles");  // the first state has arrived
  if (look.print) {
    const pdf = path.join(job.out, `${name}.pdf`);
    await page.pdf({path: pdf, preferCSSPageSize: true, printBackground: true});
    const count = (fs.readFileSync(pdf, "latin1").match(/\/Type\s*\/Page\b/g) || []).length;
    if (sheets && count !== sheets) found(`prints on ${count} sheets; expected ${sheets}`, "");
    await page.emulateMedia({media: "print"});
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  }
  for (const [what, where] of await page.evaluate(problemsOfPage)) found(what, where);
  if (look.name === "1280-light") {
    for (const [what, where] of [...await tryKeys(page), ...await tryLanes(page)]) found(what, where);
  }
  await page.evaluate(axe.source);
  const result = await page.evaluate(() => axe.run(document, {resultTypes: ["violations"]}));
  for (const v of result.violations) {
    found(`axe: ${v.id}: ${v.help}`, `${v.nodes.length} x ${v.nodes[0].target.join(" ")}`,
      [...new Set(v.nodes.flatMap(n => [...n.any, ...n.all, ...n.none].map(c => c.message)))].slice(0, 3).join("; "));
  }
  await page.screenshot({path: path.join(job.out, `${name}-${look.name}.png`), fullPage: true});
  if (look.name === "1280-light") for (const [what, where] of await tryTheme(page, address)) found(what, where);
  await context.close();
}

(async () => {
  const browser = await chromium.launch({executablePath: job.browser, args: ["--no-sandbox", "--disable-dev-shm-usage"]});
  for (const page of job.pages) for (const look of looks) await lookAt(browser, page, look);
  await browser.close();
})().catch(error => {
  console.error(String(error));
  process.exit(3);
});
