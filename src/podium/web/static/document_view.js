// A view that is drawn once, when the documents that it shows are there: those of reports.
// @ts-check
import { h, replaceChildren, stateLine } from "./dom.js";
import { formatCount, plural } from "./format.js";
import { getDocument } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/**
 * Say what is read, then draw it or say why it is not there. What `draw` gives is called when the
 * view is left.
 * @param {View} view
 * @param {string} title
 * @param {string[]} paths
 * @param {(...documents: Doc[]) => (() => void) | void} draw
 * @returns {() => void}
 */
export function showDocuments(view, title, paths, draw) {
  let ended = false;
  /** @type {(() => void) | void} */
  let leave = undefined;
  replaceChildren(view.root, h("h1", {}, title), stateLine("Reading…"));
  Promise.all(paths.map((path) => getDocument(path))).then(
    (found) => {
      if (!ended) leave = draw(...found);
    },
    (problem) => ended || replaceChildren(view.root, h("h1", {}, title), stateLine(problem.message, "bad")),
  );
  return () => {
    ended = true;
    leave?.();
  };
}

/** @param {string[]} notes */
export function notesList(notes) {
  return notes.length ? h("section", {}, h("h2", {}, "Notes"), h("ul", {}, notes.map((note) => h("li", {}, note)))) : null;
}

/** What is missing from the input, and the notes. @param {Doc} found @returns {string[]} */
export function listInputNotes(found) {
  return [...found.incomplete.map((/** @type {Doc} */ each) => each.sentence), ...found.notes];
}

/** Says what a report has left out of a list. @param {View} view @param {string} list @param {number} kept @param {string} noun */
export function leftOutLine(view, list, kept, noun) {
  const all = view.overview.totals?.[list] ?? kept;
  return kept < all ? h("p", { class: "warn" }, `This report lists ${formatCount(kept)} of ${plural(all, noun)}; -o json has all.`) : null;
}

/** Conditions of `--fail-if`, and whether they hold. @param {Doc[]} conditions */
export function conditionPanels(conditions) {
  return conditions.map((each) => {
    const holds = each.holds ?? each.configurations.length > 0;
    return h("div", { class: `panel ${holds ? "alert" : "done"}` }, h("b", {}, holds ? "✗ " : "✓ not "), h("code", {}, each.condition), holds && (each.configurations ? ` holds of ${each.configurations.join(", ")}` : " holds"));
  });
}
