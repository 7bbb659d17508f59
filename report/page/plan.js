// All modes by energy and latency, with limits that can be moved: the choice follows, over the
// complete front of latency, energy and power.

const STEPS = 1000; // of a slider; the last is no limit
const limits = { goal: "energy", latency: null, power: null, stock: true };
let coloured = -1; // the knob that colours the modes; -1: none

function extent(values) {
  return [Math.min(...values), Math.max(...values)];
}

function planRows() {
  return rowsOf(currentRun().plan).filter((row) => row.latency_s !== null);
}

function limitRange(kind) {
  const [low, high] = extent(planRows().map((row) => (kind === "latency" ? row.latency_s : row.power_w)));
  return [low * 0.9, high * 2.2];
}

function rowName(row) {
  return `${row.mode}, batch ${row.batch}, ${row.dtype}`;
}

function resetLimits() {
  const { plan } = currentRun();
  Object.assign(limits, { goal: plan.minimize, latency: plan.latency_s, power: plan.power_w, stock: true });
}

// A limit as a reader would type it.
const typed = (limit, scale) => (limit === null ? "" : String(Number((limit * scale).toPrecision(4))));

function makePlanControls() {
  resetLimits();
  const slider = (kind, title, unit, scale) => {
    const [low, high] = limitRange(kind);
    const place = () => (limits[kind] === null ? STEPS : Math.round(STEPS * Math.log(limits[kind] / low) / Math.log(high / low)));
    const range = element("input", { type: "range", id: `${kind}-range`, min: 0, max: STEPS, step: 1, value: place(), "aria-label": title });
    const number = element("input", { type: "number", id: `${kind}-number`, min: 0, step: "any", size: 7,
      value: typed(limits[kind], scale), placeholder: "none", "aria-label": `${title} in ${unit}` });
    range.addEventListener("input", () => {
      const at = Number(range.value);
      limits[kind] = at >= STEPS ? null : Number((low * (high / low) ** (at / STEPS)).toPrecision(4));
      number.value = typed(limits[kind], scale);
      drawPlan();
    });
    number.addEventListener("input", () => {
      limits[kind] = Number(number.value) > 0 ? Number(number.value) / scale : null;
      range.value = Math.max(0, Math.min(STEPS, place()));
      drawPlan();
    });
    return element("label", {}, `${title} `, range, number, ` ${unit}`);
  };
  const goal = element("select", { id: "goal", onchange: () => { limits.goal = goal.value; drawPlan(); } },
    ...[["energy", "energy"], ["time", "time"], ["power", "power"], ["edp", "energy × delay"]].map(([value, text]) => element("option", { value }, text)));
  goal.value = limits.goal;
  const stock = element("input", { type: "checkbox", id: "stock", checked: true, onchange: () => { limits.stock = stock.checked; drawPlan(); } });
  const hasPower = planRows().some((row) => row.power_w !== null);
  byId("plan-controls").replaceChildren(
    element("label", {}, "Minimise ", goal),
    slider("latency", "Latency at most", "ms", 1e3),
    ...(hasPower ? [slider("power", "Mean power at most", "W", 1)] : []),
    element("label", {}, stock, " a stock mode if one will do"),
    ...colourSelect(),
    element("button", { type: "button", onclick: () => { makePlanControls(); drawPlan(); } }, "Reset"));
}

// Offered where a clock differs between modes.
function colourSelect() {
  const differs = (knob) => new Set(currentRun().plan.shown.map((mode) => mode[3 + knob])).size > 1;
  const offered = [0, 1].filter(differs);
  if (!offered.includes(coloured)) coloured = -1;
  if (offered.length === 0) return [];
  const select = element("select", { id: "colour", onchange: () => { coloured = Number(select.value); drawPlan(); } },
    element("option", { value: -1 }, "nothing"), ...offered.map((knob) => element("option", { value: knob }, `${KNOBS[knob]} clock`)));
  select.value = coloured;
  return [element("label", {}, "Colour modes by ", select)];
}

