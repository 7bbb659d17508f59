// The time by kind of operation and by layer as bars, and the table of all layers.

function drawKinds() {
  const layers = shownLayers();
  const total = currentTimes().time_s[0];
  const kinds = data.ops.map((op) => ({ name: op, layers: layers.filter((layer) => layer.op === op) }))
    .map((kind) => ({ ...kind, time: kind.layers.reduce((sum, layer) => sum + layer.time, 0) }))
    .filter((kind) => kind.time > 0);
  for (const [name, time] of currentTimes().overheads) kinds.push({ name, layers: [], time });
  kinds.sort((a, b) => b.time - a.time);
  const longest = kinds[0].time;
  const most = byId("kinds-plot").clientWidth < 600 ? 18 : 44;
  const width = Math.max(...kinds.map((kind) => textWidth(elide(kind.name, most))));
  const plot = makePlot(byId("kinds-plot"), { id: "kinds-figure", height: 64 + 26 * kinds.length,
    margin: { left: Math.ceil(width) + 18 }, title: "Time by kind of operation, coloured by bound",
    description: kinds.map((kind) => `${kind.name} ${percent(kind.time / total)}`).join(", "),
    x: { log: false, low: 0, high: longest * 1.09, title: "Time (predicted)", text: (v) => (v === 0 ? "0" : siTick(v, "s")) },
    y: { log: false, low: 0, high: kinds.length, hidden: true } });
  kinds.forEach((kind, i) => {
    const top = plot.top + (i + 0.16) * (plot.bottom - plot.top) / kinds.length;
    const height = 0.68 * (plot.bottom - plot.top) / kinds.length;
    let begin = 0;
    const pieces = kind.layers.length ? data.bounds.map((bound) => [bound,
      kind.layers.filter((layer) => layer.bound === bound).reduce((sum, layer) => sum + layer.time, 0)]) : [["overhead", kind.time]];
    for (const [bound, time] of pieces) {
      if (!(time > 0)) continue;
      const bar = svgElement("rect", { class: `mark ${bound}${state.op !== null && state.op !== kind.name ? " dim" : ""}`,
        x: plot.x(begin), y: top, width: plot.x(begin + time) - plot.x(begin), height });
      withTip(bar, () => [kind.name, bound === "overhead" ? "overhead" : `bound by ${boundName(bound)}`, `${seconds(time)}, ${percent(time / total)} of the time; predicted`]);
      bar.addEventListener("click", () => kind.layers.length && isolate({ op: state.op === kind.name ? null : kind.name, layer: null }));
      plot.marks.append(bar);
      begin += time;
    }
    plot.names.append(svgElement("text", { x: plot.left - 8, y: top + height / 2 + 4, "text-anchor": "end" }, elide(kind.name, most)));
    plot.names.append(svgElement("text", { x: plot.x(kind.time) + 6, y: top + height / 2 + 4 }, percent(kind.time / total)));
  });
}

function drawBars() {
  const layers = shownLayers();
  const highest = Math.max(...layers.map((layer) => Math.max(layer.time, layer.measured ?? 0)));
  const plot = makePlot(byId("bars-plot"), { id: "bars-figure", height: 230, title: "Time by layer, in the order of execution",
    description: `${layers.length} layers; the longest takes ${seconds(highest)}.`,
    x: { log: false, low: 0.5, high: layers.length + 0.5, title: "Number of the layer", text: (v) => (Number.isInteger(v) ? String(v) : "") },
    y: { log: false, low: 0, high: highest * 1.06, title: "Time", text: (v) => (v === 0 ? "0" : siTick(v, "s")) } });
  const drawn = [];
  for (const layer of layers) {
    const width = plot.x(1) - plot.x(0);
    const bar = svgElement("rect", { class: `mark ${layer.bound}${isFound(layer) ? "" : " dim"}`, "data-layer": layer.index,
      x: plot.x(layer.index + 0.5) + width * 0.08, width: width * 0.84, y: plot.y(layer.time), height: plot.bottom - plot.y(layer.time) });
    withTip(bar, () => layerTip(layer));
    bar.addEventListener("click", () => isolate({ layer: state.layer === layer.index ? null : layer.index }));
    plot.marks.append(bar);
    drawn.push({ layer, mark: bar });
    if (layer.measured !== null) {
      plot.marks.append(svgElement("circle", { class: "measured", cx: plot.x(layer.index + 1), cy: plot.y(layer.measured), r: 2.6 }));
    }
  }
  walkThroughLayers(plot, drawn);
  for (const bound of data.bounds) {
    if (layers.some((layer) => layer.bound === bound)) {
      legendEntry(plot, svgElement("rect", { class: `mark ${bound}`, x: 5, y: 2, width: 11, height: 11 }), `predicted, bound by ${boundName(bound)}`);
    }
  }
  if (layers.some((layer) => layer.measured !== null)) {
    legendEntry(plot, svgElement("circle", { class: "measured", cx: 11, cy: 7, r: 3.5 }), "measured");
  }
}

// With its unit in each row of the page, and in the title of the file.
function quantity(title, unit, value) {
  return { title, numeric: true, value, text: (row) => si(value(row), unit), csv: [{ title: `${title} (${unit})`, value }] };
}

const layerColumns = [
  { title: "layer", value: (row) => row.name },
  { title: "#", numeric: true, value: (row) => row.index + 1 },
  { title: "op", value: (row) => row.op },
  { title: "bound", value: (row) => row.bound, text: (row) => boundName(row.bound) },
  quantity("time", "s", (row) => row.time),
  { title: "share", numeric: true, value: (row) => row.share, text: (row) => percent(row.share) },
  quantity("measured", "s", (row) => row.measured),
  quantity("energy", "J", (row) => row.energy),
  { title: "FLOP", numeric: true, value: (row) => row.operations, text: (row) => si(row.operations, "") },
  { title: "bytes", numeric: true, value: (row) => row.bytes, text: (row) => si(row.bytes, "B") },
  { title: "FLOP/B", numeric: true, value: (row) => row.intensity, text: (row) => (row.intensity === null ? NONE : significant(row.intensity)) },
  { title: "of roof", numeric: true, value: (row) => row.roof, text: (row) => (row.roof === null ? NONE : percent(row.roof)) },
];

let fillLayers = null;
let fillsMeasured = null;

function drawLayers() {
  const measured = shownLayers().some((layer) => layer.measured !== null);
  if (fillsMeasured !== measured) {
    fillsMeasured = measured;
    fillLayers = makeTable(byId("layers-table"), layerColumns.filter((column) => measured || column.title !== "measured"),
      { id: "layer-rows", caption: "Layers: operations and bytes counted, times and energies predicted", most: 25,
        isFound, isChosen: (row) => row.index === state.layer, sort: { column: 4, up: false },
        onRow: (row) => isolate({ layer: state.layer === row.index ? null : row.index }) });
  }
  fillLayers(shownLayers());
}

parts.push(drawKinds, drawBars, drawLayers);
