// The layers on the time roofline, and the arch of energy and the line of power under it, all over
// the same intensity.

// The roof that most of the time is compared with.
function mainRoof(times) {
  return times.roofs[times.main_roof];
}

function intensityRange(layers, times) {
  const values = layers.filter((layer) => layer.operations > 0 && layer.intensity > 0).map((layer) => layer.intensity);
  for (const roof of times.roofs) for (const slope of times.slopes) values.push(roof.flops_per_s[0] / slope.bytes_per_s[0]);
  const low = Math.min(...values, 1);
  const high = Math.max(...values, 100);
  return { low: 10 ** Math.floor(Math.log10(low)), high: 10 ** Math.ceil(Math.log10(high * 1.2)),
    title: "Arithmetic intensity (FLOP/B)", text: (v) => (v >= 1e4 ? siTick(v, "") : String(v)) };
}

const roofText = (roof) =>
  `${roof.name.replace(" tensor cores", " tensor").replace(" CUDA cores", " CUDA")} ${si(roof.flops_per_s[0], "FLOP/s")}`;

// Right of the frame where the page is wide, so that names of roofs lie on nothing.
function roofMargin() {
  if (byId("roofline-plot").clientWidth < 760) return 18;
  return Math.ceil(Math.max(...currentTimes().roofs.map((roof) => textWidth(roofText(roof), true)))) + 18;
}

// Moves places of lines of text apart, down from the top.
function movedApart(places, room, lowest) {
  const moved = [];
  for (const place of places) moved.push(Math.max(place, moved.length ? moved.at(-1) + room : -Infinity));
  for (let i = moved.length - 1, limit = lowest; i >= 0; --i, limit = moved[i + 1] - room) moved[i] = Math.min(moved[i], limit);
  return moved;
}

function drawRoofs(plot, times, range) {
  const main = mainRoof(times);
  const fastest = times.slopes[0];
  for (const roof of times.roofs) {
    const ridge = roof.flops_per_s[0] / fastest.bytes_per_s[0];
    const begin = Math.max(ridge, range.low);
    const node = line(plot, [[begin, roof.flops_per_s[0]], [range.high, roof.flops_per_s[0]]], { class: roof === main ? "roof main" : "roof" });
    withTip(node, () => [`${roof.name} ${si(roof.flops_per_s[0], "FLOP/s")}`, `${roof.flops_per_s[3]}; ridge with ${fastest.name} at ${significant(ridge)} FLOP/B`]);
    const at = plot.y(roof.flops_per_s[0]);
    plot.segments.push([plot.x(begin), at, plot.right, at]);
  }
  const highest = Math.max(...times.roofs.map((roof) => roof.flops_per_s[0]));
  times.slopes.forEach((slope, i) => {
    const rate = slope.bytes_per_s[0];
    const begin = Math.max(range.low, plot.y.low / rate);
    const end = Math.min(range.high, highest / rate);
    const node = line(plot, [[begin, rate * begin], [end, rate * end]], { class: i === 0 ? "roof main" : "roof dashed" });
    withTip(node, () => [`${slope.name} ${si(rate, "B/s")}`, slope.bytes_per_s[3]]);
    plot.segments.push([plot.x(begin), plot.y(rate * begin), plot.x(end), plot.y(rate * end)]);
  });
}

function nameRoofs(plot, times) {
  const named = times.roofs.map((roof) => ({ text: roofText(roof), at: plot.y(roof.flops_per_s[0]), isMain: roof === mainRoof(times) }))
    .sort((a, b) => a.at - b.at);
  if (roofMargin() > 100) {
    const places = movedApart(named.map((name) => name.at), 15, plot.bottom - 4);
    named.forEach((name, i) => {
      plot.names.append(svgElement("line", { class: "leader", x1: plot.right, y1: name.at, x2: plot.right + 10, y2: places[i] }));
      plot.names.append(svgElement("text", { class: name.isMain ? "strong" : "faint", x: plot.right + 13, y: places[i] + 4 }, name.text));
    });
  } else {
    // Over the right ends, on no bubble; of two that would touch, the main one or the faster.
    for (const name of [...named].sort((a, b) => b.isMain - a.isMain)) {
      const box = [plot.right - textWidth(name.text, name.isMain) - 6, name.at - 16, plot.right - 3, name.at - 1];
      if (box[1] < plot.top || plot.taken.some((other) => meet(box, other)) || plot.discs.some((disc) => touches(disc, box))) continue;
      plot.taken.push(box);
      plot.names.append(svgElement("text", { class: name.isMain ? "strong" : "faint", x: plot.right - 5, y: name.at - 4, "text-anchor": "end" }, name.text));
    }
  }
}

