// Lists that change under the reader's hands: what stays the same keeps its place, focus and state.
// @ts-check

/** @typedef {{key: string, state?: string, make: () => HTMLElement}} Row */

/**
 * Make the children of an element these rows; one whose key and state are known stays as it is.
 * @param {HTMLElement} list
 * @param {Row[]} rows
 */
export function setRows(list, rows) {
  /** @type {Map<string, HTMLElement>} */
  const known = new Map();
  for (const child of list.children) if (child instanceof HTMLElement && child.dataset["key"] !== undefined) known.set(child.dataset["key"], child);
  const wanted = rows.map((row) => {
    const state = row.state ?? "";
    const old = known.get(row.key);
    if (old && old.dataset["state"] === state) return old;
    const made = row.make();
    made.dataset["key"] = row.key;
    made.dataset["state"] = state;
    if (old) replaceRow(old, made);
    return made;
  });
  const kept = new Set(wanted);
  for (const child of [...list.children]) if (!kept.has(/** @type {HTMLElement} */ (child))) child.remove();
  wanted.forEach((row, at) => {
    const now = list.children[at];
    if (now !== row) list.insertBefore(row, now ?? null);
  });
}

/** Whoever was on a button of the row is on the same place of the new one. @param {HTMLElement} old @param {HTMLElement} made */
function replaceRow(old, made) {
  const places = [...old.querySelectorAll("button, a")];
  const at = places.indexOf(/** @type {Element} */ (document.activeElement));
  old.replaceWith(made);
  const next = at < 0 ? null : made.querySelectorAll("button, a")[at];
  if (next instanceof HTMLElement) next.focus();
}
