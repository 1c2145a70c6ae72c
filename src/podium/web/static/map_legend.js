// What the map's colours and signs mean, how many of each there are, and a press to see only those.
// @ts-check
import { h, replaceChildren } from "./dom.js";
import { formatCount, plural } from "./format.js";
import { rampLegend } from "./node_map.js";
import { STATES, stateSign } from "./node_states.js";

/** @typedef {import("./pod_colours.js").Category} Category */

/**
 * A press on what is pressed already shows everything again.
 * @param {HTMLElement} element
 * @param {{
 *   categories: Category[] | null,
 *   by: string,
 *   states: string[][],
 *   chosen: string,
 *   choose: (what: string) => void,
 * }} what without `categories` colours say how full nodes are
 */
export function showMapLegend(element, { categories, by, states, chosen, choose }) {
  const chip = (/** @type {string} */ key, /** @type {string} */ label, /** @type {import("./dom.js").Child[]} */ ...children) =>
    h("button", { type: "button", class: "key", id: `key-${encodeURIComponent(key)}`, "aria-pressed": String(key === chosen), "aria-label": label, title: label, onclick: () => choose(key === chosen ? "" : key) }, ...children);
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const each of states) for (const state of each) counts.set(state, (counts.get(state) ?? 0) + 1);
  replaceChildren(
    element,
    categories
      ? h("span", { class: "group", role: "group", "aria-label": `Pods by ${by}` }, categories.map((each) =>
          chip(`pods ${each.name}`, `${each.name || "no workload"}: ${plural(each.pods, "pod")}; show only these`,
            h("i", { class: `swatch texture-${each.shade.texture}`, style: { backgroundColor: `light-dark(${each.shade.light}, ${each.shade.dark})` } }),
            h("span", { class: "key-name" }, each.name || "no workload"), h("b", {}, formatCount(each.pods)))))
      : h("span", { class: "legend" }, ...rampLegend()),
    counts.size > 0 && h("span", { class: "group", role: "group", "aria-label": "States of nodes" }, Object.entries(STATES).flatMap(([name, state]) => {
      const count = counts.get(name);
      if (!count) return [];
      return [chip(`node ${name}`, `${plural(count, "node")} ${state.word}: ${state.meaning}; show only these`, stateSign(name), h("span", {}, state.word), h("b", {}, formatCount(count)))];
    })),
  );
}
