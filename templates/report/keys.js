// Moving with the keyboard, and the filter.
function options() {
  return [...document.querySelectorAll("#stages [role=option]:not([hidden])")];
}

/** Go to the next stage in a direction that is in the list and fits. */
function step(direction, fits = () => true) {
  const numbers = options().map((option) => Number(option.dataset.stage)).filter((number) => fits(report.stages[number]));
  if (direction < 0) numbers.reverse();
  const next = numbers.find((number) => (number - selected.stage) * direction > 0);
  if (next !== undefined) show(next);
}

function goToEnd(last) {
  const all = options();
  if (all.length) show(Number(all[last ? all.length - 1 : 0].dataset.stage));
}

function filterStages() {
  const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  document.querySelectorAll("#stages [role=option]").forEach((option) => {
    const stage = report.stages[option.dataset.stage];
    const text = (stage ? `${stage.name} ${stage.verdict} ${stage.how}` : extraAt(option.dataset.stage).name).toLowerCase();
    option.hidden = !words.every((word) => text.includes(word));
    option.style.display = option.hidden ? "none" : "";
  });
  document.getElementById("no-match").hidden = options().length > 0;
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  n: () => step(1, (stage) => stage?.passed === false),
  p: () => step(-1, (stage) => stage?.passed === false),
  g: () => goToEnd(false),
  G: () => goToEnd(true),
  "]": () => jump(1),
  "[": () => jump(-1),
  e: toggleFolds,
  h: () => document.querySelector("#headline details")?.toggleAttribute("open"),
  t: nextTheme,
  "?": showHelp,
  "/": () => document.getElementById("filter").focus(),
  ArrowRight: () => show(selected.stage, Math.min(selected.view + 1, VIEWS.length - 1)),
  ArrowLeft: () => show(selected.stage, Math.max(selected.view - 1, 0)),
};
const LIST_KEYS = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  Home: () => goToEnd(false),
  End: () => goToEnd(true),
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.id === "filter") {
    if (event.key === "Escape") {
      event.target.value = "";
      filterStages();
    }
    if (event.key === "Escape" || event.key === "Enter") document.getElementById("stages").focus();
    return;
  }
  if (document.getElementById("help").open && event.key !== "?") return;
  if (event.target.type === "radio" && event.key.startsWith("Arrow")) return;
  if (event.target.id === "find") {
    if (event.key === "Escape" || event.key === "Enter") event.target.blur();
    return;
  }
  const inList = event.target.closest?.("#stages") || event.target === document.body;
  const view = Number(event.key) - 1;
  const ofList = inList && LIST_KEYS[event.key];
  const ofView = VIEWS[view] ? () => show(selected.stage, view) : KEYS[event.key];
  const isArrowInList = ofList && event.target.id === "stages";
  const ofExtra = isArrowInList ? undefined : extraAt(selected.stage) && keysOf(extraAt(selected.stage))[event.key];
  const action = ofExtra ?? ofView ?? ofList;
  if (!action) return;
  event.preventDefault();
  action();
}
