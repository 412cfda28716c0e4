// SPDX-License-Identifier: MIT
// Every figure as a file: SVG, PNG, and its data as CSV. A figure on a canvas is drawn again by SvgContext, which
// takes the calls of a canvas and makes SVG of them. `--figures DIR` opens the page at #figures and takes the files
// from the element with that id.
"use strict";

const savedWidth = 1000;  // px, for every saved figure
let capturing = false;    // canvasIn() then gives an SvgContext

class SvgContext {
  constructor(width, height, measure) {
    this.root = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height});
    Object.assign(this, {width, height, measure, fillStyle: "#000", strokeStyle: "#000", globalAlpha: 1, textAlign: "left", lineWidth: 1, font: measure.font,
      dash: [], parent: this.root, stack: [], path: "", box: null, clips: 0, run: null});
  }
  n(v) { return Math.round(v * 100) / 100; }
  add(node) { this.run = null; this.parent.append(node); return node; }
  save() { this.stack.push({...this, stack: null}); }
  restore() {
    const {fillStyle, strokeStyle, globalAlpha, textAlign, dash, parent, font} = this.stack.pop();
    Object.assign(this, {fillStyle, strokeStyle, globalAlpha, textAlign, dash, parent, font, run: null});
  }
  scale() {}
  setLineDash(dash) { this.dash = dash; }
  measureText(text) { this.measure.font = this.font; return this.measure.measureText(text); }
  clearRect() { this.root.replaceChildren(); this.parent = this.root; this.run = null; }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${this.n(x)} ${this.n(y)}`; }
  lineTo(x, y) { this.path += `L${this.n(x)} ${this.n(y)}`; }
  rect(x, y, w, h) { this.path += `M${this.n(x)} ${this.n(y)}h${this.n(w)}v${this.n(h)}h${this.n(-w)}Z`; }
  clip() {
    const id = `clip-${++savedClips}`;
    this.add(svg("clipPath", {id}, svg("path", {d: this.path})));
    this.parent = this.add(svg("g", {"clip-path": `url(#${id})`}));
  }
  look(kind) { return this.globalAlpha < 1 ? {[kind + "-opacity"]: this.globalAlpha} : {}; }
  fill() { this.add(svg("path", {d: this.path + "Z", fill: this.fillStyle, ...this.look("fill")})); }
  stroke() {
    this.add(svg("path", {d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth,
      ...(this.dash.length ? {"stroke-dasharray": this.dash.join(" ")} : {}), ...this.look("stroke")}));
  }
  // Successive rectangles of one colour are one path.
  fillRect(x, y, w, h) {
    const style = this.fillStyle + this.globalAlpha, d = `M${this.n(x)} ${this.n(y)}h${this.n(w)}v${this.n(h)}h${this.n(-w)}Z`;
    if (this.run && this.run.style === style) { this.run.d.push(d); this.run.node.setAttribute("d", this.run.d.join("")); return; }
    const node = this.add(svg("path", {d, fill: this.fillStyle, ...this.look("fill")}));
    this.run = {style, node, d: [d]};
  }
  strokeRect(x, y, w, h) { this.add(svg("rect", {x, y, width: w, height: h, fill: "none", stroke: this.strokeStyle})); }
  fillText(text, x, y) {
    this.add(svg("text", {x: this.n(x), y: this.n(y), "text-anchor": this.textAlign === "center" ? "middle" : "start", style: `fill:${this.fillStyle}`,
      ...this.look("fill")}, String(text)));
  }
  drawImage(picture, x, y, w, h) {
    this.add(svg("image", {x, y, width: w, height: h, preserveAspectRatio: "none", href: picture.toDataURL("image/png")}));
  }
}
let savedClips = 0;

// The names of the legend below the figure.
function appendLegend(root, box, height, width) {
  let x = 8, y = height + 18;
  for (const item of box.querySelectorAll(".legend > span")) {
    const text = item.textContent, length = 26 + 6.9 * text.length, swatch = item.querySelector("i"), inner = swatch && swatch.querySelector("svg");
    if (x + length > width && x > 8) { x = 8; y += 19; }
    if (inner) {
      const copy = inner.cloneNode(true);
      copy.setAttribute("x", x);
      copy.setAttribute("y", y - 9);
      root.append(copy);
    } else if (swatch) {
      root.append(svg("rect", {x, y: y - 9, width: 11, height: 11, rx: 2, fill: swatch.style.background.startsWith("var(") ?
        colour(swatch.style.background.slice(6, -1)) : swatch.style.background}));
    }
    const name = item.className.replace("class ", "");
    root.append(svg("text", {x: x + (swatch ? (inner ? 26 : 17) : 0), y, ...(name ? {style: `fill:${colour(name)}`} : {})}, text));
    x += length + 10;
  }
  return box.querySelector(".legend > span") ? y + 10 : height;
}

