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
  return view;
}

function irView(stage) {
  if (!stage.ir.length) return element("p", {}, "The report holds no text of this stage.");
  return codeView(stage.ir.flatMap(([, , runs]) => linesOf(runs)));
}

function scriptView(stage) {
  if (!stage.script.length) return element("p", {}, "The report holds no script of this stage.");
  return codeView(linesOf(stage.script), stage.failed_lines, stage.helper_lines, "run-time helpers");
}

function stageHead(stage) {
  const about = [`${stage.passed ? "✓" : "✗"} ${stage.verdict}`, `${stage.seconds.toFixed(3)} s`, stage.how, stage.file];
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

/** Show a view of a stage; the list and the address follow. */
function show(stageIndex, view = selected.view) {
  const stage = report.stages[stageIndex];
  if (!stage) return;
  const hadTabFocus = document.activeElement?.getAttribute("role") === "tab";
  document.getElementById(`stage-${selected.stage}`)?.setAttribute("aria-selected", "false");
  Object.assign(selected, { stage: stageIndex, view });
  const option = document.getElementById(`stage-${stageIndex}`);
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  document.getElementById("stages").setAttribute("aria-activedescendant", option.id);
  const main = document.getElementById("stage");
  const panel = element("div", { role: "tabpanel", id: "view", "aria-labelledby": `view-${view}` });
  main.replaceChildren(...stageHead(stage).filter((part) => part !== null), tabs(), panel);
  panel.append(VIEWS[view][1](stage));
  redrawMaps();
  main.scrollTop = 0;
  if (hadTabFocus) document.getElementById(`view-${view}`).focus();
  if (VIEWS[view][0] === "Script" && stage.failed_lines.length) jump(1);
  try {
    history.replaceState(null, "", `#${stageIndex}.${view + 1}`);
  } catch {
    // A page without an address of its own, such as a preview, keeps no place.
  }
}

/** Scroll to the next change, or line that failed, in a direction (1 or -1). */
function jump(direction) {
  const main = document.getElementById("stage");
  const marks = [...main.querySelectorAll(".hunk, .code-line.failed")].filter((mark) => mark.offsetParent);
  const top = main.getBoundingClientRect().top + 60;
  const tops = marks.map((mark) => mark.getBoundingClientRect().top);
  const at = direction > 0 ? tops.findIndex((y) => y > top + 2) : tops.findLastIndex((y) => y < top - 2);
  if (at >= 0) main.scrollTop += tops[at] - top;
}

/** Unfold the lines that are folded; fold them again when nothing is. */
function toggleFolds() {
  const folds = [...document.querySelectorAll(".fold")];
  if (folds.length) folds.forEach((row) => row.unfold());
  else if (["IR changes", "Script"].includes(VIEWS[selected.view][0])) show(selected.stage);
}
