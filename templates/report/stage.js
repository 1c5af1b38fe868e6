// The selected stage and its four views.
const VIEWS = [
  ["Outputs", outputsView],
  ["IR changes", diffView],
  ["IR", irView],
  ["Script", scriptView],
];
const selected = { stage: -1, view: 0 };

function outputsView(stage) {
  const view = element("div");
  if (stage.failure !== null) {
    view.append(element("pre", {}, stage.failure), element("div", {}, "rerun:", command(stage.rerun)));
  }
  view.append(...stage.tensors.map(tensorView));
  if (stage.failure === null && !stage.tensors.length) view.append(element("p", {}, stage.why_nothing));
  return view;
}

function irView(stage) {
  if (!stage.ir.length) return element("p", {}, "The report holds no text of this stage.");
  return codeView(stage.ir.flatMap(([, , runs]) => linesOf(runs)), stage.failed_ir_lines);
}

function scriptView(stage) {
  if (!stage.script.length) return element("p", {}, "The report holds no script of this stage.");
  return codeView(linesOf(stage.script), stage.failed_lines, stage.program_lines || undefined, "run-time helpers");
}

function stageHead(stage) {
  const about = [`${stage.mark} ${stage.verdict}`, ...(stage.time ? [stage.time] : []), stage.how, stage.file];
  return [
    element("div", { class: "stage-head" }, element("h2", {}, stage.name), element("span", { class: "about" }, about.join(" · "))),
    stage.note ? element("p", {}, `Read from its companion: ${stage.note}`) : null,
  ];
}

function tabs() {
  const list = element("div", { role: "tablist", "aria-label": "Views of the stage" });
  VIEWS.forEach(([title], index) => {
    const isSelected = index === selected.view;
    list.append(
      element(
        "button",
        {
          type: "button", role: "tab", id: `view-${index}`, "aria-selected": String(isSelected), "aria-controls": "view",
          tabindex: isSelected ? 0 : -1, "aria-keyshortcuts": index + 1, onclick: () => show(selected.stage, index),
        },
        title, " ", element("kbd", {}, index + 1),
      ),
    );
  });
  return list;
}

/** Whether the page is one column, so that it scrolls as a whole. */
function isNarrow() {
  return matchMedia("(max-width: 50rem)").matches;
}

/** Scroll a box, and nothing around it, until an element of it is in view. */
function scrollWithin(box, inner) {
  const [outside, inside] = [box.getBoundingClientRect(), inner.getBoundingClientRect()];
  if (inside.top < outside.top) box.scrollTop -= outside.top - inside.top;
  else if (inside.bottom > outside.bottom) box.scrollTop += inside.bottom - outside.bottom;
}

/** What is shown at a place of the list that is none of a stage's. */
function extraAt(index) {
  return report.extras[index - report.stages.length];
}

/**
 * Show a view of a stage, or what else the list has; the list and the address follow. A page of one column goes to it, unless it was
 * just opened (`isFirst`): then it stays at its headline.
 */
function show(stageIndex, view = selected.view, isFirst = false) {
  const stage = report.stages[stageIndex];
  const extra = extraAt(stageIndex);
  if (!stage && !extra) return;
  const hadTabFocus = document.activeElement?.getAttribute("role") === "tab";
  document.getElementById(`stage-${selected.stage}`)?.setAttribute("aria-selected", "false");
  Object.assign(selected, { stage: stageIndex, view });
  const option = document.getElementById(`stage-${stageIndex}`);
  option.setAttribute("aria-selected", "true");
  scrollWithin(document.getElementById("stages"), option);
  document.getElementById("stages").setAttribute("aria-activedescendant", option.id);
  const main = document.getElementById("stage");
  if (extra) {
    showExtra(main, extra);
  } else {
    const panel = element("div", { role: "tabpanel", id: "view", "aria-labelledby": `view-${view}` });
    main.replaceChildren(...stageHead(stage).filter((part) => part !== null), tabs(), panel);
    panel.append(VIEWS[view][1](stage));
  }
  redrawMaps();
  main.scrollTop = 0;
  if (hadTabFocus && stage) document.getElementById(`view-${view}`).focus();
  if (isNarrow() && !isFirst) main.scrollIntoView({ block: "start" });
  if (stage && !(isNarrow() && isFirst)) goToLine(stage.first_lines[VIEWS[view][0]] ?? firstFailed(view, stage));
  try {
    history.replaceState(null, "", `#${stageIndex}.${view + 1}`);
  } catch {
    // A page without an address of its own, such as a preview, keeps no place.
  }
}

/** The first marked line of a view that the page shows: helpers are folded. */
function firstFailed(view, stage) {
  if (VIEWS[view][0] === "IR") return stage.failed_ir_lines[0];
  if (VIEWS[view][0] === "Script") return stage.failed_lines.find((line) => line <= stage.program_lines);
}

function goToLine(number) {
  const line = document.querySelector(`#view .code-line[data-number="${number}"]`);
  if (line) scrollToHeight(line.getBoundingClientRect().top);
}

/** Scroll what scrolls here, the view or the page, until a height of the window is near the view's top. */
function scrollToHeight(height) {
  const main = document.getElementById("stage");
  if (isNarrow()) scrollBy(0, height - 60);
  else main.scrollTop += height - main.getBoundingClientRect().top - 60;
}

/** Scroll to the next change, or line that failed, in a direction (1 or -1). */
function jump(direction) {
  const main = document.getElementById("stage");
  const marks = [...main.querySelectorAll(".hunk, .code-line.failed")].filter((mark) => mark.offsetParent);
  const top = (isNarrow() ? 0 : main.getBoundingClientRect().top) + 60;
  const tops = marks.map((mark) => mark.getBoundingClientRect().top);
  const at = direction > 0 ? tops.findIndex((y) => y > top + 2) : tops.findLastIndex((y) => y < top - 2);
  if (at >= 0) scrollToHeight(tops[at]);
}

/** Unfold the lines that are folded; fold them again when nothing is. */
function toggleFolds() {
  const folds = [...document.querySelectorAll(".fold")];
  if (folds.length) folds.forEach((row) => row.unfold());
  else if (report.stages[selected.stage] && ["IR changes", "Script"].includes(VIEWS[selected.view][0])) show(selected.stage);
}
