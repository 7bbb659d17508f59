// A table that sorts by any column, marks the found rows and gives itself as CSV.

// columns: {title, value(row), text(row), numeric, csv}; csv: {title, value} columns of the file, if
// there are more of them than in the page. options: {id, caption, onRow, isFound,
// isChosen, sort, most}. The returned function draws the rows given to it.
function makeTable(host, columns, options) {
  let sortBy = options.sort ?? null; // {column, up}
  let rows = [];
  let shownAll = false;
  const most = options.most ?? Infinity;

  const body = element("tbody");
  const head = element("tr");
  const heads = columns.map((column, i) => {
    const button = element("button", { type: "button", title: `Sort by ${column.title}`, "data-focus": `${options.id} ${column.title}`,
      onclick: () => {
        const up = sortBy && sortBy.column === i ? !sortBy.up : !column.numeric;
        sortBy = { column: i, up };
        fill();
      } }, column.title);
    const cell = element("th", { scope: "col", class: column.numeric ? "number" : null }, button);
    head.append(cell);
    return cell;
  });
  const more = element("button", { type: "button", hidden: true, onclick: () => {
    shownAll = !shownAll;
    fill();
  } });
  const fields = columns.flatMap((column) => column.csv ?? [column]);
  const csv = element("button", { type: "button", class: "file", "aria-label": `Save as CSV: ${options.caption}`, onclick: () =>
    downloadCsv(`${options.id}.csv`, fields.map((column) => column.title),
      sorted().map((row) => fields.map((column) => column.value(row)))) }, "CSV");
  host.replaceChildren(
    element("div", { class: "files" }, csv),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": options.caption },
      element("table", { id: options.id }, element("caption", {}, options.caption),
        element("thead", {}, head), body)),
    more);

  function sorted() {
    if (!sortBy) return rows;
    const { value } = columns[sortBy.column];
    const sign = sortBy.up ? 1 : -1;
    const order = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return sign * (x < y ? -1 : 1);
    };
    return [...rows].sort(order);
  }

  function fill() {
    heads.forEach((cell, i) => {
      const own = sortBy && sortBy.column === i;
      cell.setAttribute("aria-sort", own ? (sortBy.up ? "ascending" : "descending") : "none");
    });
    const found = sorted().filter((row) => !options.isFound || options.isFound(row));
    const shown = shownAll ? found : found.slice(0, most);
    body.replaceChildren(...shown.map((row) => {
      const line = element("tr", { class: options.isChosen && options.isChosen(row) ? "chosen" : null });
      columns.forEach((column, i) => {
        const text = column.text ? column.text(row) : String(column.value(row) ?? NONE);
        const cell = element(i === 0 ? "th" : "td",
          { scope: i === 0 ? "row" : null, class: column.numeric ? "number" : null,
            title: text.length > 39 ? elide(text, 400) : null });
        if (i === 0 && options.onRow) {
          cell.append(element("button", { type: "button", class: "link", "data-focus": `${options.id} ${rows.indexOf(row)}`,
            onclick: () => options.onRow(row) }, elide(text, 40)));
        } else {
          cell.append(elide(text, 48));
        }
        line.append(cell);
      });
      return line;
    }));
    more.hidden = found.length <= most;
    more.textContent = shownAll ? `Show the first ${most}` : `Show all ${found.length}`;
  }

  return (newRows) => {
    rows = newRows;
    fill();
  };
}

// A column of "1.94 ms (1.48 to 2.71)"; in the file value, low and high.
function estimateColumn(title, unit, estimate) {
  const part = (name, i) => ({ title: name, value: (row) => estimate(row)?.[i] ?? null });
  return { ...part(`${title} (90 % interval)`, 0), numeric: true, text: (row) => withInterval(estimate(row), unit),
    csv: [part(`${title} (${unit})`, 0), part(`${title}, low (${unit})`, 1), part(`${title}, high (${unit})`, 2)] };
}
