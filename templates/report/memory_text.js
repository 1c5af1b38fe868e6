// Words and tables of the page on memory.
const UNIT = 1024;

/** Bytes as B, KB or MB. */
function sizeText(size) {
  if (size < UNIT) return `${size} B`;
  return size < UNIT * UNIT ? `${trimmed(size / UNIT)} KB` : `${trimmed(size / UNIT / UNIT)} MB`;
}

function trimmed(number) {
  return number.toFixed(1).replace(/\.0$/, "");
}

/** A range of bytes as its first one and the one behind its last. */
function rangeText(part) {
  return `[${part.start}, ${part.start + part.size})`;
}

function liveText(part) {
  return part.first === part.last ? `statement ${part.first}` : `statements ${part.first} to ${part.last}`;
}

function shareText(space) {
  return space.limit ? `${((100 * space.used) / space.limit).toFixed(1)}%` : "";
}

/** The facts on a tile, or on a buffer of a pipe, which has no tiles. */
function factsOf(kernel, buffer, tile) {
  const facts = [];
  const part = tile ?? buffer;
  if (tile) facts.push(["tile", tile.type]);
  facts.push(["bytes", `${sizeText(part.size)} at ${rangeText(part)}`]);
  if (!tile) facts.push(["held", "by a pipe, all the time"]);
  else facts.push(["in use", liveText(tile)]);
  if (tile) {
    facts.push(["buffer", `${buffer.name}, ${sizeText(buffer.size)} at ${rangeText(buffer)}`]);
    const others = buffer.tiles.filter((other) => other !== tile).map((other) => other.name);
    if (others.length) facts.push(["also there", namesText(others)]);
    facts.push(["made by", kernel.statements[tile.first][0]]);
    if (tile.where) facts.push(["at", tile.where]);
  }
  return facts;
}

function namesText(names) {
  const most = 6;
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.slice(0, most).join(", ") + more;
}

function table(head, rows, counts) {
  const cell = (tag, text, column) => element(tag, { class: counts.includes(column) ? "count" : null, scope: tag === "th" ? "col" : null }, text);
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { class: "numbers" },
      element("thead", {}, element("tr", {}, head.map((text, column) => cell("th", text, column)))),
      element("tbody", {}, rows.map(([attributes, cells]) => element("tr", attributes, cells.map((text, column) => cell("td", text, column))))),
    ),
  );
}

/** What the kernel uses of each memory. */
function spacesTable(kernel) {
  const rows = kernel.spaces.map((space) => {
    const meter = space.limit ? element("meter", { min: 0, max: space.limit, value: space.used, "aria-label": `${space.space}: ${shareText(space)} used` }) : "";
    const limit = space.limit ? sizeText(space.limit) : "unknown";
    return [{}, [space.space, sizeText(space.used), limit, shareText(space), meter, sizeText(space.peak), `${space.reuse.toFixed(2)}×`, String(space.buffers.length)]];
  });
  return table(["memory", "used", "limit", "share", "", "in use at once", "reuse", "buffers"], rows, [1, 2, 3, 5, 6, 7]);
}

/** The buffers of one memory. */
function buffersTable(space) {
  const rows = space.buffers.map((buffer, at) => [
    { "data-buffer": at },
    [
      buffer.name,
      sizeText(buffer.size),
      rangeText(buffer),
      `${buffer.first}–${buffer.last}`,
      buffer.kind === "pipe" ? "(a pipe)" : buffer.tiles.map((tile) => tile.name).join(", "),
    ],
  ]);
  const found = table(["buffer", "size", "addresses", "statements", "tiles"], rows, [1]);
  found.querySelectorAll("td:last-child").forEach((cell) => cell.classList.add("tiles"));
  return found;
}