// Clocks in up to five steps of equally many clocks: the highest clock of each.
function clockSteps() {
  if (coloured < 0) return [];
  const clocks = [...new Set(currentRun().plan.shown.map((mode) => mode[3 + coloured]))].filter((clock) => clock !== null).sort((a, b) => a - b);
  const count = Math.min(5, clocks.length);
  return Array.from({ length: count }, (_, i) => clocks[Math.floor(((i + 1) * clocks.length) / count) - 1]);
}

const rampClass = (step, count) => `ramp-${count > 1 ? Math.round((4 * step) / (count - 1)) : 0}`;

function currentChoice() {
  const rows = planRows();
  const at = planChoice(rows, limits.goal, limits);
  return at < 0 ? null : rows[at];
}

function answerText(choice) {
  const { plan } = currentRun();
  if (!choice) {
    const rows = planRows().filter((row) => row.kept.length > 0);
    const least = (pick) => Math.min(...rows.map(pick));
    return `No mode meets these limits with a probability of ${percent(plan.risk)}. The tightest that some mode meets alone: ` +
      `latency ${seconds(least((row) => row.kept[0]))}, mean power ${watts(least((row) => row.kept.at(-1)))}.`;
  }
  const reboot = choice.reach === "reboot" ? " (needs a reboot)" : "";
  const isSettable = plan.modes > 1 && choice.knobs[0] !== null;
  const how = choice.command ? ` To enter it: ${choice.command}${reboot}.`
    : isSettable ? ` To enter it: 'ridgeline plan … --nvpmodel FILE' writes it for nvpmodel${reboot}.` : "";
  const costs = [seconds(choice.latency_s), ...(choice.power_w === null ? [] : [watts(choice.power_w)]),
    ...(choice.energy_j === null ? [] : [`${joules(choice.energy_j)} per sample`])].join(", ");
  const holds = limits.latency !== null || limits.power !== null ? ` The limits hold with a probability of at least ${percent(plan.risk)}.` : "";
  return `${rowName(choice)}: ${costs}, predicted.${holds}${how}`;
}

function energyFront(rows) {
  const front = [];
  for (const row of [...rows].sort((a, b) => a.latency_s - b.latency_s || a.energy_j - b.energy_j)) {
    if (front.length === 0 || row.energy_j < front.at(-1).energy_j) front.push(row);
  }
  return front;
}

const KNOBS = ["GPU", "memory", "CPU", "cores", "SM"];

function knobText(knobs) {
  return KNOBS.map((name, i) => (knobs[i] === null ? null : i < 3 ? `${name} ${knobs[i]} MHz` : `${knobs[i]} ${name}`)).filter(Boolean).join(", ");
}

// Limits as areas that may not be entered; that of power only where a line of the plot is a power.
function shadeLimits(plot, rows) {
  const { low: left, high: right } = plot.x;
  const { low: bottom, high: top } = plot.y;
  if (limits.latency !== null && limits.latency < right) {
    const from = Math.max(left, limits.latency);
    polygonOf(plot, [[from, bottom], [right, bottom], [right, top], [from, top]], { class: "forbidden" });
  }
  const batch = rows[0].batch;
  if (limits.power !== null && currentRun().plan.arrivals_per_s === null && rows.every((row) => row.batch === batch)) {
    const at = (x) => Math.min(top, Math.max(bottom, limits.power * x / batch));
    const edge = [];
    for (let i = 0; i <= 60; ++i) {
      const x = left * (right / left) ** (i / 60);
      edge.push([x, at(x)]);
    }
    polygonOf(plot, [...edge, [right, top], [left, top]], { class: "forbidden" });
  }
}

