// Idle GPU that typical pods cannot use: a column beside those of resources, and words for it.
// @ts-check
import { h } from "./dom.js";
import { formatCount, formatPercent } from "./format.js";

/** @typedef {import("./source.js").Doc} Doc */

export const FRAGMENTATION = "GPU fragmentation";

/**
 * As a resource of which idle cards are there and those in fragments are taken; null without cards.
 * @param {Doc | null} found @param {string[]} names of all nodes
 * @returns {Doc | null}
 */
export function fragmentationColumn(found, names) {
  if (!found?.names.length) return null;
  const places = new Map(found.names.map((/** @type {string} */ name, /** @type {number} */ at) => [name, at]));
  const pick = (/** @type {number[]} */ values) => names.map((name) => values[places.get(name) ?? -1] ?? 0);
  return { name: FRAGMENTATION, unit: "count", allocatable: pick(found.nodeIdle), requested: pick(found.nodeFragmented) };
}

/** @param {number} fragmented @param {number} idle */
function describe(fragmented, idle) {
  const cards = (/** @type {number} */ value) => formatCount(Math.round(value * 100) / 100);
  return idle > 0 ? `${cards(fragmented)} of ${cards(idle)} idle cards are of no use to typical pods, ${formatPercent(fragmented / idle)}` : "no card is idle";
}

/** Of all nodes together. @param {Doc | null} found */
export function clusterFragmentation(found) {
  return found?.names.length ? `${FRAGMENTATION}: ${describe(found.fragmented, found.idle)}` : "";
}

/** Of one node, if it has cards. @param {Doc | null} found @param {string} name */
export function nodeFragmentation(found, name) {
  const at = found?.names.indexOf(name) ?? -1;
  return found && at >= 0 && h("p", { id: "node-fragmentation", title: "typical pods are the most frequent kinds of those that there are" }, `Fragmentation: ${describe(found.nodeFragmented[at], found.nodeIdle[at])}.`);
}
