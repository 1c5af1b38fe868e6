// Python text with colours and line numbers.
const KEYWORDS = new Set(
  ("False None True and as assert async await break class continue def del elif else except finally for from " +
    "global if import in is lambda nonlocal not or pass raise return try while with yield").split(" "),
);
const TOKEN =
  /("""|''')|(#.*)|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(@?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?=(\s*\()?)|(\b\d(?:[\w.]|e[+-])*)/g;
const CHUNK = 200;

/** The parts [class, text] of a line, and the quotes of a string that goes on in the next one ("" for none). */
function tokens(line, quotes) {
  const parts = [];
  let at = 0;
  if (quotes) {
    const end = line.indexOf(quotes);
    if (end < 0) return [[["string", line]], quotes];
    at = end + 3;
    parts.push(["string", line.slice(0, at)]);
  }
  TOKEN.lastIndex = at;
  for (let match = TOKEN.exec(line); match; match = TOKEN.exec(line)) {
    if (match.index > at) parts.push(["", line.slice(at, match.index)]);
    const [text, triple, comment, string, name, called, number] = match;
    at = match.index + text.length;
    if (triple) {
      const end = line.indexOf(triple, at);
      if (end < 0) return [[...parts, ["string", line.slice(match.index)]], triple];
      at = TOKEN.lastIndex = end + 3;
      parts.push(["string", line.slice(match.index, at)]);
    } else if (comment) parts.push(["comment", text]);
    else if (string) parts.push(["string", text]);
    else if (number) parts.push(["number", text]);
    else if (KEYWORDS.has(name)) parts.push(["keyword", text]);
    else parts.push([called !== undefined || text.startsWith("@") ? "call" : "", text]);
  }
  if (at < line.length) parts.push(["", line.slice(at)]);
  return [parts, ""];
}

/** Text nodes and coloured spans for parts of a line. */
function coloured(parts) {
  return parts.map(([kind, text]) => (kind ? element("span", { class: kind }, text) : breakable(text)));
}

/**
 * Lines with numbers, in chunks that the browser lays out when they come into view; long texts are
 * built bit by bit, so that the page stays usable. Lines in `failed` are marked; those after the first
 * `shown`, which hold `what`, are hidden until they are asked for. Only Python has colours.
 */
function codeView(lines, failed = [], shown = lines.length, what = "", isPython = true) {
  const view = element("div", { class: "code" });
  const marked = new Set(failed);
  let quotes = "";
  let isUnfolded = false;
  const addFold = () => {
    const fold = element("p", { class: "fold" });
    fold.unfold = () => {
      isUnfolded = true;
      for (const chunk of view.querySelectorAll(".chunk")) chunk.hidden = false;
      fold.remove();
    };
    const text = `⋯ ${lines.length - shown} lines of ${what}`;
    fold.append(element("button", { type: "button", onclick: fold.unfold }, text));
    view.append(fold);
  };
  const addChunk = (start) => {
    const end = Math.min(start + CHUNK, start < shown ? shown : lines.length);
    const chunk = element("div", { class: "chunk", hidden: start >= shown && !isUnfolded });
    for (let index = start; index < end; index += 1) {
      let parts;
      [parts, quotes] = isPython ? tokens(lines[index], quotes) : [[["", lines[index]]], ""];
      const kind = marked.has(index + 1) ? "code-line failed" : "code-line";
      const text = codeLine("span", {}, lines[index], coloured(parts));
      chunk.append(element("div", { class: kind, "data-number": index + 1 }, text));
    }
    if (start === shown) addFold();
    view.append(chunk);
    return end;
  };
  const addFrom = (start, until) => {
    let next = start;
    while (next < Math.min(until, lines.length)) next = addChunk(next);
    if (next < lines.length) setTimeout(() => view.isConnected && addFrom(next, next + 4 * CHUNK));
    else view.dataset.complete = "yes";
  };
  addFrom(0, Math.max(2 * CHUNK, shown, ...failed));
  return view;
}
