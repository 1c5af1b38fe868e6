// The data of the page, and elements. Text only ever becomes text: nothing here parses markup.
const report = JSON.parse(document.getElementById("report-data").textContent);

/** An element; attributes that are null or false are left out, those that start with "on" are listeners. */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null));
  return node;
}

/** An element of SVG. */
function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** The lines of a text that is stored as runs [first, count, first, count, ...] of line numbers. */
function linesOf(runs) {
  const lines = [];
  for (let at = 0; at < runs.length; at += 2) {
    for (let line = runs[at]; line < runs[at] + runs[at + 1]; line += 1) lines.push(report.lines[line]);
  }
  return lines;
}

/** An element that holds a line of code; where it wraps, it goes on further in than it starts. */
function codeLine(tag, attributes, line, ...content) {
  const node = element(tag, attributes, ...content);
  const indent = line.search(/\S|$/) + 4;
  node.style.paddingLeft = `${indent + 0.5}ch`;
  node.style.textIndent = `-${indent}ch`;
  return node;
}

/** Parts of a long line, which may wrap after an opening bracket: names of operators are long. */
function breakable(text) {
  return text.split(/(?<=[([{=])/).flatMap((part, index) => (index ? [element("wbr"), part] : [part]));
}

/** A command with a button that copies it. */
function command(text) {
  const button = element("button", { type: "button" }, "copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  });
  return element("p", { class: "command" }, element("code", {}, text), button);
}

/** A list of labels and texts. */
function factList(facts) {
  const body = (text) => (text.includes("\n") ? element("pre", {}, text) : text);
  return element("dl", {}, facts.map(([label, text]) => [element("dt", {}, label), element("dd", {}, body(text))]));
}
