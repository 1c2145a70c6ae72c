// Who matches the words of the search and what is chosen of the legend: nodes, pods, workloads.
// @ts-check
import { workloadOf } from "./pod_colours.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./pods_on_nodes.js").MapPod} MapPod */
/**
 * `dim` has 1 for each node that does not match; of one that does because of its pods, only those
 * are in `pods`. Without a search nobody is told apart.
 * @typedef {{dim: Uint8Array, nodes: number, podCount: number, pods: Set<MapPod> | null}} Found
 */

/**
 * @param {{
 *   words: string,
 *   only: string,
 *   cluster: Doc,
 *   told: Doc | null,
 *   states: string[][],
 *   pods: import("./pods_on_nodes.js").PodsOnNodes,
 *   colours: import("./pod_colours.js").PodColours,
 * }} where `only` is an entry of the legend, as "node dead" or "pods shop/web"; `told` are states
 * @returns {Found}
 */
export function searchMap({ words, only, cluster, told, states, pods, colours }) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const [kind, chosen] = [only.slice(0, 4), only.slice(5)];
  const count = cluster.names.length;
  if (!wanted.length && !only) return { dim: new Uint8Array(count), nodes: count, podCount: 0, pods: null };
  const isChosen = kind === "pods" ? chosenPods(chosen, pods, colours) : () => true;
  const podFits = (/** @type {MapPod} */ pod) =>
    isChosen(pod) && wanted.every((word) => pod.key.toLowerCase().includes(word) || workloadOf(pod).toLowerCase().includes(word));
  const reasons = new Map((told?.nodes ?? []).map((/** @type {Doc} */ each) => [each.name, `${each.reasons.join(" ")} ${each.gpuModel}`]));
  const nodeFits = (/** @type {string} */ name, /** @type {number} */ node) => {
    if (kind === "node" && !states[node]?.includes(chosen)) return false;
    const labels = () => cluster.groups.map((/** @type {Doc} */ each) => `${each.label}=${each.values[each.of[node]] ?? ""}`).join(" ");
    return wanted.every((word) => name.toLowerCase().includes(word) || (word.length > 1 && `${labels()} ${reasons.get(name) ?? ""}`.toLowerCase().includes(word)));
  };
  /** @type {Found} */
  const found = { dim: new Uint8Array(count).fill(1), nodes: 0, podCount: 0, pods: new Set() };
  cluster.names.forEach((/** @type {string} */ name, /** @type {number} */ node) => {
    const isNode = kind !== "pods" && nodeFits(name, node);
    const here = isNode ? pods.of(name) : kind === "node" ? [] : pods.of(name).filter(podFits);
    for (const pod of here) found.pods?.add(pod);
    if (!isNode) found.podCount += here.length;
    if (!isNode && !here.length) return;
    found.dim[node] = 0;
    found.nodes += 1;
  });
  return found;
}

/**
 * @param {string} name of a category
 * @param {import("./pods_on_nodes.js").PodsOnNodes} pods
 * @param {import("./pod_colours.js").PodColours} colours
 * @returns {(pod: MapPod) => boolean}
 */
function chosenPods(name, pods, colours) {
  const named = new Set(colours.legend(pods).map((each) => each.name));
  const isRest = /^\d+ others$/.test(name) || name === "no workload";
  return (pod) => {
    const category = colours.categoryOf(pod, pods.now);
    return category === name || (isRest && !named.has(category));
  };
}