function drawPlan() {
  const run = currentRun();
  const rows = planRows();
  const choice = currentChoice();
  byId("plan-answer").textContent = answerText(choice);
  byId("plan-answer").classList.toggle("none", !choice);
  const host = byId("plan-plot");
  if (!rows.some((row) => row.energy_j > 0)) {
    host.replaceChildren(element("p", {}, "No power is known for this machine, so modes cannot be compared by energy."));
    return;
  }
  const all = run.plan.shown;
  const [lowX, highX] = extent([...all.map((mode) => mode[0]), ...rows.map((row) => row.latency_s)]);
  const [lowY, highY] = extent([...all.map((mode) => mode[1]), ...rows.map((row) => row.energy_j)]);
  const plot = makePlot(host, { id: "plan-figure", height: 420, title: `${run.plan.choices} choices for ${run.network} on ${run.machine}`,
    description: answerText(choice),
    x: { low: lowX / 1.15, high: highX * 1.2, title: run.plan.arrivals_per_s ? "Latency of a sample (predicted)" : "Latency of a batch (predicted)", text: (v) => siTick(v, "s") },
    y: { low: lowY / 1.15, high: highY * 1.2, title: "Energy per sample (predicted)", text: (v) => siTick(v, "J") } });
  shadeLimits(plot, rows);
  const steps = clockSteps();
  for (const mode of all) {
    const step = steps.findIndex((top) => mode[3 + coloured] <= top);
    const node = svgElement("circle", { class: step < 0 ? "speck" : `speck ${rampClass(step, steps.length)}`, cx: plot.x(mode[0]).toFixed(1), cy: plot.y(mode[1]).toFixed(1), r: 1.8 });
    withTip(node, () => [knobText(mode.slice(3)), `${seconds(mode[0])}, ${joules(mode[1])}, ${watts(mode[2])}`, "predicted"]);
    plot.marks.append(node);
  }
  const front = energyFront(rows);
  line(plot, front.map((row) => [row.latency_s, row.energy_j]), { class: "front" });
  const walked = [];
  front.forEach((row, i) => {
    if (i > 0) plot.segments.push([plot.x(front[i - 1].latency_s), plot.y(front[i - 1].energy_j), plot.x(row.latency_s), plot.y(row.energy_j)]);
  });
  for (const row of rows) {
    if (row.stock) continue;
    const node = svgElement("circle", { class: "front-dot", cx: plot.x(row.latency_s).toFixed(1), cy: plot.y(row.energy_j).toFixed(1), r: 2.4 });
    const lines = () => [rowName(row), `${seconds(row.latency_s)}, ${joules(row.energy_j)}, ${watts(row.power_w)}`, "on the front of latency, energy and power; predicted"];
    withTip(node, lines);
    plot.marks.append(node);
    plot.discs.push([plot.x(row.latency_s), plot.y(row.energy_j), 3]);
    walked.push({ mark: node, lines });
  }
  const stock = rows.filter((each) => each.stock && each.dtype === run.plan.chosen_dtype && each.batch === run.plan.chosen_batch);
  for (const row of stock) {
    const [x, y] = [plot.x(row.latency_s), plot.y(row.energy_j)];
    const node = svgElement("path", { class: "stock", d: shapePath("diamond", x, y, 90) });
    const lines = () => [rowName(row), `${seconds(row.latency_s)}, ${joules(row.energy_j)}, ${watts(row.power_w)}`, "stock mode; predicted"];
    withTip(node, lines);
    plot.marks.append(node);
    plot.discs.push([x, y, 6]);
    walked.push({ mark: node, lines });
  }
  if (choice) walked.unshift(drawChoice(plot, choice));
  for (const row of stock) placeLabel(plot, row.mode, plot.x(row.latency_s), plot.y(row.energy_j), row === choice ? 12 : 8, { class: "strong" });
  walkWithKeys(plot, walked);
  if (steps.length === 0) legendEntry(plot, svgElement("circle", { class: "speck lone", cx: 11, cy: 7, r: 2.6 }), "a mode");
  steps.forEach((top, i) => legendEntry(plot, svgElement("circle", { class: `speck lone ${rampClass(i, steps.length)}`, cx: 11, cy: 7, r: 3.4 }),
    `${i === 0 ? `a mode, ${KNOBS[coloured]} ` : ""}≤ ${top} MHz`));
  legendEntry(plot, svgElement("path", { class: "front", d: "M1,7H21" }), "front of latency and energy");
  legendEntry(plot, svgElement("circle", { class: "front-dot", cx: 11, cy: 7, r: 2.6 }), "front with power");
  legendEntry(plot, svgElement("path", { class: "stock", d: shapePath("diamond", 11, 7, 80) }), "stock mode");
  legendEntry(plot, svgElement("path", { class: "choice", d: shapePath("star", 11, 7, 80) }), "choice, 90 % interval");
  legendEntry(plot, svgElement("rect", { class: "forbidden", x: 3, y: 1, width: 16, height: 12 }), "beyond a limit");
  const others = run.plan.other_limits.length ? ` Also met: ${run.plan.other_limits.join(", ")}.` : "";
  plot.legend.append(element("p", { class: "caption" },
    `${run.plan.modes} modes predicted; of those that would share a spot one is drawn, the front is complete (${rows.length} rows). ` +
    `A mode is chosen only if it meets the limits with a probability of ${percent(run.plan.risk)}, and a stock mode comes before others, so the choice may lie off the front.${others}`));
}

