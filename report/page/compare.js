// Networks on devices side by side, and what was measured: the rows that a model was fitted to and
// a validation, where they are given.

const compareColumns = [
  { title: "network", value: (row) => row.network },
  { title: "device", value: (row) => row.machine || row.device },
  { title: "mode", value: (row) => row.chosen?.mode ?? row.why },
  { title: "type", value: (row) => row.chosen?.dtype },
  ...[["time", "s", "time_s"], ["energy", "J", "energy_j"], ["power", "W", "power_w"]].flatMap(([title, unit, key]) => [
    { title: `${title} (${unit})`, numeric: true, value: (row) => row.chosen?.[key]?.[0] ?? null, text: (row) => si(row.chosen?.[key]?.[0], unit) },
    { title: `${title}, 90 % interval`, value: (row) => row.chosen?.[key]?.slice(1, 3).join(" to ") ?? null,
      text: (row) => (row.chosen?.[key] ? `${si(row.chosen[key][1], unit)} to ${si(row.chosen[key][2], unit)}` : NONE) },
  ]),
  { title: "bound", value: (row) => row.chosen?.bound },
];

function drawCompare() {
  const rows = [...data.runs, ...data.failures];
  byId("compare").hidden = rows.length < 2;
  if (rows.length < 2) return;
  makeTable(byId("compare-table"), compareColumns, { id: "compare-rows", caption: "Each pair in its best mode; predicted",
    isChosen: (row) => row === currentRun(), onRow: (row) => { if (row.chosen) selectRun(data.runs.indexOf(row)); } })(rows);
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
