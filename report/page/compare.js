// Networks on devices side by side, and what was measured: the rows that a model was fitted to and
// a validation, where they are given.

const compareColumns = [
  { title: "network", value: (row) => row.network },
  { title: "device", value: (row) => row.machine || row.device },
  { title: "mode", value: (row) => row.chosen?.mode ?? row.why },
  { title: "type", value: (row) => row.chosen?.dtype },
  ...[["time", "s", "time_s"], ["energy", "J", "energy_j"], ["power", "W", "power_w"]].map(([title, unit, key]) =>
    estimateColumn(title, unit, (row) => row.chosen?.[key])),
  { title: "bound", value: (row) => row.chosen?.bound, text: (row) => (row.chosen ? boundName(row.chosen.bound) : NONE) },
];

function drawCompare() {
  const rows = [...data.runs, ...data.failures];
  byId("compare").hidden = rows.length < 2;
  if (rows.length < 2) return;
  drawPairs();
  makeTable(byId("compare-table"), compareColumns, { id: "compare-rows", caption: "Each pair in its best mode; predicted",
    isChosen: (row) => row === currentRun(), onRow: (row) => { if (row.chosen) selectRun(data.runs.indexOf(row)); } })(rows);
}

const PAIR_INKS = 6; // classes pair-0 to pair-5
const PAIR_SHAPES = ["circle", "square", "triangle", "down", "pentagon", "hexagon"];

// Energy and time per sample of every pair: its stock modes, and the choice with its intervals.
function drawPairs() {
  const type = (run) => run.types.findIndex((each) => each.dtype === run.chosen.dtype);
  const pairs = data.runs.filter((run) => run.chosen.energy_j && type(run) >= 0);
  if (pairs.length < 2) return byId("compare-plot").replaceChildren();
  const perSample = (estimate, run) => estimate.slice(0, 3).map((value) => value / run.batch);
  const places = pairs.map((run) => ({ run,
    time: perSample(run.chosen.time_s, run), energy: perSample(run.chosen.energy_j, run),
    stock: run.modes.filter((mode) => mode.stock && mode.runs[type(run)].energy_j)
      .map((mode) => ({ mode, time: mode.runs[type(run)].time_s[0] / run.batch, energy: mode.runs[type(run)].energy_j[0] / run.batch })) }));
  const [lowX, highX] = extent(places.flatMap((pair) => [...pair.time, ...pair.stock.map((each) => each.time)]));
  const [lowY, highY] = extent(places.flatMap((pair) => [...pair.energy, ...pair.stock.map((each) => each.energy)]));
  const plot = makePlot(byId("compare-plot"), { id: "compare-figure", height: 380, title: "Energy and time per sample",
    description: places.map((pair) => `${pair.run.network} on ${pair.run.machine}: ${seconds(pair.time[0])}, ${joules(pair.energy[0])}`).join("; "),
    x: { low: lowX / 1.15, high: highX * 1.15, title: "Time per sample (predicted)", text: (v) => siTick(v, "s") },
    y: { low: lowY / 1.2, high: highY * 1.2, title: "Energy per sample (predicted)", text: (v) => siTick(v, "J") } });
  const walked = [];
  places.forEach((pair, i) => {
    const [ink, shape] = [`pair-${i % PAIR_INKS}`, PAIR_SHAPES[i % PAIR_SHAPES.length]];
    const at = data.runs.indexOf(pair.run);
    const mark = (x, y, area, css, lines) => {
      const node = svgElement("path", { class: css, d: shapePath(shape, plot.x(x), plot.y(y), area) });
      withTip(node, lines);
      node.addEventListener("click", () => selectRun(at));
      plot.marks.append(node);
      return node;
    };
    const name = `${pair.run.network} on ${pair.run.machine}`;
    for (const each of pair.stock) {
      mark(each.time, each.energy, 40, `mark faded ${ink}`, () => [name, `${each.mode.name}: ${seconds(each.time)}, ${joules(each.energy)}`, "stock mode; predicted"]);
    }
    const [x, y] = [plot.x(pair.time[0]), plot.y(pair.energy[0])];
    const bars = [[plot.x(pair.time[1]), y, plot.x(pair.time[2]), y], [x, plot.y(pair.energy[1]), x, plot.y(pair.energy[2])]];
    for (const [x1, y1, x2, y2] of bars) plot.marks.append(svgElement("line", { class: `bar-line ${ink}`, x1, y1, x2, y2 }));
    plot.segments.push(...bars);
    plot.discs.push([x, y, 8]);
    const lines = () => [name, `${pair.run.chosen.mode}: ${seconds(pair.time[0])}, ${joules(pair.energy[0])}`, "its best mode; predicted"];
    walked.push({ mark: mark(pair.time[0], pair.energy[0], 130, `mark ${ink}`, lines), lines, enter: () => selectRun(at) });
    legendEntry(plot, svgElement("path", { class: `mark ${ink}`, d: shapePath(shape, 11, 7, 90) }), elide(name, 60));
  });
  for (const pair of places) placeLabel(plot, pair.run.chosen.mode, plot.x(pair.time[0]), plot.y(pair.energy[0]), 10);
  walkWithKeys(plot, walked);
  plot.legend.append(element("p", { class: "caption" }, "Large: the best mode with 90 % intervals; small: the other stock modes. Click a mark to see that pair."));
  return undefined;
}

