// Outputs of a stage: what is known about their errors, as text, map and histogram.
const LIGHT_COLOURS = [[255, 229, 153], [247, 148, 72], [199, 43, 64], [84, 10, 70]];
const DARK_COLOURS = [[74, 26, 92], [176, 48, 84], [245, 134, 56], [255, 240, 166]];
const LEVELS = 250;
const NOT_FINITE = 255;

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** The colour of a share from 0 to 1, as [red, green, blue]. */
function scaleColour(share) {
  const colours = isDark() ? DARK_COLOURS : LIGHT_COLOURS;
  const at = Math.min(share * (colours.length - 1), colours.length - 1.001);
  const [from, to] = [colours[Math.floor(at)], colours[Math.floor(at) + 1]];
  return from.map((value, channel) => Math.round(value + (to[channel] - value) * (at % 1)));
}

/** A colour of the style sheet as [red, green, blue]. */
function styleColour(name) {
  const probe = element("span", { class: `swatch ${name}` });
  document.body.append(probe);
  const found = getComputedStyle(probe).backgroundColor.match(/\d+/g).slice(0, 3).map(Number);
  probe.remove();
  return found;
}

function bytes(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function short(value) {
  return value === 0 ? "0" : value.toExponential(2);
}

function range(title, first, count, extent) {
  const last = Math.min(first + count, extent) - 1;
  return first === last ? `${title} ${first}` : `${title}s ${first}–${last}`;
}

/** Pixels along an axis for each of so many points. */
function pointSize(points, pixels) {
  return Math.max(1, Math.min(24, Math.round(pixels / points)));
}

/** Draw one byte a pixel by a function from byte to colour. */
function paint(canvas, values, colour) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  values.forEach((value, at) => image.data.set([...colour(value), 255], 4 * at));
  context.putImageData(image, 0, 0);
}

/** The map of a tensor's errors, with its scale, a choice of what it shows, and the text of one bin. */
function errorMap(name, map) {
  const height = map.shape.slice(0, -1).reduce((product, extent) => product * extent, 1);
  const width = map.shape.length ? map.shape[map.shape.length - 1] : 1;
  const [levels, bad] = [bytes(map.levels), bytes(map.bad)];
  const about = `Errors of ${name} in ${map.rows} x ${map.columns} bins, from ${short(map.low)} to ${short(map.high)}`;
  const canvas = element("canvas", {
    class: "map", width: map.columns, height: map.rows, tabindex: 0, role: "img", "aria-label": about,
  });
  canvas.style.width = `${map.columns * pointSize(map.columns, 400)}px`;
  canvas.style.height = `${map.rows * pointSize(map.rows, 300)}px`;
  const scale = element("canvas", { width: 100, height: 1, "aria-hidden": "true" });
  const scaleTexts = [element("span"), element("span")];
  const cellText = element("p", { class: "cell-text", "aria-live": "polite" });
  let shown = "errors";

  const draw = () => {
    const [none, notFinite] = [styleColour("no-error"), styleColour("not-finite")];
    if (shown === "errors") {
      paint(canvas, levels, (level) =>
        level === 0 ? none : level === NOT_FINITE ? notFinite : scaleColour((level - 1) / (LEVELS - 1)),
      );
    } else paint(canvas, bad, (share) => (share === 0 ? none : scaleColour(share / 255)));
    paint(scale, Array.from({ length: 100 }, (_, at) => at), (at) => scaleColour(at / 99));
    const ends = shown === "errors" ? [short(map.low), short(map.high)] : ["> 0 %", "100 %"];
    ends.forEach((text, at) => (scaleTexts[at].textContent = text));
  };
  const describe = (row, column) => {
    const at = row * map.columns + column;
    const level = levels[at];
    const size = map.low * (map.high / map.low) ** ((level - 1) / (LEVELS - 1));
    const error = level === 0 ? "no error" : level === NOT_FINITE ? "NaN or infinite" : `max |diff| about ${short(size)}`;
    const share = bad.length ? `; ${Math.round((bad[at] / 255) * 100)} % of the cells bad` : "";
    const place = `${range("row", row * map.bin_rows, map.bin_rows, height)}, ` +
      range("column", column * map.bin_columns, map.bin_columns, width);
    cellText.textContent = `${place}: ${error}${share}`;
  };
  const position = [0, 0];
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    if (!moves[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    const limits = [map.rows, map.columns];
    moves[event.key].forEach((step, axis) => {
      position[axis] = Math.max(0, Math.min(limits[axis] - 1, position[axis] + step));
    });
    describe(...position);
  });
  canvas.addEventListener("pointermove", (event) => {
    const row = Math.floor((event.offsetY / canvas.clientHeight) * map.rows);
    const column = Math.floor((event.offsetX / canvas.clientWidth) * map.columns);
    if (row >= 0 && column >= 0 && row < map.rows && column < map.columns) describe(row, column);
  });
  canvas.redraw = draw;

  const bins = map.bin_rows * map.bin_columns;
  const flattened = map.shape.length > 2 ? ` Rows are all axes of [${map.shape}] but the last, in order.` : "";
  const legend = (bins > 1
    ? `Each point is a bin of ${map.bin_rows} x ${map.bin_columns} cells and shows the largest |diff| in it. `
    : "Each point is a cell. ") + `Colours are on a logarithmic scale.${flattened}`;
  const radio = (value, text) => {
    const input = element("input", { type: "radio", name: `shown-${name}`, value, checked: value === shown });
    input.addEventListener("change", () => {
      shown = value;
      draw();
    });
    return element("label", {}, input, ` ${text}`);
  };
  return element(
    "figure",
    {},
    bad.length
      ? element("fieldset", { class: "choice" }, radio("errors", "size of errors"), radio("bad", "share of bad cells"))
      : null,
    element(
      "div",
      { class: "axes" },
      element("span", { class: "rows" }, range("row", 0, height, height)),
      canvas,
      element("span", { class: "columns" }, range("column", 0, width, width)),
    ),
    element(
      "div",
      { class: "scale" },
      scaleTexts[0],
      scale,
      scaleTexts[1],
      element("span", {}, element("span", { class: "swatch no-error" }), "none"),
      element("span", {}, element("span", { class: "swatch not-finite" }), "NaN or infinite"),
    ),
    cellText,
    element("figcaption", {}, legend),
  );
}

