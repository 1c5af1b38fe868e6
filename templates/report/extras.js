// What the page of a build shows beside the stages: its files, and the memories of its kernels.
function showExtra(main, extra) {
  if (extra.lines) showFile(main, extra);
  else showMemory(main, extra, shown.kernel);
}

/** The keys that an entry of the list has besides those of the page. */
function keysOf(extra) {
  return extra.lines ? {} : BAR_KEYS;
}

function showFile(main, file) {
  main.replaceChildren(
    element("div", { class: "stage-head" }, element("h2", {}, file.name), element("span", { class: "about" }, file.about)),
    codeView(linesOf(file.lines), [], undefined, "", file.name.endsWith(".py")),
  );
}

function showMemory(main, extra, number) {
  const tabs = report.kernels.map((found, index) => {
    const choose = () => {
      showMemory(main, extra, index);
      document.getElementById(`kernel-${index}`).focus();
    };
    const isShown = index === number;
    return element("button", { type: "button", role: "tab", id: `kernel-${index}`, "aria-selected": String(isShown), "aria-controls": "memory", onclick: choose }, found.name);
  });
  main.replaceChildren(
    element("div", { class: "stage-head" }, element("h2", {}, extra.name), element("span", { class: "about" }, extra.about)),
    element("div", { role: "tablist", class: "many", "aria-label": "Kernels" }, tabs),
    element("div", { role: "tabpanel", id: "memory", "aria-labelledby": `kernel-${number}` }, kernelParts(number)),
  );
  draw();
}
addEventListener("resize", draw);
