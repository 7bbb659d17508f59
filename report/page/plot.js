// Axes, marks and labels of a plot as SVG, with buttons that save it. What is drawn in it is in the
// files of the plots.

const SHAPES = {
  convolution: "circle", matmul: "square", attention: "diamond", elementwise: "triangle",
  normalize: "hexagon", pool: "down", reduce: "pentagon", softmax: "star",
};

function shapeOf(op) {
  return SHAPES[op] || "cross";
}

function polygon(sides, radius, turn) {
  const points = [];
  for (let i = 0; i < sides; ++i) {
    const angle = turn + (2 * Math.PI * i) / sides;
    points.push([radius * Math.cos(angle), radius * Math.sin(angle)]);
  }
  return points;
}

function areaOf(points) {
  let sum = 0;
  points.forEach(([x, y], i) => {
    const [u, v] = points[(i + 1) % points.length];
    sum += x * v - u * y;
  });
  return Math.abs(sum) / 2;
}

const OUTLINES = {
  square: polygon(4, 1, Math.PI / 4),
  diamond: polygon(4, 1, 0),
  triangle: polygon(3, 1, -Math.PI / 2),
  down: polygon(3, 1, Math.PI / 2),
  pentagon: polygon(5, 1, -Math.PI / 2),
  hexagon: polygon(6, 1, 0),
  star: polygon(10, 1, -Math.PI / 2).map(([x, y], i) => (i % 2 ? [x * 0.5, y * 0.5] : [x, y])),
  cross: [[-1, -3], [1, -3], [1, -1], [3, -1], [3, 1], [1, 1], [1, 3], [-1, 3], [-1, 1], [-3, 1],
    [-3, -1], [-1, -1]],
};

// A closed path of that area around (x, y), whatever the shape.
function shapePath(shape, x, y, area) {
  if (shape === "circle") {
    const r = Math.sqrt(area / Math.PI);
    return `M${(x - r).toFixed(2)},${y.toFixed(2)}a${r.toFixed(2)},${r.toFixed(2)} 0 1,0 ` +
      `${(2 * r).toFixed(2)},0a${r.toFixed(2)},${r.toFixed(2)} 0 1,0 ${(-2 * r).toFixed(2)},0Z`;
  }
  const outline = OUTLINES[shape];
  const scale = Math.sqrt(area / areaOf(outline));
  return "M" + outline.map(([u, v]) => `${(x + scale * u).toFixed(2)},${(y + scale * v).toFixed(2)}`)
    .join("L") + "Z";
}

// ---- scales ----

// Of numbers at the axis; between lines of text and between columns of it.
const TICK_ROOM = { x: 62, y: 24 };

// The most steps of a decade whose ticks are far enough apart; whole decades where none are.
function logTicks(scale, low, high, room) {
  const values = (steps, decades) => {
    const found = [];
    for (let e = Math.floor(Math.log10(low)) - 1; e <= Math.ceil(Math.log10(high)); ++e) {
      if (e % decades !== 0) continue;
      for (const step of steps) {
        const value = Number(`${step}e${e}`);
        if (value >= low * 0.9999 && value <= high * 1.0001) found.push(value);
      }
    }
    return found;
  };
  const isRoomy = (ticks) => ticks.every((tick, i) => i === 0 || Math.abs(scale(tick) - scale(ticks[i - 1])) >= room);
  const choices = [[[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], 1], [[1, 1.5, 2, 3, 4, 5, 7], 1], [[1, 1.5, 2, 3, 5, 7], 1], [[1, 2, 5], 1],
    [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3]];
  const wide = Math.log10(high / low) > 1.6 ? choices.slice(3) : choices;
  return wide.map(([steps, decades]) => values(steps, decades)).find(isRoomy) ?? [];
}

function logScale(low, high, from, to, room) {
  const a = Math.log10(low);
  const b = Math.log10(high);
  const scale = (value) => from + ((Math.log10(value) - a) / (b - a)) * (to - from);
  scale.low = low;
  scale.high = high;
  scale.inverse = (at) => 10 ** (a + ((at - from) / (to - from)) * (b - a));
  scale.ticks = logTicks(scale, low, high, room);
  return scale;
}

function linearScale(low, high, from, to, room) {
  const scale = (value) => from + ((value - low) / (high - low)) * (to - from);
  scale.low = low;
  scale.high = high;
  scale.inverse = (at) => low + ((at - from) / (to - from)) * (high - low);
  const raw = (high - low) / Math.max(1, Math.abs(to - from) / (1.3 * room));
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * size).find((k) => k >= raw);
  scale.ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i) scale.ticks.push(i * step);
  return scale;
}

// ---- frames ----