// One figure as a standalone SVG document in the page's current colours, and its data.
function captureFigure({box, draw}) {
  const stage = el("div", {class: "chart stage"});
  page.append(stage);
  capturing = true;
  let data = null;
  try {
    data = draw(stage) || null;
  } finally {
    capturing = false;
    stage.remove();
  }
  const drawn = stage.querySelector(":scope > svg");
  if (!drawn) return null;
  const width = Number(drawn.getAttribute("width")), height = Number(drawn.getAttribute("height"));
  const root = svg("svg", {xmlns: "http://www.w3.org/2000/svg", role: "img", "aria-label": figureName(box)});
  root.append(svg("title", {}, figureName(box)), svg("style", {}, `text{fill:${colour("ink-2")};font:12px system-ui,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif}` +
    `text.strong{fill:${colour("ink")};font-weight:600}text.published{fill:${colour("accent-2")}}.on-map{paint-order:stroke;stroke:${colour("paper")};stroke-width:3px}`));
  const ground = svg("rect", {fill: colour("paper")});
  root.append(ground, ...drawn.childNodes);
  const tall = appendLegend(root, stage, height, width);
  for (const [name, value] of Object.entries({viewBox: `0 0 ${width} ${tall}`, width, height: tall})) root.setAttribute(name, value);
  ground.setAttribute("width", width);
  ground.setAttribute("height", tall);
  return {svg: new XMLSerializer().serializeToString(root), width, height: tall, csv: data ? csvOf(data) : null};
}

const csvCell = v => v === null || v === undefined ? "" : typeof v === "number" ? String(v) :
  /[",\r\n]/.test(v) ? `"${String(v).replace(/"/g, '""')}"` : /^[=+\-@]/.test(v) ? "'" + v : String(v);
const csvOf = ({columns, rows}) => [columns, ...rows].map(row => row.map(csvCell).join(",")).join("\n") + "\n";

// The nearest heading above the figure.
function figureName(box) {
  const column = box.closest(".columns > div") || box.closest("section");
  const heads = column ? [...column.querySelectorAll("h2, h3, .caption")].filter(h => h.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING) : [];
  const head = heads.filter(h => h.tagName !== "P").pop() || heads.pop();
  return head ? head.textContent : box.id;
}

function pngOf({svg: text, width, height}) {
  return new Promise((resolve, reject) => {
    const picture = new Image(), scale = 2;
    picture.onload = () => {
      const canvas = el("canvas", {width: Math.round(width * scale), height: Math.round(height * scale)});
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      resolve(canvas.toDataURL("image/png"));
    };
    picture.onerror = () => reject(new Error("the browser cannot draw the figure as PNG"));
    picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  });
}

const fileName = box => box.id.replace(/^figure-/, "").toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-|-$/g, "") || "figure";

function download(name, url) {
  const link = el("a", {href: url, download: name});
  link.click();
}

// The row of buttons below a figure.
function saveButtons(one) {
  const name = figureName(one.box), text = (kind, type, of) => [kind, () => {
    const taken = captureFigure(one);
    if (taken && of(taken) !== null) download(`${fileName(one.box)}.${kind.toLowerCase()}`, URL.createObjectURL(new Blob([of(taken)], {type})));
  }];
  const ways = [text("SVG", "image/svg+xml", t => t.svg), ["PNG", async () => {
    const taken = captureFigure(one);
    if (taken) download(fileName(one.box) + ".png", await pngOf(taken));
  }], text("CSV", "text/csv", t => t.csv)];
  return el("div", {class: "save"}, ...ways.map(([kind, act]) => {
    const button = el("button", {type: "button", "aria-label": `Save "${name}" as ${kind}`}, kind);
    button.addEventListener("click", act);
    return button;
  }));
}
function addSaveButtons() {
  for (const one of figures) if (one.box.querySelector(":scope > svg, canvas")) one.box.after(saveButtons(one));
}

// For `--figures DIR`: all files in base64, as the only content of the page.
async function figuresAsFiles() {
  try {
    await writeFigures();
  } catch (error) {
    document.body.replaceChildren(el("pre", {id: "failed"}, error.message));
  }
}
async function writeFigures() {
  setTheme("light");
  const files = [];
  for (const one of figures) {
    const taken = captureFigure(one);
    if (!taken) continue;
    files.push([fileName(one.box) + ".svg", taken.svg]);
    if (taken.csv !== null) files.push([fileName(one.box) + ".csv", taken.csv]);
    files.push([fileName(one.box) + ".png", (await pngOf(taken)).split(",")[1], "base64"]);
  }
  const bytes = text => btoa(Array.from(new TextEncoder().encode(text), b => String.fromCharCode(b)).join(""));
  const lines = files.map(([name, content, coded]) => `${name} ${coded ? content : bytes(content)}`);
  document.body.replaceChildren(el("pre", {id: "figures"}, lines.join("\n") + "\nend"));
}
