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

function logScale(low, high, from, to) {
  const a = Math.log10(low);
  const b = Math.log10(high);
  const scale = (value) => from + ((Math.log10(value) - a) / (b - a)) * (to - from);
  scale.low = low;
  scale.high = high;
  scale.inverse = (at) => 10 ** (a + ((at - from) / (to - from)) * (b - a));
  const decades = b - a;
  const steps = decades > 4.5 ? [1] : decades > 2 ? [1, 3] : decades > 0.9 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8];
  scale.ticks = [];
  for (let e = Math.floor(a) - 1; e <= Math.ceil(b); ++e) {
    for (const step of steps) {
      const value = Number(`${step}e${e}`);
      if (value >= low * 0.9999 && value <= high * 1.0001) scale.ticks.push(value);
    }
  }
  return scale;
}

function linearScale(low, high, from, to) {
  const scale = (value) => from + ((value - low) / (high - low)) * (to - from);
  scale.low = low;
  scale.high = high;
  scale.inverse = (at) => low + ((at - from) / (to - from)) * (high - low);
  const raw = (high - low) / Math.max(2, Math.abs(to - from) / 90);
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * size).find((k) => k >= raw);
  scale.ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i) scale.ticks.push(i * step);
  return scale;
}

// ---- frames ----

// options: {id, title, description, height, x, y, margin}; x and y: {low, high, log, title, text,
// hidden}. Returns {svg, marks, x, y, left, right, top, bottom, labels}.
function makePlot(host, options) {
  const width = Math.max(320, Math.floor(host.clientWidth || host.parentElement.clientWidth || 900));
  const { height } = options;
  const margin = { left: 72, right: 18, top: 10, bottom: 46, ...options.margin };
  const svg = svgElement("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, width, height,
    role: "img", "aria-labelledby": `${options.id}-t ${options.id}-d`, tabindex: "0" });
  svg.append(svgElement("title", { id: `${options.id}-t` }, options.title),
    svgElement("desc", { id: `${options.id}-d` }, options.description));
  const [left, right] = [margin.left, width - margin.right];
  const [top, bottom] = [margin.top, height - margin.bottom];
  const scaleOf = (axis, from, to) =>
    (axis.log === false ? linearScale : logScale)(axis.low, axis.high, from, to);
  const x = scaleOf(options.x, left, right);
  const y = scaleOf(options.y, bottom, top);
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
          element("button", { type: "button", class: "file", onclick: () => saveSvg(svg, options.id) }, "SVG"),
          element("button", { type: "button", class: "file", onclick: () => savePng(svg, options.id) }, "PNG"))),
      svg, legend));
  return { svg, marks, names, legend, x, y, left, right, top, bottom, width, height, taken: [] };
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

// A label that finds a free place around its point, or is left out. Returns whether it was drawn.
function placeLabel(plot, text, px, py, distance, attributes = {}) {
  const width = 6.4 * [...text].length;
  const places = [[distance, 4, "start"], [-distance, 4, "end"], [0, -distance - 4, "middle"],
    [0, distance + 12, "middle"], [distance, -distance, "start"], [-distance, -distance, "end"],
    [distance, distance + 10, "start"], [-distance, distance + 10, "end"]];
  for (const [dx, dy, anchor] of places) {
    const left = px + dx - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
    const box = [left, py + dy - 10, left + width, py + dy + 3];
    if (box[0] < plot.left + 2 || box[2] > plot.right - 2 || box[1] < plot.top + 2 || box[3] > plot.bottom - 2) continue;
    if (plot.taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
    plot.taken.push(box);
    plot.names.append(svgElement("text", { x: px + dx, y: py + dy, "text-anchor": anchor, ...attributes }, text));
    return true;
  }
  return false;
}

function legendEntry(plot, swatch, text, onclick = null, pressed = false) {
  const icon = svgElement("svg", { width: 22, height: 14, viewBox: "0 0 22 14", "aria-hidden": "true", class: "plot" });
  icon.append(swatch);
  plot.legend.append(onclick
    ? element("button", { type: "button", class: "entry", "aria-pressed": String(pressed), onclick }, icon, text)
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
