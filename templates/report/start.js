// What happens when the page is opened.
function start() {
  document.addEventListener("keydown", onKey);
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("show-help").addEventListener("click", showHelp);
  document.getElementById("filter").addEventListener("input", filterStages);
  document.body.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-stage]");
    if (chosen) show(Number(chosen.dataset.stage), Number(chosen.dataset.view ?? selected.view));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawMaps);
  document.addEventListener("themechange", redrawMaps);
  restoreTheme();
  const [, stage, view] = /^#(\d+)\.([1-4])$/.exec(location.hash) ?? [];
  const firstBad = report.stages.findIndex((found) => !found.passed);
  if (report.stages[stage] || extraAt(stage)) show(Number(stage), view - 1, true);
  else show(Math.max(firstBad, 0), firstBad < 0 ? report.first_view : 0, true);
  document.getElementById("stages").focus({ preventScroll: true });
  document.documentElement.dataset.ready = "yes";
}
start();
