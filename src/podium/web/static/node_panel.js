// One node, opened beside the map: what it has, what is the matter with it, its cards, who is there.
// @ts-check
import { h, table } from "./dom.js";
import { formatAmount, formatCount, formatPercent, formatTime, meter, plural } from "./format.js";
import { nodeFragmentation } from "./gpu_fragmentation.js";
import { STATES, stateSign } from "./node_states.js";
import { hasDocument, isReport, podLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./dom.js").Child} Child */

/** A pod, with its decision where there is one. @param {string} key */
function podName(key) {
  return !isReport || hasDocument(`pods/${key}`) ? h("a", { href: podLink(key) }, key) : key;
}

/**
 * What a node's panel shows below its name.
 * @param {Doc} node
 * @param {{states: string[], reasons: string[], fragments: Doc | null, cards: Doc[], podWords: string[]}} more
 * `cards` are those of the map, with each owner's share; `podWords` are those of the pod that is
 * selected
 * @returns {(Child | Child[])[]}
 */
export function nodePanel(node, { states, reasons, fragments, cards, podWords }) {
  const [chosen, ...words] = podWords;
  // Resources of shared cards that no agent announces are of the cards, not of the node.
  const offered = node.resources.filter((/** @type {Doc} */ each) => each.allocatable > 0 || !node.cards.length);
  return [
    states.length > 0 && h("ul", { class: "states", "aria-label": "What is the matter with it" }, states.map((state) =>
      h("li", {}, stateSign(state), h("b", {}, STATES[state]?.word ?? state), ` – ${STATES[state]?.meaning ?? ""}`))),
    reasons.length > 0 && h("p", { class: "mono reason" }, reasons.join(" · ")),
    chosen && h("section", { class: "panel", id: "chosen-pod" }, h("b", { class: "name" }, podName(chosen)), words.slice(0, -1).map((line) => h("div", {}, line))),
    table("Resources", ["Resource", "", { text: "requested", num: true }, { text: "of", num: true }],
      offered.map((/** @type {Doc} */ each) => [each.name, meter(each.requested, each.allocatable), formatAmount(each.name, each.requested), formatAmount(each.name, each.allocatable)])),
    node.cards.length > 0 && [
      h("h2", {}, plural(node.cards.length, "GPU card")),
      nodeFragmentation(fragments, node.name),
      h("ul", { class: "cards" }, node.cards.map((/** @type {Doc} */ card) => cardItem(card, cards.find((each) => each.index === card.index && each.dialect === card.dialect)))),
    ],
    h("h2", {}, plural(node.podCount, "pod")),
    node.pods.length
      ? table("Pods", ["Pod", { text: "cpu", num: true }, { text: "memory", num: true }],
          node.pods.map((/** @type {Doc} */ pod) => [podName(pod.pod), formatAmount("cpu", pod.requests.cpu ?? 0), formatAmount("memory", pod.requests.memory ?? 0)]))
      : h("p", { class: "soft" }, "Nobody is here."),
    node.podCount > node.pods.length && h("p", { class: "soft" }, `the ${formatCount(node.pods.length)} largest are shown`),
    node.story.length > 0 && [
      h("h2", {}, "Who came", " ", h("a", { href: `#/story?node=${encodeURIComponent(node.name)}`, class: "why" }, "its story →")),
      table("What happened on this node", ["", "Pod", "What"], node.story.slice(-30).reverse().map((/** @type {Doc} */ line) => [
        h("span", { class: "num" }, formatTime(line.at)), podName(line.pod), line.what === "preempting" ? `evicts ${line.detail}` : line.what])),
    ],
    h("h2", {}, "Labels"),
    h("dl", { class: "facts labels" }, Object.entries(node.labels).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, String(value))])),
  ].flat();
}

/**
 * A card as a bar of the shares that pods have of it.
 * @param {Doc} card @param {Doc | undefined} shared the same with each owner's share
 */
function cardItem(card, shared) {
  const used = Math.max(card.cores ? card.usedCores / card.cores : 0, card.memoryBytes ? card.usedMemoryBytes / card.memoryBytes : 0);
  /** @type {Doc[]} */
  const owners = shared?.owners ?? card.owners.map((/** @type {string} */ pod) => ({ pod, share: used / card.owners.length }));
  const facts = [
    card.healthy ? "" : "broken",
    card.cores ? `${formatPercent(card.usedCores / card.cores)} of its cores` : "",
    card.memoryBytes ? `${formatAmount("memory", card.usedMemoryBytes)} of ${formatAmount("memory", card.memoryBytes)}` : "",
  ];
  return h("li", { class: card.healthy ? null : "broken" },
    h("div", { class: "card-name" }, h("b", {}, `${card.index}`), ` ${card.model}`),
    h("span", { class: "card-bar", role: "img", "aria-label": `${formatPercent(used)} taken by ${plural(owners.length, "pod")}` },
      owners.map((owner) => h("i", { style: { width: `${Math.min(100, owner.share * 100)}%` } }))),
    h("div", { class: "soft" }, facts.filter(Boolean).join(" · ")),
    owners.map((owner) => h("div", { class: "owner" }, podName(owner.pod), " ", h("span", { class: "soft" }, formatPercent(owner.share)))));
}
