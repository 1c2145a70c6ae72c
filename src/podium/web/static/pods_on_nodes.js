// The pods of every node, kept up to date: read in parts, then by what has changed.
// @ts-check
import { getDocument, isReport } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/**
 * What pods of one template have in common.
 * @typedef {{namespace: string, ownerKind: string, workload: string, priority: number, requests: Record<string, number>}} Template
 */
/** @typedef {{key: string, template: Template, created: number, terminating: boolean}} MapPod */
/** A pod that has just come or gone. @typedef {{pod: MapPod, node: string, came: boolean, at: number}} Move */

// Who came or went is shown for so long.
export const MOVE_MS = 1600;
const MAX_MOVES = 200;
const RETRY_MS = 3000;
/** @type {MapPod[]} */
const NOBODY = [];

export class PodsOnNodes {
  /** @param {string} prefix of the documents' paths @param {() => void} onChange */
  constructor(prefix, onChange) {
    this.prefix = prefix;
    this.onChange = onChange;
    /** @type {Map<string, MapPod[]>} */
    this.byNode = new Map();
    /** @type {Move[]} the latest last */
    this.moves = [];
    /** @type {Map<string, Template>} */
    this.templates = new Map();
    this.mark = "";
    this.isComplete = false;
    /** Whether a report holds no more of them. */
    this.isCut = false;
    /** Seconds since 1970, as the scheduler sees it. */
    this.now = Date.now() / 1000;
    this.reading = false;
    this.wanted = false;
    this.ended = false;
  }

  /** @param {string} node */
  of(node) {
    return this.byNode.get(node) ?? NOBODY;
  }

  /** Read what is new; again when that is done, if it is called meanwhile. */
  async refresh() {
    if (this.reading) {
      this.wanted = true;
      return;
    }
    this.reading = true;
    do {
      this.wanted = false;
      try {
        if (this.mark) await this._readChanges();
        else await this._readAll();
      } catch {
        if (!this.ended) setTimeout(() => void this.refresh(), RETRY_MS);
      }
    } while (this.wanted && !this.ended);
    this.reading = false;
  }

  async _readAll() {
    await this._takeParts(await getDocument(`${this.prefix}pods-on-nodes`));
  }

  async _readChanges() {
    const found = await getDocument(`${this.prefix}pods-on-nodes?since=${encodeURIComponent(this.mark)}`);
    if (!found.isDifference) {
      await this._takeParts(found);
      return;
    }
    const moment = performance.now();
    const templates = this._takeTemplates(found);
    for (const node of found.nodes) {
      const pods = this._takeNode(node, templates);
      this._noteMoves(node.name, this.of(node.name), pods, moment);
      this.byNode.set(node.name, pods);
    }
    this.mark = found.mark;
    this.now = Date.parse(found.at) / 1000;
    if (found.nodes.length && !this.ended) this.onChange();
  }

  /** Everything, part by part; what is there can be seen before all of it is. @param {Doc} first */
  async _takeParts(first) {
    let part = first;
    this.mark = "";
    this.byNode = new Map();
    this.isComplete = false;
    for (;;) {
      const templates = this._takeTemplates(part);
      for (const node of part.nodes) this.byNode.set(node.name, this._takeNode(node, templates));
      this.now = Date.parse(part.at) / 1000;
      if (this.ended) return;
      this.isCut = isReport && part.next !== undefined;
      this.isComplete = isReport || part.next === undefined;
      this.onChange();
      if (this.isComplete) break;
      part = await getDocument(`${this.prefix}pods-on-nodes?from=${part.next}`);
    }
    // What has changed while later parts were read has changed since the first one.
    this.mark = first.mark;
  }

  /** Templates as values that can be compared, whatever document they came in. @param {Doc} found @returns {Template[]} */
  _takeTemplates(found) {
    return found.templates.map((/** @type {Template} */ each) => {
      const key = JSON.stringify(each);
      const known = this.templates.get(key);
      if (!known) this.templates.set(key, each);
      return known ?? each;
    });
  }

  /** @param {Doc} node @param {Template[]} templates @returns {MapPod[]} */
  _takeNode(node, templates) {
    /** @type {MapPod[]} */
    const pods = node.pods.map((/** @type {string} */ name, /** @type {number} */ at) => {
      const template = /** @type {Template} */ (templates[node.templates[at]]);
      return { key: `${template.namespace}/${name}`, template, created: node.created[at], terminating: false };
    });
    for (const at of node.terminating) if (pods[at]) pods[at].terminating = true;
    return pods;
  }

  /** @param {string} node @param {MapPod[]} before @param {MapPod[]} after @param {number} at */
  _noteMoves(node, before, after, at) {
    const were = new Set(before.map((pod) => pod.key));
    const are = new Set(after.map((pod) => pod.key));
    for (const pod of before) if (!are.has(pod.key)) this.moves.push({ pod, node, came: false, at });
    for (const pod of after) if (!were.has(pod.key)) this.moves.push({ pod, node, came: true, at });
    if (this.moves.length > MAX_MOVES) this.moves.splice(0, this.moves.length - MAX_MOVES);
  }
}
