// A long table: searched, sorted by its heads, shown a part at a time, all of it in the address.
// @ts-check
import { h, replaceChildren } from "./dom.js";
import { formatCount, heatRamp, plural } from "./format.js";

/** @typedef {import("./main.js").View} View */
/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./source.js").Doc} Doc */
/**
 * `sort` is what a column is sorted by; the largest come first where it is a number. `heat` is a
 * share from 0 to 1 that colours the cell, NaN for none.
 * @typedef {{
 *   key: string,
 *   head: string,
 *   num?: boolean,
 *   cell: (row: Doc) => Child,
 *   sort?: (row: Doc) => number | string,
 *   heat?: (row: Doc) => number,
 * }} Column
 */

const PART = 200;
const [RAMP, RAMP_DARK] = [heatRamp(false), heatRamp(true)];

/**
 * `name` stands in front of the table's parameters in the address, so that a view can have several;
 * `text` is what the search looks at.
 * @param {View} view
 * @param {{
 *   name: string,
 *   caption: string,
 *   columns: Column[],
 *   rows: Doc[],
 *   text: (row: Doc) => string,
 *   noun: string,
 *   empty: string,
 *   search?: string,
 *   current?: (row: Doc) => boolean,
 * }} options
 * @returns {HTMLElement}
 */
export function dataTable(view, options) {
  const { name, columns } = options;
  if (!options.rows.length) return h("p", { class: "soft" }, options.empty);
  let words = view.params.get(`${name}q`) ?? "";
  let order = view.params.get(`${name}sort`) ?? "";
  let shown = PART;
  const body = h("div", { class: "scroll" });
  const total = h("span", { class: "soft", role: "status" });
  const find = /** @type {HTMLInputElement} */ (h("input", { type: "search", id: `${name}search`, value: words, placeholder: options.search ?? "find", "aria-label": `Find in: ${options.caption}` }));
  find.addEventListener("input", () => {
    words = find.value;
    shown = PART;
    view.go({ [`${name}q`]: words });
    draw();
  });
  const texts = new Map(options.rows.map((row) => [row, options.text(row).toLowerCase()]));
  const draw = () => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = sorted(options.rows.filter((row) => wanted.every((word) => texts.get(row)?.includes(word))), columns, order);
    total.textContent = found.length < options.rows.length ? `${formatCount(found.length)} of ${plural(options.rows.length, options.noun)}` : plural(found.length, options.noun);
    replaceChildren(
      body,
      found.length
        ? h("table", { class: "data" },
            h("caption", { class: "only-read" }, options.caption),
            h("thead", {}, h("tr", {}, columns.map(headCell))),
            h("tbody", {}, found.slice(0, shown).map((row) => h("tr", { class: options.current?.(row) ? "current" : null }, columns.map((column) => bodyCell(column, row))))))
        : h("p", { class: "soft" }, `Nothing here has “${words}” in it.`),
      found.length > shown && h("button", { type: "button", onclick: () => {
        shown += PART;
        draw();
      } }, `${formatCount(Math.min(PART, found.length - shown))} more of ${formatCount(found.length - shown)}`),
    );
  };
  /** @param {Column} column */
  const headCell = (column) => {
    const direction = order === column.key ? "descending" : order === `-${column.key}` ? "ascending" : null;
    if (!column.sort) return h("th", { scope: "col", class: column.num ? "num" : null }, column.head);
    return h("th", { scope: "col", class: column.num ? "num" : null, "aria-sort": direction },
      h("button", { type: "button", class: "sort", onclick: () => {
        order = order === column.key ? `-${column.key}` : column.key;
        view.go({ [`${name}sort`]: order });
        draw();
        /** @type {HTMLElement | null} */ (body.querySelector("th[aria-sort] button"))?.focus();
      } }, column.head, h("span", { "aria-hidden": "true" }, direction === "descending" ? " ↓" : direction ? " ↑" : "")));
  };
  draw();
  return h("div", {}, h("div", { class: "bar" }, find, total), body);
}

/** @param {Column} column @param {Doc} row */
function bodyCell(column, row) {
  const share = column.heat?.(row) ?? NaN;
  return h("td", { class: column.num ? "num" : "wrap", style: Number.isNaN(share) ? {} : heatStyle(share) }, column.cell(row));
}

/** The colours of a cell that shows a share. @param {number} share */
export function heatStyle(share) {
  const at = Math.min(63, Math.max(0, Math.round(share * 63)));
  const [light = "", dark = ""] = [RAMP[at], RAMP_DARK[at]];
  return { background: `light-dark(${light}, ${dark})`, color: `light-dark(${readable(light)}, ${readable(dark)})` };
}

/** Black or white, whichever can be read on a colour. @param {string} colour as in rgb(1,2,3) */
function readable(colour) {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((each) => (Number(each) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

/** @param {Doc[]} rows @param {Column[]} columns @param {string} order */
function sorted(rows, columns, order) {
  const column = columns.find((each) => each.key === order.replace(/^-/, ""));
  const by = column?.sort;
  if (!by) return rows;
  const sign = order.startsWith("-") ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [left, right] = [by(a), by(b)];
    if (typeof left === "number" && typeof right === "number") return sign * (right - left);
    return sign * String(left).localeCompare(String(right), "en", { numeric: true });
  });
}
