// The picture of one memory: addresses upwards, statements from left to right.
const MARGIN = { left: 72, right: 10, top: 14, bottom: 22 };
const HUES = 6;
const LEAST_FRAME = 8; // pixels: lower buffers have no frame, which would hide their tiles
const LEAST_WIDTH = 0.6; // of a statement: what nothing reads is seen, too

/** Round numbers, about `count` of them: apart by a power of two, or by 1, 2 or 5 times a power of ten. */
function ticks(from, to, count, isBinary) {
  const rough = Math.max((to - from) / count, 1);
  const power = isBinary ? 2 ** Math.ceil(Math.log2(rough)) : 10 ** Math.floor(Math.log10(rough));
  const step = isBinary ? power : [1, 2, 5, 10].find((times) => times * power >= rough) * power;
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
}

/** The statements that the pictures of a kernel show: those in which a tile is in use. */
function shownStatements(kernel) {
  let [first, last] = [kernel.statements.length, 0];
  for (const tile of kernel.spaces.flatMap((space) => space.buffers).flatMap((buffer) => buffer.tiles)) {
    first = Math.min(first, tile.first);
    last = Math.max(last, tile.last, tile.first + LEAST_WIDTH);
  }
  return first < last ? [first, last] : [0, Math.max(kernel.statements.length - 1, 1)];
}

/** The scales of a picture: functions from statements and bytes to pixels. */
function scales(kernel, space, width, wholeMemory) {
  const [first, last] = shownStatements(kernel);
  const top = Math.max(wholeMemory && space.limit ? space.limit : 0, space.used, 1);
  const height = Math.min(Math.max(32 * space.buffers.length, 64), 460);
  const across = (width - MARGIN.left - MARGIN.right) / Math.max(last - first, 1);
  return {
    first,
    last,
    top,
    width,
    height: height + MARGIN.top + MARGIN.bottom,
    x: (statement) => MARGIN.left + (Math.min(Math.max(statement, first), last) - first) * across,
    y: (address) => MARGIN.top + height * (1 - address / top),
    statementAt: (x) => first + Math.floor((x - MARGIN.left) / across),
  };
}

function box(scale, part, attributes = {}) {
  const left = scale.x(part.first);
  const right = scale.x(Math.max(part.last, part.first + LEAST_WIDTH));
  const upper = scale.y(part.start + part.size);
  const height = Math.max(scale.y(part.start) - upper, 3);
  return svgElement("rect", { x: left, y: upper, width: Math.max(right - left, 2), height, ...attributes });
}

/** The name of a bar, cut where it is too long, or none where there is no room. */
function label(rect, name) {
  const [x, y, width, height] = ["x", "y", "width", "height"].map((key) => Number(rect.getAttribute(key)));
  const letters = Math.floor((width - 8) / 6.4);
  if (height < 15 || letters < 3) return [];
  const text = name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
  return [svgElement("text", { x: x + 4, y: y + height / 2 + 4 }, text)];
}

function bar(scale, space, buffer, at, tile) {
  const part = tile ?? buffer;
  const rect = box(scale, part);
  const kind = tile ? `hue-${at % HUES}${tile.is_own ? "" : " view"}` : "pipe";
  const said = `${part.name}, ${sizeText(part.size)} at ${part.start} in ${space.space}, ${tile ? liveText(tile) : "a pipe"}`;
  const found = svgElement("g", { class: `bar ${kind}`, tabindex: -1, role: "img", "aria-label": said }, rect, ...label(rect, part.name));
  Object.assign(found, { buffer, tile: tile ?? null });
  return found;
}

function axes(scale, space, kernel) {
  const right = scale.width - MARGIN.right;
  const low = scale.y(0);
  const parts = [svgElement("rect", { class: "ground", x: MARGIN.left, y: MARGIN.top, width: right - MARGIN.left, height: low - MARGIN.top })];
  for (const [first, last] of kernel.loops) {
    const [from, to] = [scale.x(first), scale.x(last + 1)];
    if (to > from) parts.push(svgElement("rect", { class: "loop", x: from, y: MARGIN.top, width: to - from, height: low - MARGIN.top }));
  }
  for (const address of ticks(0, scale.top, 5, true)) {
    const y = scale.y(address);
    parts.push(svgElement("line", { class: "grid", x1: MARGIN.left - 4, x2: right, y1: y, y2: y }));
    parts.push(svgElement("text", { x: MARGIN.left - 8, y: y + 4, "text-anchor": "end" }, sizeText(address)));
  }
  for (const statement of ticks(Math.ceil(scale.first), Math.floor(scale.last), Math.max(Math.floor(scale.width / 90), 2), false)) {
    const x = scale.x(statement);
    parts.push(svgElement("line", { class: "grid", x1: x, x2: x, y1: low, y2: low + 4 }));
    parts.push(svgElement("text", { x, y: low + 16, "text-anchor": "middle" }, String(statement)));
  }
  return parts;
}

function limitLine(scale, space) {
  if (!space.limit || space.limit > scale.top) return [];
  const y = scale.y(space.limit);
  const right = scale.width - MARGIN.right;
  return [
    svgElement("line", { class: "limit", x1: MARGIN.left, x2: right, y1: y, y2: y }),
    svgElement("text", { class: "limit-text", x: right - 4, y: y + 13, "text-anchor": "end" }, `limit ${sizeText(space.limit)}`),
  ];
}

/** The picture as an element, with its scale and its bars in the order of the buffers. */
function picture(kernel, space, width, wholeMemory) {
  const scale = scales(kernel, space, width, wholeMemory);
  const bars = space.buffers.map((buffer, at) => (buffer.tiles.length ? buffer.tiles : [null]).map((tile) => bar(scale, space, buffer, at, tile)));
  const frames = space.buffers.filter((buffer) => buffer.tiles.length > 1 && scale.y(0) - scale.y(buffer.size) > LEAST_FRAME).map((buffer) => box(scale, buffer, { class: "buffer" }));
  const now = svgElement("line", { class: "now", y1: MARGIN.top, y2: scale.y(0) });
  const drawn = svgElement(
    "svg",
    { class: "picture", viewBox: `0 0 ${width} ${scale.height}`, height: scale.height, role: "group", "aria-label": `${space.space}: addresses of buffers against statements` },
    ...axes(scale, space, kernel),
    ...bars.flat(),
    ...frames,
    ...limitLine(scale, space),
    now,
  );
  return { drawn, scale, bars, now };
}
