// Small helpers that every part of the page uses: elements, numbers with units, files, the tooltip.

const data = JSON.parse(document.getElementById("data").textContent);

// What is shown. Parts of the page read it and register with `parts` to be drawn again.
const state = { run: 0, mode: 0, type: 0, layer: null, op: null, bound: null, query: "" };
const parts = [];

function byId(id) {
  return document.getElementById(id);
}

// Text goes in as text, never as HTML: names come from files.
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) node.append(child);
  return node;
}

function svgElement(tag, attributes = {}, text = null) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  // Control characters have no place in XML: the saved file could not be read.
  if (text !== null) node.textContent = String(text).replace(/[\u0000-\u001f\u007f\ufffe\uffff]/g, "\ufffd");
  return node;
}

// ---- numbers ----

const NONE = "–";

function significant(value, digits = 3) {
  if (value === 0) return "0";
  const text = Number(value).toPrecision(digits);
  return text.includes("e") ? String(Number(text)) : text;
}

const PREFIXES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"],
  [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];

function si(value, unit, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (value === 0) return `0 ${unit}`;
  const rounded = Math.abs(Number(value.toPrecision(digits)));
  const [scale, prefix] = PREFIXES.find(([size]) => rounded >= size * (1 - 1e-12)) || PREFIXES.at(-1);
  return `${significant(value / scale, digits)} ${prefix}${unit}`;
}

// For the ticks of an axis: no zeros at the end.
function siTick(value, unit) {
  const [number, ...rest] = si(value, unit).split(" ");
  return `${Number(number)} ${rest.join(" ")}`.trim();
}

const seconds = (value) => si(value, "s");
const joules = (value) => si(value, "J");
const watts = (value) => si(value, "W");

function percent(share, digits = 1) {
  if (share === null || !Number.isFinite(share)) return NONE;
  const value = 100 * share;
  if (value > 0 && value < 0.05) return "<0.1 %";
  return `${value.toFixed(value >= 10 ? Math.min(digits, 0) : digits)} %`;
}

// [value, low, high, source] as "1.94 ms (1.48 to 2.71)": the ends have the unit of the value.
function withInterval(estimate, unit) {
  if (!estimate) return NONE;
  const [value, low, high] = estimate;
  const text = si(value, unit);
  if (!(low < high)) return text;
  const scale = value / Number(text.split(" ")[0]);
  return `${text} (${significant(low / scale)} to ${significant(high / scale)})`;
}

// "20 % less time", "2.5 % more energy", "the same time".
function lessOrMore(share, what) {
  if (Math.abs(share) < 0.0005) return `the same ${what}`;
  return `${percent(Math.abs(share))} ${share > 0 ? "less" : "more"} ${what}`;
}

function elide(name, most) {
  const letters = [...name];
  if (letters.length <= most) return name;
  const head = Math.ceil((most - 1) / 2);
  return letters.slice(0, head).join("") + "…" + letters.slice(letters.length - (most - 1 - head)).join("");
}

// A number and its unit stay on one line.
function unbroken(text) {
  return text.replace(/(\d) (%|[pnµmkMGT]?(s|J|W|Hz|B|FLOP)\b)/g, "$1\u00a0$2");
}

// The end of a name says most: "…conv2 + bn2 + relu".
function elideFront(name, most) {
  const letters = [...name];
  if (letters.length <= most) return name;
  const kept = letters.slice(letters.length - most + 1).join("");
  const word = kept.search(/[./ ]/);
  return `…${word >= 0 && word < 10 ? kept.slice(word + 1) : kept}`;
}

// What was fused into a kernel goes first: "layer3.*.conv2 + …".
function shortLayerName(name, most) {
  const fused = name.indexOf(" + ");
  if ([...name].length <= most || fused < 0) return elideFront(name, most);
  return `${elideFront(name.slice(0, fused), most - 4)} + …`;
}

// Equal for layers of blocks that repeat: "layer4.*.conv2", and "relu" for relu_12. The number of
// a block is the first one of a name.
function withoutBlockNumber(name) {
  let block = null; // "blocks.7"
  return name.replace(/_?\d+(?=[./ ]|$)/g, (number, at) => {
    const end = at + number.length;
    if (number.startsWith("_")) {
      if (end < name.length && name[end] !== " ") block ??= ""; // of encoder_layer_3.mlp.0
      return "";
    }
    if (at > 0 && !"./ ".includes(name[at - 1])) return number;
    const own = name.slice(0, end).match(/[^./ ]*[./ ]?\d+$/)[0];
    block ??= own;
    return own === block ? "*" : number;
  });
}

