// The layers on the time roofline, and the arch of energy and the line of power under it, all over
// the same intensity.

function attainable(times, intensity) {
  const roof = Math.max(...times.roofs.map((each) => each.flops_per_s[0]));
  const slope = Math.max(...times.slopes.map((each) => each.bytes_per_s[0]));
  return Math.min(roof, slope * intensity);
}

// The roof of the shown type, or the fastest: the one that layers are compared with.
function mainRoof(times) {
  const { dtype } = currentLayers();
  return times.roofs.find((roof) => roof.dtype === dtype) || times.roofs[0];
}

function intensityRange(layers, times) {
  const values = layers.filter((layer) => layer.operations > 0 && layer.intensity > 0).map((layer) => layer.intensity);
  for (const roof of times.roofs) for (const slope of times.slopes) values.push(roof.flops_per_s[0] / slope.bytes_per_s[0]);
  const low = Math.min(...values, 1);
  const high = Math.max(...values, 100);
  return { low: 10 ** Math.floor(Math.log10(low)), high: 10 ** Math.ceil(Math.log10(high * 1.2)),
    title: "Arithmetic intensity (FLOP/B)", text: (v) => significant(v, 1) };
}

function drawRoofs(plot, times, range) {
  const main = mainRoof(times);
  const fastest = times.slopes[0];
  // Names of roofs stand above their right ends; two that would touch share the space by leaving
  // the slower one to the tooltip.
  let lastName = Infinity;
  for (const roof of times.roofs) {
    const ridge = roof.flops_per_s[0] / fastest.bytes_per_s[0];
    const isMain = roof === main;
    const node = line(plot, [[Math.max(ridge, range.low), roof.flops_per_s[0]], [range.high, roof.flops_per_s[0]]],
      { class: isMain ? "roof main" : "roof" });
    const text = `${roof.name} ${si(roof.flops_per_s[0], "FLOP/s")}`;
    withTip(node, () => [text, `${roof.flops_per_s[3]}; ridge with ${fastest.name} at ${significant(ridge)} FLOP/B`]);
    const at = plot.y(roof.flops_per_s[0]);
    if (at > plot.top + 10 && (lastName === Infinity || at - lastName > 14)) {
      const width = 6.2 * text.length;
      plot.taken.push([plot.right - width - 6, at - 15, plot.right, at - 1]);
      plot.names.append(svgElement("text", { class: isMain ? "strong" : "faint", x: plot.right - 5, y: at - 4, "text-anchor": "end" }, text));
      lastName = at;
    }
  }
  times.slopes.forEach((slope, i) => {
    const top = main.flops_per_s[0];
    const end = Math.min(range.high, Math.max(...times.roofs.map((r) => r.flops_per_s[0])) / slope.bytes_per_s[0]);
    const node = line(plot, [[range.low, slope.bytes_per_s[0] * range.low], [end, slope.bytes_per_s[0] * end]],
      { class: i === 0 ? "roof main" : "roof dashed" });
    const text = `${slope.name} ${si(slope.bytes_per_s[0], "B/s")}`;
    withTip(node, () => [text, slope.bytes_per_s[3]]);
    const angle = -Math.atan2(plot.y(slope.bytes_per_s[0] * range.low) - plot.y(slope.bytes_per_s[0] * range.low * 10),
      plot.x(range.low * 10) - plot.x(range.low)) * 180 / Math.PI;
    // A third of the way up what can be seen of the slope.
    const bottom = Math.max(range.low, plot.y.low / slope.bytes_per_s[0]);
    const ridge = top / slope.bytes_per_s[0];
    if (!(ridge > bottom * 1.5)) return;
    const at = bottom * (ridge / bottom) ** (i === 0 ? 0.3 : 0.62);
    const [px, py] = [plot.x(at), plot.y(slope.bytes_per_s[0] * at)];
    plot.names.append(svgElement("text", { class: i === 0 ? "strong" : "faint", x: px, y: py + (i === 0 ? -6 : 15),
      transform: `rotate(${angle.toFixed(1)} ${px.toFixed(1)} ${py.toFixed(1)})` }, text));
  });
}

function drawBubbles(plot, layers) {
  const placed = layers.filter((layer) => layer.operations > 0 && layer.intensity > 0 && layer.time > 0);
  const whole = (plot.right - plot.left) * (plot.bottom - plot.top) * 0.035;
  const longest = [...placed].sort((a, b) => b.time - a.time);
  for (const layer of longest) {
    const found = isFound(layer);
    const [px, py] = [plot.x(layer.intensity), plot.y(layer.operations / layer.time)];
    const area = Math.max(14, whole * layer.share);
    const mark = svgElement("path", { d: shapePath(shapeOf(layer.op), px, py, area),
      class: `mark ${layer.bound}${found ? "" : " dim"}`, "data-layer": layer.index });
    withTip(mark, () => layerTip(layer));
    mark.addEventListener("click", () => isolate({ layer: state.layer === layer.index ? null : layer.index }));
    plot.marks.append(mark);
    if (layer.measured > 0) {
      const measured = plot.y(layer.operations / layer.measured);
      plot.marks.append(svgElement("line", { class: `whisker${found ? "" : " dim"}`, x1: px, x2: px, y1: py, y2: measured }));
      const dot = svgElement("circle", { class: `measured${found ? "" : " dim"}`, cx: px, cy: measured, r: 3.5, "data-measured": layer.index });
      withTip(dot, () => [layer.name, `${seconds(layer.measured)} measured, ${seconds(layer.time)} predicted`]);
      plot.marks.append(dot);
    }
  }
  // Equal layers get one label; the longest come first.
  const said = new Set();
  for (const layer of longest.filter(isFound).slice(0, 40)) {
    if (said.size >= 8) break;
    const text = `${elide(layer.name, 26)} (${percent(layer.share)})`;
    const kind = `${Math.round(20 * Math.log10(layer.intensity))} ${Math.round(20 * Math.log10(layer.operations / layer.time))}`;
    if (said.has(kind)) continue;
    const radius = Math.sqrt(Math.max(14, whole * layer.share) / Math.PI);
    if (placeLabel(plot, text, plot.x(layer.intensity), plot.y(layer.operations / layer.time), radius + 4)) said.add(kind);
  }
  return placed;
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
}

