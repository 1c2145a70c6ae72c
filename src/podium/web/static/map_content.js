// What is in each node, for the map: its pods as blocks of one resource, its GPU cards.
//
// Made when a node is drawn and kept until its pods, their colours or the resource change.
// @ts-check
import { formatAmount, formatSeconds } from "./format.js";
import { workloadOf } from "./pod_colours.js";
import { getDocument } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./node_cell.js").Block} Block */
/** @typedef {import("./node_cell.js").CardBlock} CardBlock */
/** @typedef {import("./node_cell.js").Content} Content */
/** @typedef {import("./pod_colours.js").PodColours} PodColours */
/** @typedef {import("./pods_on_nodes.js").MapPod} MapPod */
/** @typedef {import("./pods_on_nodes.js").PodsOnNodes} PodsOnNodes */
/** @typedef {{pods: MapPod[], cards: unknown, version: number, content: Content}} Kept */

// A pod that requests nothing is there nevertheless.
const LEAST_SHARE = 0.004;
const WHOLE_GPU = /(^|[./-])gpu$/;
const MAX_WHOLE_GPUS = 16;

export class MapContent {
  /** @param {PodsOnNodes} pods @param {PodColours} colours */
  constructor(pods, colours) {
    this.pods = pods;
    this.colours = colours;
    /** @type {Doc} */
    this.cluster = null;
    /** @type {Doc} the resource that blocks are sized by */
    this.column = null;
    /** @type {Map<string, Doc[]>} cards of nodes by name, as agents tell of them */
    this.cards = new Map();
    /** @type {(pod: MapPod) => boolean} */
    this.matches = () => true;
    this.version = 0;
    /** @type {Kept[]} */
    this.kept = [];
    /** @type {Doc | null} cards that a device plugin hands out whole */
    this.gpus = null;
  }

  /** @param {Doc} cluster @param {Doc} column */
  show(cluster, column) {
    if (cluster !== this.cluster) this.kept = [];
    this.cluster = cluster;
    this.column = column;
    this.gpus = cluster.resources.find((/** @type {Doc} */ each) => WHOLE_GPU.test(each.name) && each.allocatable.some(Boolean)) ?? null;
    this.forget();
  }

  /** Have everything made anew: other colours, another search. */
  forget() {
    this.version += 1;
  }

  /** Read the cards of some nodes; says whether they could be. @param {string} prefix of the document's path @param {string[]} names */
  async readCards(prefix, names) {
    try {
      const found = await getDocument(`${prefix}gpu-cards?${names.map((name) => `node=${encodeURIComponent(name)}`).join("&")}`);
      for (const name of names) this.cards.delete(name);
      for (const node of found.nodes) this.cards.set(node.name, node.cards);
      return true;
    } catch {
      return false; // the map is there without them
    }
  }

  /** @param {number} node @returns {Content} */
  of(node) {
    const name = this.cluster.names[node];
    const pods = this.pods.of(name);
    const cards = this.cards.get(name);
    const kept = this.kept[node];
    if (kept && kept.pods === pods && kept.cards === cards && kept.version === this.version) return kept.content;
    const content = this._make(node, pods, cards);
    this.kept[node] = { pods, cards, version: this.version, content };
    return content;
  }

  /** What was drawn of a node last. @param {number} node */
  before(node) {
    return this.kept[node]?.content ?? null;
  }

  /** @param {number} node @param {MapPod[]} pods @param {Doc[] | undefined} cards @returns {Content} */
  _make(node, pods, cards) {
    const { name } = this.column;
    const has = this.column.allocatable[node];
    const now = this.pods.now;
    /** @type {Map<string, {shade: import("./pod_colours.js").Shade, share: number}>} */
    const bands = new Map();
    /** @type {Map<string, number>} */
    const sums = new Map();
    const blocks = pods.map((pod) => {
      const asks = name === "pods" ? 1 : (pod.template.requests[name] ?? 0);
      const share = Math.max(LEAST_SHARE, has > 0 ? asks / has : 0);
      const shade = this.colours.shadeOf(pod, now);
      const category = this.colours.categoryOf(pod, now);
      sums.set(category, (sums.get(category) ?? 0) + share);
      const band = bands.get(shade.light);
      if (band) band.share += share;
      else bands.set(shade.light, { shade, share });
      const label = pod.key.slice(pod.template.namespace.length + 1);
      return { key: pod.key, label, short: pod.template.workload, detail: name === "pods" ? "" : `${formatAmount(name, asks)} ${name}`, share, shade, dimmed: !this.matches(pod), leaving: pod.terminating };
    });
    const sorted = [...bands.values()].sort((a, b) => b.share - a.share);
    let most = "";
    for (const [category, sum] of sums) if (sum > (sums.get(most) ?? -1)) most = category;
    const whole = sorted.reduce((sum, band) => sum + band.share, 0);
    return { blocks, bands: sorted, whole, most: this.colours.shadeOfCategory(most), cards: this._cards(node, pods, blocks, cards) };
  }

  /** @param {number} node @param {MapPod[]} pods @param {Block[]} blocks @param {Doc[] | undefined} told @returns {CardBlock[]} */
  _cards(node, pods, blocks, told) {
    if (told) {
      const shades = new Map(blocks.map((block) => [block.key, block.shade]));
      return told.map((card) => ({
        healthy: card.healthy,
        label: card.model,
        shares: card.owners.flatMap((/** @type {Doc} */ owner) => {
          const shade = shades.get(owner.pod);
          return shade ? [{ key: owner.pod, share: owner.share, shade }] : [];
        }),
      }));
    }
    const count = this.gpus?.allocatable[node] ?? 0;
    if (!this.gpus || count < 1 || count > MAX_WHOLE_GPUS) return [];
    const { name } = this.gpus;
    const holders = pods.flatMap((pod, at) => new Array(Math.min(count, pod.template.requests[name] ?? 0)).fill(blocks[at]));
    return Array.from({ length: count }, (_, at) => {
      const block = /** @type {Block | undefined} */ (holders[at]);
      return { healthy: true, label: name, shares: block ? [{ key: block.key, share: 1, shade: block.shade }] : [] };
    });
  }

  /** A pod in words. @param {number} node @param {number} at @returns {string[]} */
  describePod(node, at) {
    const pod = this.pods.of(this.cluster.names[node])[at];
    if (!pod) return [];
    const { ownerKind, priority, requests } = pod.template;
    const workload = workloadOf(pod);
    const asks = Object.entries(requests).map(([name, amount]) => `${formatAmount(name, amount)} ${name}`).join(", ");
    return [
      pod.key,
      asks ? `requests ${asks}` : "requests nothing",
      workload ? `${ownerKind || "workload"} ${workload}` : "of no workload",
      `priority ${priority}${pod.created ? `, ${formatSeconds(Math.max(0, Math.round(this.pods.now - pod.created)))} old` : ""}`,
      ...(pod.terminating ? ["terminating: it is about to go"] : []),
      `on ${this.cluster.names[node]}`,
    ];
  }
}