// ---- what is selected ----

const currentRun = () => data.runs[state.run];
const currentMode = () => currentRun().modes[state.mode];
const currentTimes = () => currentMode().runs[state.type];
const currentLayers = () => currentRun().types[state.type];

function boundName(bound) {
  return bound === "power_cap" ? "power cap" : bound;
}

// One object per layer of what is shown.
function shownLayers() {
  const facts = currentLayers();
  const times = currentTimes();
  const total = times.time_s[0];
  return facts.name.map((name, i) => ({
    index: i,
    name,
    op: data.ops[facts.op[i]],
    bound: data.bounds[times.layer_bound[i]],
    time: times.layer_ns[i] / 1e9,
    share: times.layer_ns[i] / 1e9 / total,
    energy: times.layer_nj[i] === null ? null : times.layer_nj[i] / 1e9,
    operations: facts.operations[i],
    bytes: facts.bytes[i],
    intensity: facts.bytes[i] > 0 ? facts.operations[i] / facts.bytes[i] : null,
    roof: times.roof_share[i],
    measured: times.measured_ns && times.measured_ns[i] !== null ? times.measured_ns[i] / 1e9 : null,
  }));
}

function isFound(layer) {
  if (state.layer !== null) return layer.index === state.layer;
  if (state.op !== null && layer.op !== state.op) return false;
  if (state.bound !== null && layer.bound !== state.bound) return false;
  if (state.query === "") return true;
  return `${layer.name} ${layer.op} ${boundName(layer.bound)}`.toLowerCase().includes(state.query);
}

const isFiltered = () =>
  state.layer !== null || state.op !== null || state.bound !== null || state.query !== "";

// What had the focus has it again, though it was made anew.
function keepingFocus(draw) {
  const focused = document.activeElement?.dataset.focus;
  draw();
  if (focused) document.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function drawAll() {
  hideTip(); // of a mark that is about to go
  keepingFocus(() => {
    for (const part of parts) part();
  });
}

function isolate(change) {
  Object.assign(state, change);
  drawAll();
}

function layerTip(layer) {
  const lines = [
    layer.name,
    `${layer.op}, bound by ${boundName(layer.bound)}`,
    `${seconds(layer.time)} predicted, ${percent(layer.share)} of the time`,
  ];
  if (layer.measured !== null) lines.push(`${seconds(layer.measured)} measured`);
  if (layer.energy !== null) lines.push(`${joules(layer.energy)} predicted`);
  lines.push(`${si(layer.operations, "FLOP")}, ${si(layer.bytes, "B")}`);
  if (layer.intensity > 0) {
    lines.push(`${significant(layer.intensity)} FLOP/B, ${si(layer.operations / layer.time, "FLOP/s")}`);
  }
  if (layer.roof !== null) lines.push(`${percent(layer.roof)} of its roof`);
  return lines;
}

// ---- tooltip ----

function showTip(lines, x, y) {
  const tip = byId("tip");
  tip.replaceChildren(...lines.map((line, i) => element(i === 0 ? "strong" : "div", {}, elide(line, 300))));
  tip.hidden = false;
  const room = document.documentElement.clientWidth;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, room - box.width - 8)) + window.scrollX}px`;
  const below = y + 16 + box.height < window.innerHeight;
  tip.style.top = `${(below ? y + 16 : Math.max(4, y - box.height - 12)) + window.scrollY}px`;
}

function hideTip() {
  byId("tip").hidden = true;
}

// Shows `lines()` while the pointer is on the node or the node has the focus.
function withTip(node, lines) {
  node.addEventListener("pointermove", (event) => showTip(lines(), event.clientX, event.clientY));
  node.addEventListener("pointerleave", hideTip);
  node.addEventListener("focus", () => {
    const box = node.getBoundingClientRect();
    showTip(lines(), box.right, box.top);
  });
  node.addEventListener("blur", hideTip);
}

// ---- files ----

function download(name, blob) {
  const link = element("a", { download: name, href: URL.createObjectURL(blob) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function csvField(value) {
  if (value === null || value === undefined) return "";
  const text = String(value);
  // A spreadsheet must not take a name for a formula.
  const safe = typeof value === "string" && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function downloadCsv(name, header, rows) {
  const text = [header, ...rows].map((row) => row.map(csvField).join(",") + "\n").join("");
  download(name, new Blob([text], { type: "text/csv" }));
}