// Along the slopes, where no bubble and no other name is in the way: above the first, below others.
function nameSlopes(plot, times, range) {
  times.slopes.forEach((slope, i) => {
    const rate = slope.bytes_per_s[0];
    const text = `${slope.name} ${si(rate, "B/s")}`;
    const begin = Math.max(range.low, plot.y.low / rate);
    const end = Math.min(range.high, mainRoof(times).flops_per_s[0] / rate);
    if (!(end > begin)) return;
    const [x, y, u, v] = [plot.x(begin), plot.y(rate * begin), plot.x(end), plot.y(rate * end)];
    const length = Math.hypot(u - x, v - y);
    const [ax, ay] = [(u - x) / length, (v - y) / length];
    const width = textWidth(text, i === 0);
    const offset = i === 0 ? -6 : 15; // of the baseline
    const middle = i === 0 ? -10 : 11;
    const boxes = (from) => {
      const found = [];
      for (let d = 0; d <= width; d += 6) {
        const [cx, cy] = [x + ax * (from + d) - ay * middle, y + ay * (from + d) + ax * middle];
        found.push([cx - 6, cy - 7, cx + 6, cy + 7]);
      }
      return found;
    };
    const inside = (box) => box[0] > plot.left && box[2] < plot.right && box[1] > plot.top && box[3] < plot.bottom;
    const isFree = (each) => each.every((box) => inside(box) && !plot.taken.some((other) => meet(box, other)) &&
      !plot.discs.some((disc) => touches(disc, box)));
    for (let from = Math.min(10, length); from + width < length; from += 8) {
      const taken = boxes(from);
      if (!isFree(taken)) continue;
      plot.taken.push(...taken);
      const [px, py] = [x + ax * from - ay * offset, y + ay * from + ax * offset];
      plot.names.append(svgElement("text", { class: i === 0 ? "strong" : "faint", x: px.toFixed(1), y: py.toFixed(1),
        transform: `rotate(${(Math.atan2(ay, ax) * 180 / Math.PI).toFixed(1)} ${px.toFixed(1)} ${py.toFixed(1)})` }, text));
      return;
    }
  });
}

// In the lower corners of the zones, where they fit.
function nameZones(plot, ridge) {
  const at = Math.max(plot.left, Math.min(plot.right, plot.x(ridge)));
  for (const [text, right] of [["memory-bound", at], ["compute-bound", plot.right]]) {
    const width = textWidth(text);
    const left = right - width - 8;
    const box = [left, plot.bottom - 20, right - 6, plot.bottom - 4];
    if (left < (text === "memory-bound" ? plot.left : at) + 4 || plot.discs.some((disc) => touches(disc, box))) continue;
    if (plot.segments.some((segment) => enters(segment, box)) || plot.taken.some((other) => meet(box, other))) continue;
    plot.taken.push(box);
    plot.names.append(svgElement("text", { class: "faint zone-name", x: left, y: plot.bottom - 8 }, text));
  }
}

const isPlaced = (layer) => layer.operations > 0 && layer.intensity > 0 && layer.time > 0;

// Returns {layer, mark} of those drawn, the longest first.
function drawBubbles(plot, layers) {
  const whole = (plot.right - plot.left) * (plot.bottom - plot.top) * 0.035;
  const drawn = [];
  for (const layer of layers.filter(isPlaced).sort((a, b) => b.time - a.time)) {
    const found = isFound(layer);
    const [px, py] = [plot.x(layer.intensity), plot.y(layer.operations / layer.time)];
    const area = Math.max(14, whole * layer.share);
    const mark = svgElement("path", { d: shapePath(shapeOf(layer.op), px, py, area),
      class: `mark ${layer.bound}${found ? "" : " dim"}`, "data-layer": layer.index });
    withTip(mark, () => layerTip(layer));
    mark.addEventListener("click", () => isolate({ layer: state.layer === layer.index ? null : layer.index }));
    plot.marks.append(mark);
    drawn.push({ layer, mark, radius: Math.sqrt(area / Math.PI) });
    plot.discs.push([px, py, Math.sqrt(area / Math.PI)]);
    if (layer.measured > 0) {
      const measured = plot.y(layer.operations / layer.measured);
      plot.marks.append(svgElement("line", { class: `apart${found ? "" : " dim"}`, x1: px, x2: px, y1: py, y2: measured }));
      const dot = svgElement("circle", { class: `measured${found ? "" : " dim"}`, cx: px, cy: measured, r: 3.5, "data-measured": layer.index });
      withTip(dot, () => [layer.name, `${seconds(layer.measured)} measured, ${seconds(layer.time)} predicted`]);
      plot.marks.append(dot);
      plot.discs.push([px, measured, 4]);
    }
  }
  return drawn;
}