// Arrow keys walk through the layers by time; Enter isolates one, Escape shows all.
function walkWithKeys(plot, layers) {
  const order = [...layers].sort((a, b) => b.time - a.time);
  let at = -1;
  plot.svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") isolate({ layer: null });
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      at = (at + step + order.length) % order.length;
      const mark = plot.svg.querySelector(`[data-layer="${order[at].index}"]`);
      if (!mark) return;
      const box = mark.getBoundingClientRect();
      showTip(layerTip(order[at]), box.right, box.top);
      byId("found").textContent = layerTip(order[at]).slice(0, 3).join(", ");
    } else if (event.key === "Enter" && at >= 0) {
      isolate({ layer: order[at].index });
    }
  });
  plot.svg.addEventListener("blur", hideTip);
}

function drawRoofline() {
  const layers = shownLayers();
  const times = currentTimes();
  byId("verdict").textContent = `${currentMode().name}: ${times.mode_text}. ` +
    `${seconds(times.time_s[0])} in ${currentLayers().dtype}; ${times.verdict}.`;
  const range = intensityRange(layers, times);
  const rates = layers.filter((layer) => layer.operations > 0 && layer.time > 0).flatMap((layer) =>
    [layer.operations / layer.time, ...(layer.measured > 0 ? [layer.operations / layer.measured] : [])]);
  const highest = Math.max(...times.roofs.map((roof) => roof.flops_per_s[0]));
  const lowest = Math.max(Math.min(...rates, highest / 100) / 2, highest / 1e7);
  const plot = makePlot(byId("roofline-plot"), { id: "roofline-figure", height: 460,
    title: `Time roofline: ${currentRun().network}, batch ${currentRun().batch}, ${currentLayers().dtype}, ${currentMode().name}`,
    description: `Layers over intensity and rate on logarithmic axes; area is time, shape the kind of operation. ${times.verdict}.`,
    x: range, y: { low: lowest, high: highest * 2.5, title: "Rate (FLOP/s)", text: (v) => si(v, "", 1).trim() } });
  const ridge = mainRoof(times).flops_per_s[0] / times.slopes[0].bytes_per_s[0];
  polygonOf(plot, [[range.low, plot.y.low], [ridge, plot.y.low], [ridge, mainRoof(times).flops_per_s[0]],
    [range.low, times.slopes[0].bytes_per_s[0] * range.low]], { class: "zone memory" });
  polygonOf(plot, [[ridge, plot.y.low], [range.high, plot.y.low], [range.high, mainRoof(times).flops_per_s[0]],
    [ridge, mainRoof(times).flops_per_s[0]]], { class: "zone compute" });
  drawRoofs(plot, times, range);
  const placed = drawBubbles(plot, layers);
  drawRooflineLegend(plot, layers);
  walkWithKeys(plot, placed);
  const shown = placed.reduce((sum, layer) => sum + layer.share, 0);
  plot.legend.append(element("p", { class: "caption" },
    `Area = time, predicted. ${shown < 0.995 ? `${percent(1 - shown)} of the time is in layers without arithmetic and in overheads, which have no place here. ` : ""}` +
    "Click a layer, a colour or a shape to isolate it; arrow keys walk through the layers."));
  drawEnergy(layers, times, range);
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
  };
  const efficiencies = placed.map((layer) => layer.operations / layer.energy);
  const best = Math.max(...curve.map((point) => 1 / point[1]));
  const energy = makePlot(byId("energy-plot"), { id: "energy-figure", height: 280,
    title: `Energy roofline of ${terms.roof}`, description: "FLOP per joule that the machine can reach at each intensity, and what each layer reaches.",
    x: range, y: { low: Math.max(Math.min(...efficiencies, best / 100) / 1.6, best / 1e5), high: best * 2,
      title: "Efficiency (FLOP/J)", text: (v) => si(v, "", 1).trim() } });
  line(energy, curve.map(([x, e]) => [x, 1 / e]), { class: "roof main" });
  for (const layer of placed) mark(energy, layer, layer.operations / layer.energy);
  energy.legend.append(element("p", { class: "caption" },
    `${si(terms.joule_per_flop, "J/FLOP")} (${terms.sources.joule_per_flop}), ${si(terms.joule_per_byte, "J/B")} of DRAM ` +
    `(${terms.sources.joule_per_byte}), ${watts(terms.constant_w)} constant (${terms.sources.constant_w}). Layers: predicted.`));
  const powers = placed.map((layer) => layer.energy / layer.time).concat(curve.map(([, e, t]) => e / t));
  const power = makePlot(byId("power-plot"), { id: "power-figure", height: 230,
    title: "Power at each intensity", description: "Watts while a kernel runs at full rate at each intensity, and those of each layer.",
    x: range, y: { log: false, low: 0, high: Math.max(...powers) * 1.12, title: "Power (W)", text: (v) => significant(v, 3) } });
  line(power, curve.map(([x, e, t]) => [x, e / t]), { class: "roof main" });
  if (terms.cap_w !== null) line(power, [[range.low, terms.cap_w], [range.high, terms.cap_w]], { class: "roof dashed" });
  for (const layer of placed) mark(power, layer, layer.energy / layer.time);
}

parts.push(drawRoofline);
