"use strict";
// Sort, search and filter tables; save figures; open all sections for printing.

const words = new Intl.Collator("en", { numeric: true });
const numberOf = (text) => Number(text.replaceAll(",", "").replace("\u2212", "-"));

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function bar([length, low, high, faint]) {
  const fill = element("span", { class: faint ? "bar-fill faint" : "bar-fill" });
  fill.style.width = `${100 * length}%`;
  const track = element("span", { class: "bar-track" }, fill);
  if (low !== null) {
    const error = element("span", { class: "bar-error" });
    error.style.left = `${100 * low}%`;
    error.style.width = `${100 * (high - low)}%`;
    track.append(error);
  }
  return track;
}

function enhance(box) {
  const table = box.querySelector("table"), body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells].map((cell) => ({ cell, text: cell.textContent }));
  const rows = [...body.rows].map((row) => ({ row, texts: [...row.cells].map((c) => c.textContent) }));
  const more = box.parentNode.querySelector("script[type='application/json']");
  if (more) {
    const { cells, bars } = JSON.parse(more.textContent);
    for (let i = 0; i < cells[0].length; i++) {
      let j = 0;
      const parts = heads.map(({ cell }) =>
        cell.classList.contains("bar") ? bars[j][i] : cells[j++][i]);
      rows.push({ parts, texts: parts.map((part) => (Array.isArray(part) ? "" : part)) });
    }
  }
  if (rows.length < 3) return;
  const what = box.dataset.what, total = Number(box.dataset.total);
  let limit = body.rows.length, sorted = null, down = false, query = "", wanted = "";

  function rowOf(record) {  // made when it is first shown
    record.row ??= element("tr", {}, ...record.parts.map((part, k) => {
      const { cell } = heads[k], name = cell.classList.contains("name");
      const made = element(name ? "th" : "td", { class: cell.className });
      if (name) made.scope = "row";
      if (cell.classList.contains("words") && part.length < 16) made.classList.add("short");
      made.append(Array.isArray(part) ? bar(part) : part);
      return made;
    }));
    return record.row;
  }

  function show() {
    let shown = rows.filter(({ texts }) => (!wanted || texts[verdict] === wanted)
      && (!query || texts.some((text) => text.toLowerCase().includes(query))));
    if (sorted !== null) {
      const sign = down ? -1 : 1, numeric = rows.every(({ texts }) => !isNaN(numberOf(texts[sorted])));
      shown = shown.sort(({ texts: a }, { texts: b }) => {
        const [x, y] = [a[sorted], b[sorted]];
        if (!x || !y) return (x === "") - (y === "");  // empty cells come last either way
        return sign * (numeric ? numberOf(x) - numberOf(y) : words.compare(x, y));
      });
    }
    body.replaceChildren(...shown.slice(0, limit).map(rowOf));
    const n = Math.min(limit, shown.length), all = rows.length.toLocaleString("en");
    const first = total > rows.length ? ` (the first ${all} of ${total.toLocaleString("en")})` : "";
    const found = shown.length < rows.length
      ? `${shown.length.toLocaleString("en")} of ${all} ${what} match` : `${all} ${what}`;
    status.value = found + first + (n < shown.length ? `; ${n.toLocaleString("en")} are shown` : "");
    next.hidden = n === shown.length;
  }

  for (const [k, { cell, text }] of heads.entries()) {
    if (cell.classList.contains("bar") || !text) continue;
    const button = element("button", { type: "button", class: "sort" }, text);
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const first = heads[k - 1]?.cell.classList.contains("bar") ?? false;  // the largest bar first
      [sorted, down] = sorted !== k ? [k, first] : down === first ? [k, !first] : [null, false];
      for (const other of heads) other.cell.removeAttribute("aria-sort");
      if (sorted !== null) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      show();
    });
  }

  const verdict = heads.findIndex(({ text }) => text === "verdict");
  const status = element("output", { role: "status" });
  const next = element("button", { type: "button", class: "more" }, "Show 500 more");
  next.addEventListener("click", () => { limit += 500; show(); });
  const tools = element("div", { class: "tools screen" });
  if (rows.length > 12) {
    const search = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    search.addEventListener("input", () => { query = search.value.trim().toLowerCase(); show(); });
    tools.append(element("label", {}, "Search ", search));
    if (verdict >= 0) {
      const counts = new Map();
      for (const { texts } of rows) counts.set(texts[verdict], (counts.get(texts[verdict]) ?? 0) + 1);
      const select = element("select", {}, element("option", { value: "" }, "all"));
      for (const [word, n] of counts) {
        select.append(element("option", { value: word }, `${word} (${n.toLocaleString("en")})`));
      }
      select.addEventListener("change", () => { wanted = select.value; show(); });
      tools.append(element("label", {}, "Verdict ", select));
    }
    box.before(tools);
    tools.append(status);
  }
  box.after(element("p", { class: "screen" }, next));
  show();
}

function standalone(svg) {  // a copy with the colors of the page in place of its variables
  const copy = svg.cloneNode(true), style = getComputedStyle(document.documentElement);
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("font-family", getComputedStyle(svg).fontFamily);
  const text = new XMLSerializer().serializeToString(copy);
  return {
    width, height, paper: style.getPropertyValue("--paper"),
    text: text.replace(/var\((--[a-z-]+)\)/g, (_, name) => style.getPropertyValue(name).trim()),
  };
}

function download(url, name) {
  element("a", { href: url, download: name }).click();
}

function savable(figure) {
  const svg = figure.querySelector("svg"), title = figure.parentNode.querySelector("h2, h3");
  const name = title.textContent.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "figure";
  const save = element("p", { class: "save screen" });
  for (const kind of ["SVG", "PNG"]) {
    const button = element("button", { type: "button", "aria-label": `Save as ${kind}: ${title.textContent}` }, kind);
    button.addEventListener("click", () => {
      const { text, width, height, paper } = standalone(svg);
      const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      if (kind === "SVG") return download(url, `${name}.svg`);
      const image = new Image(), canvas = element("canvas", { width: 4 * width, height: 4 * height });
      image.addEventListener("load", () => {
        const pen = canvas.getContext("2d");
        pen.fillStyle = paper;
        pen.fillRect(0, 0, canvas.width, canvas.height);
        pen.drawImage(image, 0, 0, canvas.width, canvas.height);
        download(canvas.toDataURL("image/png"), `${name}.png`);
      });
      image.src = url;
    });
    save.append(button);
  }
  figure.append(save);
}

document.querySelectorAll(".scroll").forEach(enhance);
document.querySelectorAll("figure").forEach(savable);

const closed = [];
addEventListener("beforeprint", () => {
  closed.push(...document.querySelectorAll("details:not([open])"));
  for (const section of closed) section.open = true;
});
addEventListener("afterprint", () => {
  for (const section of closed.splice(0)) section.open = false;
});