// options: {id, title, description, height, x, y, margin}; x and y: {low, high, log, title, text,
// hidden}. Returns {svg, marks, names, legend, x, y, left, right, top, bottom} and what labels must
// keep clear of: taken (boxes of text), segments (of lines) and discs.
function makePlot(host, options) {
  const width = Math.max(320, Math.floor(host.clientWidth || host.parentElement.clientWidth || 900));
  const { height } = options;
  const margin = { left: 72, right: 18, top: 10, bottom: 46, ...options.margin };
  const svg = svgElement("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, width, height,
    role: "img", "aria-labelledby": `${options.id}-t ${options.id}-d`, tabindex: "0", "data-focus": options.id });
  svg.append(svgElement("title", { id: `${options.id}-t` }, options.title),
    svgElement("desc", { id: `${options.id}-d` }, options.description));
  const [left, right] = [margin.left, width - margin.right];
  const [top, bottom] = [margin.top, height - margin.bottom];
  const scaleOf = (axis, from, to, room) =>
    (axis.log === false ? linearScale : logScale)(axis.low, axis.high, from, to, room);
  const x = scaleOf(options.x, left, right, TICK_ROOM.x);
  const y = scaleOf(options.y, bottom, top, TICK_ROOM.y);
  const clip = `${options.id}-clip`;
  const clipPath = svgElement("clipPath", { id: clip });
  clipPath.append(svgElement("rect", { x: left, y: top, width: right - left, height: bottom - top }));
  svg.append(clipPath, svgElement("rect", { class: "back", x: 0, y: 0, width, height }));
  const grid = svgElement("g", { class: "grid" });
  for (const tick of options.x.hidden ? [] : x.ticks) {
    grid.append(svgElement("line", { x1: x(tick), x2: x(tick), y1: top, y2: bottom }));
    grid.append(svgElement("text", { x: x(tick), y: bottom + 17, "text-anchor": "middle" }, options.x.text(tick)));
  }
  for (const tick of options.y.hidden ? [] : y.ticks) {
    grid.append(svgElement("line", { x1: left, x2: right, y1: y(tick), y2: y(tick) }));
    grid.append(svgElement("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, options.y.text(tick)));
  }
  grid.append(svgElement("text", { class: "axis", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, options.x.title));
  const middle = (top + bottom) / 2;
  if (options.y.title) {
    grid.append(svgElement("text", { class: "axis", x: 14, y: middle, "text-anchor": "middle",
      transform: `rotate(-90 14 ${middle})` }, options.y.title));
  }
  const marks = svgElement("g", { "clip-path": `url(#${clip})` });
  svg.append(grid, marks, svgElement("rect", { class: "frame", x: left, y: top, width: right - left, height: bottom - top }));
  const names = svgElement("g", { class: "names" });
  svg.append(names);
  const legend = element("div", { class: "legend" });
  host.replaceChildren(
    element("figure", {},
      element("figcaption", {}, element("span", {}, options.title),
        element("span", { class: "files" },
          element("button", { type: "button", class: "file", "aria-label": `Save as SVG: ${options.title}`, onclick: () => saveSvg(svg, options.id) }, "SVG"),
          element("button", { type: "button", class: "file", "aria-label": `Save as PNG: ${options.title}`, onclick: () => savePng(svg, options.id) }, "PNG"))),
      svg, legend));
  return { id: options.id, svg, marks, names, legend, x, y, left, right, top, bottom, width, height, taken: [], segments: [], discs: [] };
}

function line(plot, points, attributes) {
  const path = points.map(([x, y]) => `${plot.x(x).toFixed(2)},${plot.y(y).toFixed(2)}`).join("L");
  const node = svgElement("path", { d: `M${path}`, fill: "none", ...attributes });
  plot.marks.append(node);
  return node;
}

function polygonOf(plot, points, attributes) {
  const node = line(plot, points, attributes);
  node.setAttribute("d", `${node.getAttribute("d")}Z`);
  node.removeAttribute("fill");
  return node;
}

// ---- labels ----

const ruler = document.createElement("canvas").getContext("2d");

function textWidth(text, strong = false) {
  ruler.font = `${strong ? 600 : 400} 12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
  return ruler.measureText(text).width;
}

const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// Whether the segment [x, y, u, v] enters the box [left, top, right, bottom].
function enters([x, y, u, v], [left, top, right, bottom]) {
  let [from, to] = [0, 1];
  for (const [at, way, low, high] of [[x, u - x, left, right], [y, v - y, top, bottom]]) {
    if (way === 0) {
      if (at < low || at > high) return false;
      continue;
    }
    const [a, b] = [(low - at) / way, (high - at) / way];
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from <= to;
}

function cross([x, y, u, v], [a, b, c, d]) {
  const side = (px, py, qx, qy, rx, ry) => Math.sign((qx - px) * (ry - py) - (qy - py) * (rx - px));
  return side(x, y, u, v, a, b) !== side(x, y, u, v, c, d) && side(a, b, c, d, x, y) !== side(a, b, c, d, u, v);
}

const touches = ([x, y, r], box) =>
  Math.hypot(x - Math.max(box[0], Math.min(x, box[2])), y - Math.max(box[1], Math.min(y, box[3]))) < r;

// How much a label would cover of marks there; Infinity if a text or a line is in its way.
function coverCost(plot, box, leader) {
  if (box[0] < plot.left + 2 || box[2] > plot.right - 2 || box[1] < plot.top + 2 || box[3] > plot.bottom - 2) return Infinity;
  if (plot.taken.some((other) => meet(box, other) || (leader && enters(leader, other)))) return Infinity;
  if (plot.segments.some((segment) => enters(segment, box))) return Infinity;
  const crossed = leader ? plot.segments.filter((segment) => cross(segment, leader)).length : 0;
  return plot.discs.reduce((sum, disc) => sum + (touches(disc, box) ? 60 : 0), 25 * crossed);
}

// A label near its point: the nearest free place, further away with a leader, or none at all.
// Returns whether it was drawn.
function placeLabel(plot, text, px, py, distance, attributes = {}) {
  const width = textWidth(text, attributes.class === "strong");
  let best = null;
  for (const further of [0, 12, 26, 44, 66, 92, 122]) {
    if (best && best.cost <= further) break;
    for (let turn = 0; turn < 12; ++turn) {
      const angle = (turn * Math.PI) / 6;
      const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
      const reach = distance + further;
      const side = Math.abs(dx) < 0.3 ? 0 : Math.sign(dx); // where the text begins or ends
      const [tx, ty] = [px + dx * reach, py + dy * (reach + 4)];
      const left = side > 0 ? tx : side < 0 ? tx - width : tx - width / 2;
      const box = [left - 2, ty - 8, left + width + 2, ty + 7];
      const leader = further > 0 ? [px + dx * distance, py + dy * distance, tx, ty] : null;
      const cost = coverCost(plot, box, leader) + further + (dx < -0.3 ? 3 : 0) + (side === 0 ? 2 : 0);
      if (cost < 150 && (!best || cost < best.cost)) best = { cost, box, leader, left };
    }
  }
  if (!best) return false;
  plot.taken.push(best.box);
  if (best.leader) {
    const [x1, y1, x2, y2] = best.leader;
    plot.names.append(svgElement("line", { class: "leader", x1, y1, x2, y2 }));
    plot.segments.push(best.leader);
  }
  plot.names.append(svgElement("text", { x: best.left, y: best.box[1] + 12, ...attributes }, text));
  return true;
}

// Arrow keys walk through `items` {mark, lines, enter}; Enter acts, Escape shows all layers.
const walkedTo = new Map();

function walkWithKeys(plot, items) {
  plot.svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return isolate({ layer: null });
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && items.length > 0) {
      event.preventDefault();
      const at = ((walkedTo.get(plot.id) ?? (step > 0 ? -1 : items.length)) + step + items.length) % items.length;
      walkedTo.set(plot.id, at);
      const box = items[at].mark.getBoundingClientRect();
      showTip(items[at].lines(), box.right, box.top);
      byId("walked").textContent = items[at].lines().slice(0, 3).join(", ");
    } else if (event.key === "Enter" && items[walkedTo.get(plot.id)]?.enter) {
      items[walkedTo.get(plot.id)].enter();
    }
    return undefined;
  });
  plot.svg.addEventListener("blur", hideTip);
}

function legendEntry(plot, swatch, text, onclick = null, pressed = false) {
  const icon = svgElement("svg", { width: 22, height: 14, viewBox: "0 0 22 14", "aria-hidden": "true", class: "plot" });
  icon.append(swatch);
  plot.legend.append(onclick
    ? element("button", { type: "button", class: "entry", "data-focus": `${plot.id} ${text}`, "aria-pressed": String(pressed), onclick }, icon, text)
    : element("span", { class: "entry" }, icon, text));
}

// ---- files ----

// The rules of plots with the colours of the present theme, so that the file stands alone.
function plotStyle() {
  const colors = getComputedStyle(document.documentElement);
  let text = "";
  for (const rule of document.styleSheets[0].cssRules) {
    if (rule.selectorText && rule.selectorText.startsWith(".plot")) text += `${rule.cssText}\n`;
  }
  return text.replace(/var\((--[a-z-]+)\)/g, (whole, name) => colors.getPropertyValue(name).trim());
}

function standaloneSvg(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.removeAttribute("tabindex");
  copy.prepend(svgElement("style", {}, plotStyle()));
  return new XMLSerializer().serializeToString(copy);
}

function saveSvg(svg, name) {
  download(`${name}.svg`, new Blob([standaloneSvg(svg)], { type: "image/svg+xml" }));
}

function savePng(svg, name) {
  const image = new Image();
  const box = svg.viewBox.baseVal;
  image.onload = () => {
    const canvas = element("canvas", { width: 2 * box.width, height: 2 * box.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, blob), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standaloneSvg(svg))}`;
}