/** How many cells have an error of which size. */
function errorHistogram(name, histogram) {
  const { first, per_decade: perDecade, good, bad, equal, not_finite: notFinite } = histogram;
  const [width, height, left, right, bottom, top] = [480, 220, 44, 20, 34, 10];
  const counts = good.map((count, at) => count + bad[at]);
  const most = Math.log10(1 + Math.max(1, ...counts));
  const y = (count) => height - bottom - (Math.log10(1 + count) / most) * (height - bottom - top);
  const step = (width - left - right) / Math.max(1, counts.length);
  const label = `${name}: cells by size of error, ${counts.length ? counts.reduce((a, b) => a + b) : 0} cells`;
  const svg = svgElement("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  for (let power = 0; power <= most; power += Math.max(1, Math.ceil(most / 6))) {
    const at = y(10 ** power - (power ? 1 : 0));
    svg.append(svgElement("line", { class: "axis", x1: left, x2: width - right, y1: at, y2: at }));
    svg.append(svgElement("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, power < 4 ? `${10 ** power}` : `1e${power}`));
  }
  counts.forEach((count, at) => {
    if (!count) return;
    const from = 10 ** (first + at / perDecade);
    const title = `${short(from)} to ${short(from * 10 ** (1 / perDecade))}: ${good[at]} within the tolerance, ${bad[at]} bad`;
    // Bad cells stand at the bottom, so that few of them are seen on this scale.
    const [middle, end] = [y(bad[at]), y(count)];
    const x = left + at * step;
    const parts = [["bad", middle, height - bottom - middle], ["good", end, middle - end]];
    for (const [kind, start, size] of parts) {
      if (size > 0) {
        const bar = svgElement("rect", { class: kind, x: x + 0.5, y: start, width: Math.max(1, step - 1), height: size });
        bar.append(svgElement("title", {}, title));
        svg.append(bar);
      }
    }
  });
  const decades = counts.length / perDecade;
  for (let decade = 0; decade <= decades; decade += Math.max(1, Math.ceil(decades / 8))) {
    const x = left + decade * perDecade * step;
    svg.append(svgElement("text", { x, y: height - bottom + 16, "text-anchor": "middle" }, `1e${first + decade}`));
  }
  svg.append(svgElement("text", { x: (width + left) / 2, y: height - 3, "text-anchor": "middle" }, "|diff|"));
  const others = [`${equal} cells are equal`, ...(notFinite ? [`${notFinite} are NaN or infinite`] : [])];
  return element(
    "figure",
    {},
    svg,
    element(
      "figcaption",
      {},
      element("span", { class: "swatch bar-bad" }),
      "bad ",
      element("span", { class: "swatch bar-good" }),
      `within the tolerance. Both axes are logarithmic. Not in it: ${others.join(", ")}.`,
    ),
  );
}

/** One output of a stage. */
function tensorView(tensor) {
  const view = element(
    "section",
    { class: `tensor ${tensor.passed ? "good" : "bad"}` },
    element("h3", {}, `${tensor.passed ? "✓" : "✗"} ${tensor.name}`),
    element("code", {}, tensor.line),
    factList(tensor.facts),
  );
  if (tensor.picture !== null) {
    const { map, histogram } = report.pictures[tensor.picture];
    view.append(element("div", { class: "pictures" }, errorMap(tensor.name, map), errorHistogram(tensor.name, histogram)));
  } else if (tensor.is_equal) view.append(element("p", {}, "Every cell is equal: there are no errors to draw."));
  else view.append(element("p", {}, "The two cannot be compared cell by cell: there is nothing to draw."));
  if (!tensor.passed) view.append(element("div", {}, "rerun:", command(tensor.rerun)));
  return view;
}

function redrawMaps() {
  for (const canvas of document.querySelectorAll("canvas.map")) canvas.redraw();
}
