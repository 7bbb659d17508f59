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
    lines.push(`${check.rows} measured runs of ${check.file.split("/").pop()} were predicted: mean error of time ${percent(check.time_mape)}, ` +
      `of power ${percent(check.power_mape)}, of energy ${percent(check.energy_mape)}; ` +
      `${percent(check.coverage)} of the times lie in their 90 % intervals.`);
  }
  byId("accuracy-text").replaceChildren(...lines.map((text) => element("p", {}, text)));
  byId("accuracy-plot").replaceChildren();
  if (check) for (const quantity of SCORED) drawScored(check.scored, quantity);
  const scored = check ? check.scored : [];
  const rows = [...calibrated.map((row) => ({ ...row, role: "fitted to", device: currentRun().machine, model: row.network, mode: row.point.label || "custom",
    measured_time_s: row.time_s, time_s: null, measured_power_w: row.power_w, power_w: null })), ...scored.map((row) => ({ ...row, role: "predicted" }))];
  makeTable(byId("accuracy-table"), [
    { title: "network", value: (row) => row.model },
    { title: "device", value: (row) => row.device },
    { title: "mode", value: (row) => row.mode },
    { title: "batch", numeric: true, value: (row) => row.batch },
    { title: "type", value: (row) => row.dtype },
    { title: "role", value: (row) => row.role },
    quantity("measured time", "s", (row) => row.measured_time_s),
    estimateColumn("predicted time", "s", (row) => triple(row.time_s)),
    quantity("measured power", "W", (row) => row.measured_power_w),
    estimateColumn("predicted power", "W", (row) => triple(row.power_w)),
  ], { id: "accuracy-rows", caption: "Measured runs", most: 25 })(rows);
}

const triple = (estimate) => (estimate ? [estimate.value, estimate.low, estimate.high] : null);

const SCORED = [["time", "s", "time_s"], ["power", "W", "power_w"], ["energy", "J", "energy_j"]];

function drawScored(rows, [title, unit, key]) {
  const pairs = rows.map((row) => ({ row, measured: row[`measured_${key}`], predicted: triple(row[key]) }))
    .filter((pair) => pair.measured > 0 && pair.predicted && pair.predicted[1] > 0);
  if (pairs.length === 0) return;
  const [low, high] = extent(pairs.flatMap((pair) => [pair.measured, ...pair.predicted]));
  const axis = { low: low / 1.15, high: high * 1.15, text: (v) => siTick(v, unit) };
  const host = element("div");
  byId("accuracy-plot").append(host);
  const plot = makePlot(host, { id: `accuracy-${title}`, height: 380, title: `Predicted against measured ${title}`,
    description: `${pairs.length} runs; on the line both are equal.`,
    x: { ...axis, title: "Measured" }, y: { ...axis, title: "Predicted" } });
  line(plot, [[axis.low, axis.low], [axis.high, axis.high]], { class: "roof dashed" });
  const walked = [];
  for (const { row, measured, predicted } of pairs) {
    const x = plot.x(measured);
    plot.marks.append(svgElement("line", { class: "whisker faded", x1: x, x2: x, y1: plot.y(predicted[1]), y2: plot.y(predicted[2]) }));
    const dot = svgElement("circle", { class: "measured", cx: x, cy: plot.y(predicted[0]), r: 3 });
    const lines = () => [`${row.model}, ${row.device}, ${row.mode}`, `${si(measured, unit)} measured, ${withInterval(predicted, unit)} predicted`];
    withTip(dot, lines);
    plot.marks.append(dot);
    walked.push({ mark: dot, lines });
  }
  walkWithKeys(plot, walked);
  legendEntry(plot, svgElement("circle", { class: "measured", cx: 11, cy: 7, r: 3.5 }), "a run");
  legendEntry(plot, svgElement("path", { class: "whisker", d: "M11,1V13" }), "90 % interval of the prediction");
  legendEntry(plot, svgElement("path", { class: "roof dashed", d: "M1,7H21" }), "equal");
}

parts.push(drawCompare, drawAccuracy);
