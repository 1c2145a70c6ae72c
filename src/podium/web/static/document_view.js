// A view that is drawn once, when the documents that it shows are there: those of reports.
// @ts-check
import { h, replaceChildren, stateLine } from "./dom.js";
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
