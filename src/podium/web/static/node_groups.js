// Groups that the map can show nodes in: by a label, by GPU model, by whose pods take most of them.
// @ts-check
import { plural } from "./format.js";
import { workloadOf } from "./pod_colours.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./pods_on_nodes.js").PodsOnNodes} PodsOnNodes */
/** @typedef {{name: string, members: number[]}} Group */

export const BY_MODEL = "GPU model";
export const BY_WORKLOAD = "owner: workload";
export const BY_NAMESPACE = "owner: namespace";
const NO_GROUPS = "none";
const MAX_GROUPS = 60;

/** What nodes can be grouped by, each with its words. @param {Doc} cluster @param {Doc | null} states @returns {[string, string][]} */
export function knownGroups(cluster, states) {
  return [
    [NO_GROUPS, "no groups"],
    ...cluster.groups.map((/** @type {Doc} */ each) => [each.label, each.label]),
    ...(states?.nodes.some((/** @type {Doc} */ each) => each.gpuModel) ? [[BY_MODEL, "GPU model"]] : []),
    [BY_NAMESPACE, "namespace with most on it"],
    [BY_WORKLOAD, "workload with most on it"],
  ];
}

const collator = new Intl.Collator("en", { numeric: true });
/** @type {WeakMap<string[], number[]>} */
const orders = new WeakMap();

/** Nodes as people count: 2 before 10. @param {string[]} names */
function inOrder(names) {
  const known = orders.get(names);
  if (known) return known;
  const order = names.map((_, node) => node).sort((a, b) => collator.compare(names[a] ?? "", names[b] ?? ""));
  orders.set(names, order);
  return order;
}

/**
 * @param {string} by @param {Doc} cluster @param {Doc | null} states
 * @param {PodsOnNodes} pods @param {string} resource that "most" is said of
 * @returns {Group[]}
 */
export function groupNodes(by, cluster, states, pods, resource) {
  /** @type {string[]} */
  const names = cluster.names;
  const label = cluster.groups.find((/** @type {Doc} */ each) => each.label === by);
  if (label) return collect(names, (_, node) => label.values[label.of[node]] ?? "", "without it");
  if (by === BY_MODEL && states) {
    const models = new Map(states.nodes.map((/** @type {Doc} */ each) => [each.name, each.gpuModel]));
    return collect(names, (name) => models.get(name) ?? "", "no GPU");
  }
  if (by === BY_NAMESPACE || by === BY_WORKLOAD) return collect(names, (name) => mostOn(pods.of(name), by, resource), "nobody");
  return [{ name: plural(names.length, "node").replace(/^[\d,]+ /, ""), members: inOrder(names) }];
}

/** @param {string[]} names @param {(name: string, node: number) => string} valueOf @param {string} without @returns {Group[]} */
function collect(names, valueOf, without) {
  /** @type {Map<string, number[]>} */
  const found = new Map();
  for (const node of inOrder(names)) {
    const group = valueOf(names[node] ?? "", node) || without;
    const members = found.get(group);
    if (members) members.push(node);
    else found.set(group, [node]);
  }
  let groups = [...found].map(([name, members]) => ({ name, members }));
  if (groups.length > MAX_GROUPS) groups = mergeSmallest(groups);
  return groups.sort((a, b) => collator.compare(a.name, b.name));
}

/** @param {Group[]} groups */
function mergeSmallest(groups) {
  const sorted = groups.sort((a, b) => b.members.length - a.members.length);
  const rest = sorted.slice(MAX_GROUPS);
  return [...sorted.slice(0, MAX_GROUPS), { name: `${rest.length} others`, members: rest.flatMap((each) => each.members) }];
}

/** @param {import("./pods_on_nodes.js").MapPod[]} pods @param {string} by @param {string} resource */
function mostOn(pods, by, resource) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const pod of pods) {
    const name = by === BY_NAMESPACE ? pod.template.namespace : workloadOf(pod) || pod.template.namespace;
    sums.set(name, (sums.get(name) ?? 0) + (pod.template.requests[resource] ?? 0) + 1e-6);
  }
  let [most, found] = [0, ""];
  for (const [name, sum] of sums) if (sum > most) [most, found] = [sum, name];
  return found;
}