// Layers that repeat and lie close together share a label; those with the most time come first.
function nameLayers(plot, drawn) {
  const groups = new Map();
  const step = (value) => Math.round(4 * Math.log10(value));
  for (const { layer, radius } of drawn) {
    if (!isFound(layer)) continue;
    const key = `${withoutBlockNumber(layer.name)} ${layer.bound} ${step(layer.intensity)} ${step(layer.operations / layer.time)}`;
    const group = groups.get(key) ?? { layer, radius, count: 0, share: 0 };
    group.count += 1;
    group.share += layer.share;
    groups.set(key, group);
  }
  const most = plot.width < 600 ? 3 : 7;
  const sorted = [...groups.values()].sort((a, b) => b.share - a.share).filter((group, i) => i === 0 || group.share >= 0.01);
  for (const group of sorted.slice(0, most)) {
    const name = shortLayerName(group.count > 1 ? withoutBlockNumber(group.layer.name) : group.layer.name, plot.width < 600 ? 18 : 34);
    const text = `${name}${group.count > 1 ? `, ${group.count} layers` : ""}: ${percent(group.share)}`;
    placeLabel(plot, text, plot.x(group.layer.intensity), plot.y(group.layer.operations / group.layer.time), group.radius + 3);
  }
}

function drawRooflineLegend(plot, layers) {
  for (const bound of data.bounds) {
    if (!layers.some((layer) => layer.bound === bound)) continue;
    legendEntry(plot, svgElement("rect", { class: `mark ${bound}`, x: 5, y: 2, width: 11, height: 11 }),
      `bound by ${boundName(bound)}`, () => isolate({ bound: state.bound === bound ? null : bound, layer: null }), state.bound === bound);
  }
  for (const op of data.ops) {
    if (!layers.some((layer) => layer.op === op)) continue;
    legendEntry(plot, svgElement("path", { class: "mark shape", d: shapePath(shapeOf(op), 11, 7, 90) }), op,
      () => isolate({ op: state.op === op ? null : op, layer: null }), state.op === op);
  }
  if (layers.some((layer) => layer.measured !== null)) {
    legendEntry(plot, svgElement("circle", { class: "measured", cx: 11, cy: 7, r: 3.5 }), "measured");
  }
  const times = currentTimes();
  legendEntry(plot, svgElement("path", { class: "roof main", d: "M1,7H21" }), "main roof and bandwidth");
  if (times.roofs.length > 1) legendEntry(plot, svgElement("path", { class: "roof", d: "M1,7H21" }), "other roofs");
  if (times.slopes.length > 1) legendEntry(plot, svgElement("path", { class: "roof dashed", d: "M1,7H21" }), "other bandwidths");
}

function drawRoofline() {
  const layers = shownLayers();
  const times = currentTimes();
  const mode = currentMode().name;
  byId("verdict").textContent = unbroken(`${times.mode_text.startsWith(mode) ? "" : `${mode}: `}${times.mode_text}. ` +
    `${seconds(times.time_s[0])} in ${currentLayers().dtype}; ${times.verdict}.`);
  const range = intensityRange(layers, times);
  const rates = layers.filter((layer) => layer.operations > 0 && layer.time > 0).flatMap((layer) =>
    [layer.operations / layer.time, ...(layer.measured > 0 ? [layer.operations / layer.measured] : [])]);
  const highest = Math.max(...times.roofs.map((roof) => roof.flops_per_s[0]));
  const lowest = Math.max(Math.min(...rates, highest / 100) / 2, highest / 1e7);
  const plot = makePlot(byId("roofline-plot"), { id: "roofline-figure", height: 480, margin: { right: roofMargin() },
    title: `Time roofline: ${currentRun().network}, batch ${currentRun().batch}, ${currentLayers().dtype}, ${currentMode().name}`,
    description: `Layers over intensity and rate on logarithmic axes; area is time, shape the kind of operation. ${times.verdict}.`,
    x: range, y: { low: lowest, high: highest * 2.5, title: "Rate (FLOP/s)", text: (v) => siTick(v, "") } });
  const ridge = mainRoof(times).flops_per_s[0] / times.slopes[0].bytes_per_s[0];
  polygonOf(plot, [[range.low, plot.y.low], [ridge, plot.y.low], [ridge, mainRoof(times).flops_per_s[0]],
    [range.low, times.slopes[0].bytes_per_s[0] * range.low]], { class: "zone memory" });
  polygonOf(plot, [[ridge, plot.y.low], [range.high, plot.y.low], [range.high, mainRoof(times).flops_per_s[0]],
    [ridge, mainRoof(times).flops_per_s[0]]], { class: "zone compute" });
  drawRoofs(plot, times, range);
  const drawn = drawBubbles(plot, layers);
  nameRoofs(plot, times);
  nameZones(plot, ridge);
  nameSlopes(plot, times, range);
  nameLayers(plot, drawn);
  drawRooflineLegend(plot, layers);
  walkThroughLayers(plot, drawn);
  const shown = drawn.reduce((sum, { layer }) => sum + layer.share, 0);
  plot.legend.append(element("p", { class: "caption" },
    `Area = time, predicted. ${shown < 0.995 ? `${percent(1 - shown)} of the time is in layers without arithmetic and in overheads, which have no place here. ` : ""}` +
    "Click a layer, a colour or a shape to isolate it; arrow keys walk through the layers."));
  drawEnergy(layers, times, range);
}

