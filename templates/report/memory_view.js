// One kernel: its pictures, what is told of the bar that is pointed at or has the focus, and how that moves.
const shown = { kernel: 0, wholeMemory: false, bar: null, spaces: [] };

function kernel() {
  return report.kernels[shown.kernel];
}

/** Draw the pictures again, as wide as the window lets them be. */
function draw() {
  hideTip();
  shown.spaces = shown.spaces.filter((space) => space.section.isConnected);
  if (!shown.spaces.length) return;
  for (const space of shown.spaces) {
    const width = Math.max(space.figure.clientWidth, 240);
    Object.assign(space, picture(kernel(), space.data, width, shown.wholeMemory));
    space.drawn.addEventListener("pointermove", (event) => pointAt(space, event));
    space.drawn.addEventListener("pointerleave", () => pointAt(space, null));
    space.figure.replaceChildren(space.drawn, space.caption);
    space.section.querySelectorAll("[data-buffer]").forEach((row) => {
      row.onclick = () => space.bars[row.dataset.buffer][0].focus();
    });
    space.bars.flat().forEach((bar) => {
      bar.addEventListener("pointerenter", (event) => tell(space, bar, event));
      bar.addEventListener("pointermove", (event) => placeTip(event.clientX, event.clientY));
      bar.addEventListener("pointerleave", hideTip);
      bar.addEventListener("focus", () => tell(space, bar, null));
      bar.addEventListener("blur", () => {
        hideTip();
        pointAt(space, null);
      });
      bar.addEventListener("click", () => bar.focus());
    });
  }
  find();
}

function spaceSection(data, at) {
  const caption = element("figcaption", {}, "Statements from left to right, addresses upwards. Point at a place to read its statement, at a bar to read about its tile.");
  const figure = element("figure", {});
  const limit = data.limit ? ` of ${sizeText(data.limit)} (${shareText(data)})` : "";
  const head = `${sizeText(data.used)}${limit}; in use at once ${sizeText(data.peak)}; reuse ${data.reuse.toFixed(2)}×`;
  const section = element(
    "section",
    { class: "space", "aria-labelledby": `space-${at}`, tabindex: -1 },
    element("h3", { id: `space-${at}` }, data.space, " ", element("span", { class: "about" }, head)),
    figure,
    element("details", {}, element("summary", {}, `${data.buffers.length} buffer${data.buffers.length === 1 ? "" : "s"} as a table`), buffersTable(data)),
  );
  return { data, section, figure, caption };
}

/** What is shown of a kernel; its pictures are drawn by `draw` once it is in the page. */
function kernelParts(number) {
  shown.kernel = number;
  shown.spaces = kernel().spaces.map(spaceSection);
  const finder = element("input", { id: "find", type: "search", placeholder: "name of a tile", autocomplete: "off", spellcheck: "false", oninput: find });
  const whole = element("button", { type: "button", id: "whole", "aria-pressed": String(shown.wholeMemory), "aria-keyshortcuts": "c", onclick: toggleWhole }, "whole memory");
  return [
    element("div", { class: "kernel-head" }, element("h2", {}, kernel().name), element("label", {}, "find ", finder), whole),
    spacesTable(kernel()),
    ...shown.spaces.map((space) => space.section),
  ];
}

function toggleWhole() {
  shown.wholeMemory = !shown.wholeMemory;
  document.getElementById("whole").setAttribute("aria-pressed", String(shown.wholeMemory));
  draw();
}

/** Dim the bars whose names do not have the text that is looked for. */
function find() {
  const wanted = document.getElementById("find").value.toLowerCase();
  for (const bar of shown.spaces.flatMap((space) => space.bars.flat())) {
    const name = (bar.tile ?? bar.buffer).name.toLowerCase();
    bar.classList.toggle("other", wanted !== "" && !name.includes(wanted));
  }
}

/** Say which statement the pointer is above. */
function pointAt(space, event) {
  if (!event) {
    space.now.style.visibility = "hidden";
    return;
  }
  const at = event.clientX - space.drawn.getBoundingClientRect().left;
  const last = kernel().statements.length - 1;
  sayStatement(space, Math.min(Math.max(space.scale.statementAt(at), Math.ceil(space.scale.first)), last));
}

function sayStatement(space, number) {
  space.now.style.visibility = "visible";
  const x = space.scale.x(number);
  space.now.setAttribute("x1", x);
  space.now.setAttribute("x2", x);
  const [text, where] = kernel().statements[number];
  space.caption.replaceChildren(`${number}: `, element("code", {}, text), where ? ` · ${where}` : "");
}

/** Tell of a bar: beside the pointer, or beside the bar where the keyboard is used. */
function tell(space, bar, event) {
  shown.bar?.classList.remove("picked");
  shown.bar = bar;
  bar.classList.add("picked");
  const part = bar.tile ?? bar.buffer;
  const row = space.section.querySelector(`[data-buffer="${space.data.buffers.indexOf(bar.buffer)}"]`);
  space.section.querySelectorAll("tr.picked").forEach((other) => other.classList.remove("picked"));
  row.classList.add("picked");
  const tip = document.getElementById("tip");
  tip.replaceChildren(element("strong", {}, part.name), factList(factsOf(kernel(), bar.buffer, bar.tile)));
  tip.hidden = false;
  if (event) {
    placeTip(event.clientX, event.clientY);
  } else {
    sayStatement(space, part.first);
    bar.scrollIntoView({ block: "nearest" });
    const box = bar.getBoundingClientRect();
    placeTip(Math.max(box.left, 0), box.bottom);
  }
}

/** Put the tip near a point, and inside of the window. */
function placeTip(x, y) {
  const tip = document.getElementById("tip");
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const left = Math.max(Math.min(x + 14, innerWidth - width - 8), 8);
  const below = y + 16;
  tip.style.left = `${left}px`;
  tip.style.top = `${below + height < innerHeight ? below : Math.max(y - height - 12, 8)}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
  shown.bar?.classList.remove("picked");
}

/** Go from the bar that was told of last to one that is `tiles` or `buffers` further on. */
function move(tiles, buffers) {
  const space = shown.spaces.find((one) => one.bars.flat().includes(shown.bar));
  if (!space) {
    shown.spaces[0]?.bars[0]?.[0]?.focus();
    return;
  }
  const row = space.bars.findIndex((bars) => bars.includes(shown.bar));
  const next = space.bars[row + buffers];
  if (!next) return;
  const column = buffers ? 0 : next.indexOf(shown.bar) + tiles;
  next[column]?.focus();
}

function goToSpace(direction) {
  const at = shown.spaces.findIndex((space) => space.bars.flat().includes(shown.bar));
  const next = shown.spaces[at < 0 ? 0 : at + direction];
  next?.section.scrollIntoView({ block: "start" });
  next?.bars[0]?.[0]?.focus({ preventScroll: true });
}

const BAR_KEYS = {
  c: toggleWhole,
  ArrowLeft: () => move(-1, 0),
  ArrowRight: () => move(1, 0),
  ArrowUp: () => move(0, 1),
  ArrowDown: () => move(0, -1),
  Escape: hideTip,
};
