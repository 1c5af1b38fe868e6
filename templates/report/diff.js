// Two stages side by side, function by function; lines far from a change are folded.
const CONTEXT = 3;
const MOST_ROWS = 300; // of one block that are shown at once
const ROWS_AT_ONCE = 150;
const LONGEST_COMPARED = 400; // words of a line that are compared one by one

/** Marks, for the words of two lines, those that are not in their longest common part. */
function wordChanges(before, after) {
  const split = (line) => line.match(/\w+|\s+|[^\w\s]/g) ?? [];
  const [a, b] = [split(before), split(after)];
  if (Math.max(a.length, b.length) > LONGEST_COMPARED) return [[[true, before]], [[true, after]]];
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const [left, right] = [[], []];
  const add = (side, changed, text) => {
    if (side.length && side[side.length - 1][0] === changed) side[side.length - 1][1] += text;
    else side.push([changed, text]);
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add(left, false, a[i++]);
      add(right, false, b[j++]);
    } else if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1])) add(left, true, a[i++]);
    else add(right, true, b[j++]);
  }
  return [left, right];
}

/** The parts of a line with changed words marked. */
function markedWords(parts) {
  return parts.map(([changed, text]) => (changed ? element("mark", {}, breakable(text)) : breakable(text)));
}

/** The two cells of one side of a row; without a number there is no line on this side. */
function side(number, line, content, kind) {
  if (number === null) return [element("td", { class: "none" }), element("td", { class: "none" })];
  return [element("td", { "data-number": number, class: kind }), codeLine("td", { class: kind }, line, content)];
}

/** Rows of the lines from `first` to `last` of a block of one function. */
function diffRows(sides, block, first, last) {
  const [tag, before, , after] = block;
  const rows = [];
  for (let at = first; at < last; at += 1) {
    const left = tag === "insert" ? null : sides.before[before + at];
    const right = tag === "delete" ? null : sides.after[after + at];
    let [leftContent, rightContent] = [left, right];
    if (tag === "equal") leftContent = coloured(tokens(left, "")[0]);
    if (tag === "equal") rightContent = coloured(tokens(right, "")[0]);
    if (tag === "change") [leftContent, rightContent] = wordChanges(left, right).map(markedWords);
    rows.push(
      element(
        "tr",
        {},
        side(left === null ? null : sides.beforeStart + before + at, left, leftContent, tag === "equal" ? "" : "gone"),
        side(right === null ? null : sides.afterStart + after + at, right, rightContent, tag === "equal" ? "" : "new"),
      ),
    );
  }
  return rows;
}

/** A row that stands for the lines from `first` to `last`; a click puts them there. */
function foldRow(sides, block, first, last, what) {
  const row = element("tr", { class: "fold" });
  const unfold = () => {
    const end = block[0] === "equal" ? last : Math.min(last, first + MOST_ROWS);
    const rows = diffRows(sides, block, first, end);
    if (end < last) rows.push(foldRow(sides, block, end, last, what));
    row.replaceWith(...rows);
  };
  const text = `⋯ ${last - first} ${what} line${last - first === 1 ? "" : "s"}`;
  row.append(element("td", { colspan: 4 }, element("button", { type: "button", onclick: unfold }, text)));
  row.unfold = unfold;
  return row;
}

/** All rows of one function. */
function functionRows(sides, blocks) {
  const rows = [];
  blocks.forEach((block, index) => {
    const [tag, before, beforeEnd, after, afterEnd] = block;
    const count = Math.max(beforeEnd - before, afterEnd - after);
    if (tag === "equal") {
      const head = index === 0 ? 0 : CONTEXT;
      const tail = index === blocks.length - 1 ? 0 : CONTEXT;
      if (count > head + tail + 1) {
        rows.push(...diffRows(sides, block, 0, head));
        rows.push(foldRow(sides, block, head, count - tail, "unchanged"));
        rows.push(...diffRows(sides, block, count - tail, count));
        return;
      }
    }
    const shown = tag === "equal" ? count : Math.min(count, MOST_ROWS);
    const own = diffRows(sides, block, 0, shown);
    if (tag !== "equal" && (index === 0 || blocks[index - 1][0] === "equal")) own[0].classList.add("hunk");
    rows.push(...own);
    if (shown < count) rows.push(foldRow(sides, block, shown, count, "more"));
  });
  return rows;
}

/** The changes of one function. */
function functionDiff(change, earlier, stage) {
  const [, beforeStart, beforeRuns] = change.before === null ? ["", 0, []] : earlier.ir[change.before];
  const [, afterStart, afterRuns] = change.after === null ? ["", 0, []] : stage.ir[change.after];
  const sides = { before: linesOf(beforeRuns), after: linesOf(afterRuns), beforeStart, afterStart };
  const state = change.before === null ? " new" : change.after === null ? " gone" : "";
  const name = change.name || "(head of the program)";
  const table = element(
    "table",
    { class: "sides" },
    element("caption", {}, `${name} in ${earlier.name} and in ${stage.name}`),
    element("colgroup", {}, ["numbers", "", "numbers", ""].map((kind) => element("col", { class: kind }))),
    element("tbody", {}, functionRows(sides, change.blocks)),
  );
  const [added, gone] = change.counts;
  const counts = element(
    "small",
    {},
    state,
    element("span", { class: "new" }, ` +${added}`),
    element("span", { class: "gone" }, ` −${gone}`),
  );
  return element("section", { class: "function" }, element("h3", {}, name, counts), table);
}

/** What a stage changed against the one before; many functions are built bit by bit. */
function diffView(stage) {
  if (!stage.ir.length) return element("p", {}, "The report holds no text of this stage.");
  if (stage.before === null) return element("p", {}, "There is no stage before this one: see its IR.");
  const earlier = report.stages[stage.before];
  const changed = stage.changes.filter((change) => change.blocks.length);
  const unchanged = stage.changes.filter((change) => !change.blocks.length && change.name);
  if (!changed.length) return element("p", {}, `The text is that of ${earlier.name}, line by line.`);
  const view = element("div", {}, element("p", {}, `Left ${earlier.name}, right ${stage.name}.`));
  const names = unchanged.map((change) => change.name).join(", ");
  if (names) view.append(element("p", { class: "unchanged" }, `Unchanged functions: ${names}`));
  const addFrom = (start) => {
    let next = start;
    for (let rows = 0; next < changed.length && rows < ROWS_AT_ONCE; next += 1) {
      const section = functionDiff(changed[next], earlier, stage);
      rows += section.querySelectorAll("tr").length;
      view.append(section);
    }
    if (next < changed.length) setTimeout(() => view.isConnected && addFrom(next));
    else view.dataset.complete = "yes";
  };
  addFrom(0);
  return view;
}