function walkThroughLayers(plot, drawn) {
  walkWithKeys(plot, drawn.map(({ layer, mark }) => ({ mark, lines: () => layerTip(layer),
    enter: () => isolate({ layer: state.layer === layer.index ? null : layer.index }) })));
}

function timePerFlop(terms, intensity) {
  const free = Math.max(1 / terms.flops_per_s, 1 / (terms.bytes_per_s * intensity));
  if (terms.cap_w === null) return free;
  return Math.max(free, (terms.joule_per_flop + terms.joule_per_byte / intensity) / (terms.cap_w - terms.constant_w));
}

function energyPerFlop(terms, intensity) {
  return terms.joule_per_flop + terms.joule_per_byte / intensity + terms.constant_w * timePerFlop(terms, intensity);
}

function drawEnergy(layers, times, range) {
  const terms = times.energy;
  if (!terms) {
    byId("energy-plot").replaceChildren(element("p", {}, "No power is known for this machine, so there is no energy roofline."));
    byId("power-plot").replaceChildren();
    return;
  }
  const curve = [];
  for (let i = 0; i <= 160; ++i) {
    const at = range.low * (range.high / range.low) ** (i / 160);
    curve.push([at, energyPerFlop(terms, at), timePerFlop(terms, at)]);
  }
  const placed = layers.filter((layer) => layer.operations > 0 && layer.intensity > 0 && layer.energy > 0);
  const mark = (plot, layer, value) => {
    const node = svgElement("path", { d: shapePath(shapeOf(layer.op), plot.x(layer.intensity), plot.y(value), 34),
      class: `mark ${layer.bound}${isFound(layer) ? "" : " dim"}`, "data-layer": layer.index });
    withTip(node, () => [...layerTip(layer), `${si(layer.operations / layer.energy, "FLOP/J")}, ${watts(layer.energy / layer.time)}`]);
    node.addEventListener("click", () => isolate({ layer: state.layer === layer.index ? null : layer.index }));
    plot.marks.append(node);
    return { layer, mark: node };
  };
  const efficiencies = placed.map((layer) => layer.operations / layer.energy);
  const best = Math.max(...curve.map((point) => 1 / point[1]));
  const energy = makePlot(byId("energy-plot"), { id: "energy-figure", height: 280, margin: { right: roofMargin() },
    title: `Energy roofline of ${terms.roof}`, description: "FLOP per joule that the machine can reach at each intensity, and what each layer reaches.",
    x: range, y: { low: Math.max(Math.min(...efficiencies, best / 100) / 1.6, best / 1e5), high: best * 2,
      title: "Efficiency (FLOP/J)", text: (v) => siTick(v, "") } });
  line(energy, curve.map(([x, e]) => [x, 1 / e]), { class: "roof main" });
  walkThroughLayers(energy, placed.map((layer) => mark(energy, layer, layer.operations / layer.energy)));
  const caption = () => energy.legend.append(element("p", { class: "caption" },
    `${si(terms.joule_per_flop, "J/FLOP")} (${terms.sources.joule_per_flop}), ${si(terms.joule_per_byte, "J/B")} of DRAM ` +
    `(${terms.sources.joule_per_byte}), ${watts(terms.constant_w)} constant (${terms.sources.constant_w}). Layers: predicted.`));
  const powers = placed.map((layer) => layer.energy / layer.time).concat(curve.map(([, e, t]) => e / t));
  const power = makePlot(byId("power-plot"), { id: "power-figure", height: 230, margin: { right: roofMargin() },
    title: "Power at each intensity", description: "Watts while a kernel runs at full rate at each intensity, and those of each layer.",
    x: range, y: { log: false, low: 0, high: Math.max(...powers) * 1.12, title: "Power (W)", text: String } });
  line(power, curve.map(([x, e, t]) => [x, e / t]), { class: "roof main" });
  walkThroughLayers(power, placed.map((layer) => mark(power, layer, layer.energy / layer.time)));
  for (const plot of [energy, power]) legendEntry(plot, svgElement("path", { class: "roof main", d: "M1,7H21" }), "the machine at full rate");
  if (terms.cap_w !== null) {
    line(power, [[range.low, terms.cap_w], [range.high, terms.cap_w]], { class: "roof dashed" });
    legendEntry(power, svgElement("path", { class: "roof dashed", d: "M1,7H21" }), `power cap, ${watts(terms.cap_w)}`);
  }
  caption();
}

parts.push(drawRoofline);
