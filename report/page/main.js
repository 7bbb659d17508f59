// Fills the selectors, connects them with what is shown, and draws everything once.

function fillSelect(id, names, selected) {
  const select = byId(id);
  select.replaceChildren(...names.map((name, i) => element("option", { value: i }, elide(name, 60))));
  select.value = selected;
  select.disabled = names.length < 2;
}

function syncSelectors() {
  const run = currentRun();
  fillSelect("run", data.runs.map((each) => `${each.network} on ${each.machine}`), state.run);
  fillSelect("mode", run.modes.map((mode) => mode.name), state.mode);
  fillSelect("dtype", run.types.map((type) => type.dtype), state.type);
  byId("run-label").hidden = data.runs.length < 2;
}

function selectRun(index) {
  const run = data.runs[index];
  Object.assign(state, { run: index, type: 0, layer: null,
    mode: Math.max(0, run.modes.findIndex((mode) => mode.name === run.chosen.mode)) });
  fillModes = null;
  makePlanControls();
  syncSelectors();
  drawAll();
}

function drawSummary() {
  const run = currentRun();
  byId("summary").replaceChildren(...run.summary.map((text) => element("li", {}, unbroken(text))));
  const times = currentTimes();
  const tile = (title, estimate, format) => element("div", { class: "tile" }, element("span", {}, title),
    element("strong", {}, estimate ? format(estimate[0]) : "unknown"),
    element("small", {}, estimate ? `${format(estimate[1])} to ${format(estimate[2])}, ${estimate[3]}` : ""));
  byId("tiles").replaceChildren(tile(`Time, ${elide(currentMode().name, 24)}`, times.time_s, seconds),
    tile("Energy of a batch", times.energy_j, joules), tile("Power", times.power_w, watts),
    element("div", { class: "tile" }, element("span", {}, "Bound by"), element("strong", {}, boundName(times.bound)),
      element("small", {}, unbroken(times.bound_shares.map(([name, share]) => `${boundName(name)} ${percent(share)}`).join(", ")))));
  byId("advice").replaceChildren(element("h3", {}, "What would help (predicted)"),
    element("ul", {}, ...run.advice.map(([change, time, energy]) => element("li", {},
      `${change}: ${lessOrMore(time, "time")}${energy === null ? "" : `, ${lessOrMore(energy, "energy")}`} per sample`))));
  byId("advice").hidden = run.advice.length === 0;
  byId("notes").replaceChildren(...run.notes.map((text) => element("li", {}, text)));
  byId("notes-box").hidden = run.notes.length === 0;
  const found = shownLayers().filter(isFound);
  byId("found").textContent = isFiltered()
    ? `${found.length} of ${currentLayers().name.length} layers, ${percent(found.reduce((sum, layer) => sum + layer.share, 0))} of the time` : "";
  byId("clear").hidden = !isFiltered();
}

function start() {
  parts.unshift(drawSummary);
  byId("made").textContent = `Made by ${data.program}. Predicted unless marked measured or datasheet; intervals are 90 %.`;
  byId("run").addEventListener("change", () => selectRun(Number(byId("run").value)));
  byId("mode").addEventListener("change", () => isolate({ mode: Number(byId("mode").value) }));
  byId("dtype").addEventListener("change", () => isolate({ type: Number(byId("dtype").value), layer: null }));
  byId("search").addEventListener("input", () => isolate({ query: byId("search").value.trim().toLowerCase(), layer: null }));
  byId("clear").addEventListener("click", () => {
    byId("search").value = "";
    isolate({ layer: null, op: null, bound: null, query: "" });
  });
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : system.matches);
  const showTheme = () => byId("theme").setAttribute("aria-pressed", String(isDark()));
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();
  let waiting = null;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 120);
  });
  // Paper is narrower than the page: plots are drawn for it, so that their text stays readable.
  const drawFor = (width) => {
    document.body.style.width = width;
    drawAll();
  };
  window.addEventListener("beforeprint", () => drawFor("700px"));
  window.addEventListener("afterprint", () => drawFor(""));
  selectRun(0);
}

start();
