// Elements without HTML text: whatever others have named their pods stays text.
// @ts-check

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {{[name: string]: any}} Properties */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with properties and children. `class`, `data-*`, `aria-*` and the like become
 * attributes, `on...` listeners, `style` an object of CSS properties.
 * @param {string} tag
 * @param {Properties} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  setProperties(element, properties);
  append(element, children);
  return element;
}

/**
 * @param {string} tag
 * @param {Properties} [properties]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  setProperties(element, properties);
  append(element, children);
  return element;
}

/** @param {Element} element @param {Properties} properties */
function setProperties(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(/** @type {HTMLElement} */ (element).style, value);
    else if (name === "value") /** @type {HTMLInputElement} */ (element).value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {Element} element @param {(Child | Child[])[]} children */
function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** @param {Element} element @param {...(Child | Child[])} children */
export function replaceChildren(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * Rebuild a part of the page: the element that has the keyboard's focus is found again by its id, a caret stays where it was.
 * @param {() => void} rebuild
 */
export function keepFocus(rebuild) {
  const before = document.activeElement;
  const caret = before instanceof HTMLInputElement ? before.selectionStart : null;
  rebuild();
  if (!before?.id || before.isConnected) return;
  const after = document.getElementById(before.id);
  after?.focus({ preventScroll: true });
  // A slider or a check box has no caret.
  if (caret !== null && after instanceof HTMLInputElement) after.setSelectionRange(caret, caret);
}

/**
 * A table; cells that are numbers stand on the right.
 * @param {string} caption
 * @param {(string | {text: string, num?: boolean})[]} heads
 * @param {Child[][]} rows
 */
export function table(caption, heads, rows) {
  const columns = heads.map((head) => (typeof head === "string" ? { text: head } : head));
  return h(
    "table",
    {},
    h("caption", { class: "only-read" }, caption),
    h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col", class: c.num ? "num" : null }, c.text)))),
    h(
      "tbody",
      {},
      rows.map((row) => h("tr", {}, row.map((cell, at) => h("td", { class: columns[at]?.num ? "num" : "wrap" }, cell)))),
    ),
  );
}

/**
 * A command with a button that copies it.
 * @param {string} text
 */
export function commandLine(text) {
  const button = h("button", { type: "button", "aria-label": `Copy: ${text}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select it";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return h("div", { class: "command" }, h("code", {}, text), button);
}

/** @param {string} words @param {"bad" | ""} [kind] */
export function stateLine(words, kind = "") {
  return h("p", { class: `state ${kind}`, role: kind ? "alert" : "status" }, words);
}
