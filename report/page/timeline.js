// When the host launches each kernel and when the device runs it, as predicted; measured kernels
// back to back below. Buttons, the wheel and arrow keys zoom and move.

const view = { begin: 0, end: 1 }; // of the step

function zoom(factor, at = 0.5) {
  const width = Math.min(1, (view.end - view.begin) * factor);
  const centre = view.begin + at * (view.end - view.begin);
  view.begin = Math.max(0, Math.min(1 - width, centre - at * width));
  view.end = view.begin + width;
  keepingFocus(drawTimeline);
}

function move(share) {
  const width = view.end - view.begin;
  view.begin = Math.max(0, Math.min(1 - width, view.begin + share * width));
  view.end = view.begin + width;
  keepingFocus(drawTimeline);
}

function drawTimeline() {
  const layers = shownLayers();
  const mode = currentMode();
  const spans = mode.timeline;
  const total = spans.time_ns;
  const isShown = state.type === 0;
  const measured = isShown && layers.some((layer) => layer.measured !== null);
  const host = byId("timeline-plot");
  if (!isShown) {
    host.replaceChildren(element("p", {}, `The timeline is in ${currentRun().types[0].dtype}, the type of the choice: select it above.`));
    return;
  }
  const lanes = ["host", "device", ...(measured ? ["measured"] : [])];
  const measuredTotal = layers.reduce((sum, layer) => sum + (layer.measured ?? 0), 0) * 1e9;
  const whole = Math.max(total, measuredTotal);
  const plot = makePlot(host, { id: "timeline-figure", height: 70 + 44 * lanes.length, margin: { left: 72 },
    title: `Timeline of one step in ${mode.name}: ${seconds(total / 1e9)}`,
    description: "Bars of host work and kernels over time.",
    x: { log: false, low: view.begin * whole, high: view.end * whole, title: "Time since the step began", text: (v) => (v === 0 ? "0" : siTick(v / 1e9, "s")) },
    y: { log: false, low: 0, high: lanes.length, hidden: true } });
  const rowHeight = (plot.bottom - plot.top) / lanes.length;
  lanes.forEach((lane, i) => plot.names.append(svgElement("text", { x: plot.left - 8, y: plot.top + (i + 0.5) * rowHeight + 4, "text-anchor": "end" }, lane)));
  const bar = (lane, begin, time, css, lines, layer) => {
    if (!(time > 0) || begin + time < view.begin * whole || begin > view.end * whole) return;
    const [x, end] = [plot.x(begin), plot.x(begin + time)];
    const node = svgElement("rect", { class: `mark ${css}${layer && !isFound(layer) ? " dim" : ""}`, x, width: Math.max(0.6, end - x - 0.4),
      y: plot.top + (lane + 0.15) * rowHeight, height: 0.7 * rowHeight, "data-layer": layer ? layer.index : null });
    withTip(node, () => lines);
    if (layer) node.addEventListener("click", () => isolate({ layer: state.layer === layer.index ? null : layer.index }));
    plot.marks.append(node);
    const room = Math.floor((Math.min(end, plot.right) - Math.max(x, plot.left) - 8) / 6.8);
    if (layer && room >= Math.min(14, [...layer.name].length) && lane > 0) {
      plot.names.append(svgElement("text", { class: `inside ${css}`, x: Math.max(x, plot.left) + 4, y: plot.top + (lane + 0.5) * rowHeight + 4 }, elide(layer.name, room)));
    }
  };
  bar(0, 0, spans.setup_ns, "host", ["begin of the step", seconds(spans.setup_ns / 1e9)], null);
  let at = 0;
  layers.forEach((layer, i) => {
    bar(0, spans.host_begin_ns[i], spans.host_ns[i], "host", [`launch ${layer.name}`, `host: ${seconds(spans.host_ns[i] / 1e9)}, predicted`], layer);
    bar(1, spans.device_begin_ns[i], spans.device_ns[i], layer.bound, [layer.name, `device: ${seconds(spans.device_ns[i] / 1e9)}, predicted`, `bound by ${boundName(layer.bound)}`], layer);
    if (measured && layer.measured !== null) {
      bar(2, at, layer.measured * 1e9, "measured-bar", [layer.name, `${seconds(layer.measured)} measured`], layer);
      at += layer.measured * 1e9;
    }
  });
  bar(0, spans.tail_begin_ns, spans.tail_ns, "host", ["end of the step", seconds(spans.tail_ns / 1e9)], null);
  bar(0, total - spans.waiting_ns, spans.waiting_ns, "overhead", ["host and device waiting for each other", seconds(spans.waiting_ns / 1e9)], null);
  for (const [text, act] of [["Zoom in", () => zoom(0.5)], ["Zoom out", () => zoom(2)], ["Earlier", () => move(-0.5)], ["Later", () => move(0.5)]]) {
    plot.legend.append(element("button", { type: "button", "data-focus": `timeline ${text}`, onclick: act }, text));
  }
  plot.legend.append(element("p", { class: "caption" }, "Predicted at the means of the parameters. 'ridgeline explain --trace FILE' writes the same for Perfetto."));
  plot.svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    const box = plot.svg.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, Math.min(1, (event.clientX - box.left - plot.left) / (plot.right - plot.left))));
  }, { passive: false });
  plot.svg.addEventListener("keydown", (event) => {
    const act = { "+": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
}

parts.push(drawTimeline);