function drawChoice(plot, choice) {
  const [x, y] = [plot.x(choice.latency_s), plot.y(choice.energy_j)];
  const run = currentRun();
  const mode = run.modes.find((each) => each.name === choice.mode);
  const type = run.types.findIndex((each) => each.dtype === choice.dtype);
  if (mode && type >= 0 && choice.batch === run.batch && run.plan.arrivals_per_s === null && mode.runs[type].energy_j) {
    const [, shortest, longest] = mode.runs[type].time_s;
    const [, least, most] = mode.runs[type].energy_j.map((value) => value / choice.batch);
    plot.segments.push([plot.x(shortest), y, plot.x(longest), y], [x, plot.y(least), x, plot.y(most)]);
    plot.marks.append(svgElement("path", { class: "whisker", fill: "none",
      d: `M${plot.x(shortest)},${y}H${plot.x(longest)}M${x},${plot.y(least)}V${plot.y(most)}` }));
  }
  const star = svgElement("path", { class: "choice", d: shapePath("star", x, y, 210) });
  const lines = () => [rowName(choice), `${seconds(choice.latency_s)}, ${joules(choice.energy_j)}, ${watts(choice.power_w)}`, "the choice; predicted"];
  withTip(star, lines);
  plot.marks.append(star);
  plot.discs.push([x, y, 9]);
  return { mark: star, lines };
}

// ---- the modes of the page side by side ----

const modeColumns = [
  { title: "mode", value: (mode) => mode.name },
  { title: "stock", value: (mode) => (mode.stock ? "yes" : "no") },
  { title: "reboot", value: (mode) => (mode.reach === "reboot" ? "yes" : "no") },
  ...[["time", "s", "time_s"], ["energy", "J", "energy_j"], ["power", "W", "power_w"]].map(([title, unit, key]) =>
    estimateColumn(title, unit, (mode) => mode.runs[state.type][key])),
  { title: "bound", value: (mode) => mode.runs[state.type].bound, text: (mode) => boundName(mode.runs[state.type].bound) },
  { title: "source", value: (mode) => mode.runs[state.type].time_s[3] },
];

let fillModes = null;

function drawModes() {
  fillModes ??= makeTable(byId("modes-table"), modeColumns, { id: "mode-rows", caption: "Stock modes, the choice and its alternatives, one batch each",
    isChosen: (mode) => mode === currentMode(), onRow: (mode) => { state.mode = currentRun().modes.indexOf(mode); syncSelectors(); drawAll(); } });
  fillModes(currentRun().modes);
}

parts.push(drawPlan, drawModes);