function drawAccuracy() {
  const { calibrated } = currentRun();
  const check = data.validation;
  byId("accuracy").hidden = !check && calibrated.length === 0;
  if (byId("accuracy").hidden) return;
  const lines = [];
  if (calibrated.length) lines.push(`The model of this machine was fitted to ${calibrated.length} measured runs.`);
  if (check) {
    lines.push(`${check.rows} measured runs of ${check.file} were predicted: mean error of time ${percent(check.time_mape)}, ` +
      `of power ${percent(check.power_mape)}, of energy ${percent(check.energy_mape)}; ` +
      `${percent(check.coverage)} of the times lie in their 90 % intervals.`);
  }
  byId("accuracy-text").replaceChildren(...lines.map((text) => element("p", {}, text)));
  if (check && check.scored.length) drawScored(check.scored);
  makeTable(byId("accuracy-table"), [
    { title: "network", value: (row) => row.network ?? row.model },
    { title: "mode", value: (row) => row.mode ?? row.point.label },
    { title: "batch", numeric: true, value: (row) => row.batch },
    { title: "type", value: (row) => row.dtype },
    { title: "measured (s)", numeric: true, value: (row) => row.measured_time_s ?? row.time_s, text: (row) => seconds(row.measured_time_s ?? row.time_s) },
    { title: "predicted (s)", numeric: true, value: (row) => row.time_s.value ?? null, text: (row) => seconds(row.time_s.value) },
  ], { id: "accuracy-rows", caption: "Measured runs", most: 25 })([...calibrated, ...(check ? check.scored : [])]);
}

function drawScored(rows) {
  const values = rows.flatMap((row) => [row.measured_time_s, row.time_s.value]);
  const axis = { low: Math.min(...values) / 1.3, high: Math.max(...values) * 1.3, text: seconds };
  const plot = makePlot(byId("accuracy-plot"), { id: "accuracy-figure", height: 380, title: "Predicted against measured time",
    description: `${rows.length} runs; on the line both are equal.`,
    x: { ...axis, title: "Measured" }, y: { ...axis, title: "Predicted" } });
  line(plot, [[axis.low, axis.low], [axis.high, axis.high]], { class: "roof dashed" });
  for (const row of rows) {
    const x = plot.x(row.measured_time_s);
    plot.marks.append(svgElement("line", { class: "whisker", x1: x, x2: x, y1: plot.y(row.time_s.low), y2: plot.y(row.time_s.high) }));
    const dot = svgElement("circle", { class: "measured", cx: x, cy: plot.y(row.time_s.value), r: 3 });
    withTip(dot, () => [`${row.model}, ${row.mode}`, `${seconds(row.measured_time_s)} measured, ${seconds(row.time_s.value)} predicted`]);
    plot.marks.append(dot);
  }
}

parts.push(drawCompare, drawAccuracy);
