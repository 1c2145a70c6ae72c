// The nodes of the map as a table: the same for those who cannot see it, and for those who sort.
// @ts-check
import { h, table } from "./dom.js";
import { formatAmount, formatCount, formatPercent, meter } from "./format.js";
import { FRAGMENTATION } from "./gpu_fragmentation.js";
import { STATES, stateSign } from "./node_states.js";
import { nodeLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */

const MAX_ROWS = 500;

/**
 * The fullest first.
 * @param {{
 *   cluster: Doc,
 *   column: Doc,
 *   dim: Uint8Array,
 *   states: string[][],
 *   open: (name: string) => void,
 * }} shown `dim` nodes are left out
 * @returns {import("./dom.js").Child[]}
 */
export function nodeTable({ cluster, column, dim, states, open }) {
  const nodes = cluster.names
    .map((/** @type {string} */ name, /** @type {number} */ at) => ({ name, at, share: column.allocatable[at] ? column.requested[at] / column.allocatable[at] : 0 }))
    .filter((/** @type {Doc} */ each) => !dim[each.at])
    .sort((/** @type {Doc} */ a, /** @type {Doc} */ b) => b.share - a.share);
  const amounts = column.name === FRAGMENTATION ? ["fragmented", "idle"] : ["requested", "allocatable"];
  return [
    table("Nodes, the fullest first", ["Node", "", ...[column.name, ...amounts].map((text) => ({ text, num: true }))],
      nodes.slice(0, MAX_ROWS).map((/** @type {Doc} */ each) => [
        h("span", {},
          h("a", { href: nodeLink(each.name), onclick: (/** @type {Event} */ event) => { event.preventDefault(); open(each.name); } }, each.name),
          (states[each.at] ?? []).map((state) => h("span", { class: "state-word" }, " ", stateSign(state), STATES[state]?.word ?? state))),
        meter(column.requested[each.at], column.allocatable[each.at]),
        formatPercent(each.share),
        formatAmount(column.name, column.requested[each.at]),
        formatAmount(column.name, column.allocatable[each.at]),
      ])),
    nodes.length > MAX_ROWS && h("p", { class: "soft" }, `and ${formatCount(nodes.length - MAX_ROWS)} more`),
  ];
}
