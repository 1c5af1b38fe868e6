// The page on memory: which kernel is shown, and the keys.
function showKernel(number) {
  document.getElementById("kernel").replaceChildren(...kernelParts(number));
  document.querySelectorAll("#kernels [role=option]").forEach((option) => {
    const isShown = Number(option.dataset.kernel) === number;
    option.setAttribute("aria-selected", String(isShown));
    if (isShown) option.scrollIntoView({ block: "nearest" });
  });
  document.getElementById("kernels").setAttribute("aria-activedescendant", `kernel-${number}`);
  history.replaceState(null, "", `#${number}`);
  draw();
}

function goToKernel(direction) {
  const next = shown.kernel + direction;
  if (report.kernels[next]) showKernel(next);
}

const KEYS = {
  ...BAR_KEYS,
  j: () => goToKernel(1),
  k: () => goToKernel(-1),
  n: () => goToSpace(1),
  p: () => goToSpace(-1),
  t: nextTheme,
  "?": showHelp,
  "/": () => document.getElementById("find").focus(),
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.id === "find") {
    if (event.key === "Escape") event.target.value = "";
    if (event.key === "Escape") find();
    if (event.key === "Escape" || event.key === "Enter") event.target.blur();
    return;
  }
  if (document.getElementById("help").open && event.key !== "?") return;
  if (event.key.startsWith("Arrow") && event.target.closest?.("#kernels")) {
    event.preventDefault();
    goToKernel(event.key === "ArrowDown" || event.key === "ArrowRight" ? 1 : -1);
    return;
  }
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function start() {
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("show-help").addEventListener("click", showHelp);
  restoreTheme();
  document.documentElement.dataset.ready = "yes";
  if (!report.kernels.length) return;
  document.addEventListener("keydown", onKey);
  document.getElementById("kernels").addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-kernel]");
    if (chosen) showKernel(Number(chosen.dataset.kernel));
  });
  addEventListener("resize", draw);
  const wanted = Number(location.hash.slice(1));
  showKernel(report.kernels[wanted] ? wanted : 0);
}
start();
