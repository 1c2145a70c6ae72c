// Cluster: every node as a cell, how full it is, and one of them opened.
// @ts-check
import { h, keepFocus, replaceChildren, stateLine, table } from "./dom.js";
import { formatAmount, formatCount, formatPercent, formatTime, meter, plural, shellWord } from "./format.js";
import { clusterFragmentation, FRAGMENTATION, fragmentationColumn, nodeFragmentation } from "./gpu_fragmentation.js";
import { keepFresh, onChange } from "./live.js";
import { makeNodeMap, rampLegend, zoomButtons } from "./node_map.js";
import { waitingPanel } from "./queue.js";
import { getDocument, hasDocument, isReport, nodeLink, podLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

const MAX_ROWS = 500;

/** @type {Doc} kept while other views are looked at */
let cluster = null;
/** In a report of a change: whether `cluster` is as it was before. */
let clusterPhase = "";
/** @type {Doc | null} how much idle GPU is in fragments */
let fragments = null;

/** A pod, with its decision where there is one. @param {string} key */
function podName(key) {
  return !isReport || hasDocument(`pods/${key}`) ? h("a", { href: podLink(key) }, key) : key;
}

/** @param {View} view @returns {() => void} */
export function showCluster(view) {
  const page = new ClusterPage(view);
  return () => page.end();
}

class ClusterPage {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.resource = view.params.get("resource") ?? "cpu";
    this.group = view.params.get("group") ?? "";
    this.words = view.params.get("q") ?? "";
    this.opened = view.params.get("node") ?? "";
    this.asTable = view.params.get("as") === "table";
    /** @type {string[]} */
    this.phases = view.overview?.phases ?? [];
    this.setPhase(view.params.get("when") ?? "after");
    /** @type {Map<string, number>} */
    this.index = new Map();
    /** @type {Uint8Array} */
    this.dim = new Uint8Array(0);
    this.reading = false;
    this.ended = false;
    this.matches = 0;
    /** @type {number | undefined} */
    this.later = undefined;
    this.waiting = h("div", {});
    this.bar = h("div", { class: "bar" });
    const made = makeNodeMap("Nodes by how full they are", (node) => this.open(cluster.names[node]));
    this.nodeMap = made;
    this.map = made.map;
    this.canvas = made.canvas;
    this.area = made.element;
    this.list = h("div", { class: "scroll hidden" });
    this.aside = h("aside", { class: "node hidden", "aria-label": "Node" });
    this.body = h("div", { class: "cluster" }, h("div", {}, this.area, this.list), this.aside);
    replaceChildren(view.root, h("h1", { class: "only-read" }, "Cluster"), this.waiting, this.bar, made.said, this.body);
    this.stops = [
      onChange((change) => this.change(change)),
      keepFresh(() => "queue", (queue) => replaceChildren(this.waiting, waitingPanel(queue)), () => {}, 2000),
    ];
    if (!isReport) this.stops.push(keepFresh(() => "fragmentation", (found) => this.setFragments(found), () => {}, 2000));
    if (cluster) this.show();
    else replaceChildren(this.bar, stateLine("Reading the nodes…"));
    void this.read();
  }

  /** Where the documents of the shown moment are. */
  get prefix() {
    return clusterPhase === "before" ? "before/" : "";
  }

  /** @param {string} phase before or after the changes, in a report that has both */
  setPhase(phase) {
    if (!this.phases.includes(phase) || phase === clusterPhase) return;
    clusterPhase = phase;
    cluster = null;
  }

  phaseButtons() {
    return this.phases.length > 0 && h("span", { role: "group", "aria-label": "When", id: "when" }, this.phases.flatMap((phase) => [
      h("button", { type: "button", "aria-pressed": String(phase === clusterPhase), onclick: async () => {
        this.view.go({ when: phase });
        this.setPhase(phase);
        await this.read();
        /** @type {HTMLElement | null} */ (document.querySelector("#when [aria-pressed=true]"))?.focus();
      } }, phase), " "]));
  }

  end() {
    this.ended = true;
    for (const stop of this.stops) stop();
    this.nodeMap.end();
    this.stopNode?.();
  }

  async read() {
    if (this.reading) return;
    this.reading = true;
    try {
      cluster = await getDocument(`${this.prefix}cluster`);
      const path = `${this.prefix}fragmentation`;
      if (isReport) fragments = hasDocument(path) ? await getDocument(path) : null;
      if (!this.ended) this.show();
    } catch (problem) {
      if (!this.ended && !cluster) replaceChildren(this.bar, stateLine(/** @type {Error} */ (problem).message, "bad"));
    }
    this.reading = false;
  }

  /** @param {Doc} change */
  change(change) {
    // The first message of a stream knows nothing of what has been read in between.
    if (cluster && change.mark.startsWith(`${cluster.mark}_`)) return;
    if (!cluster || change.cluster.reload) {
      // Nodes have come, gone or changed: all of it anew, but not for every single one.
      this.later ??= setTimeout(() => {
        this.later = undefined;
        if (!this.ended) void this.read();
      }, 500);
      return;
    }
    const { changed, requested } = change.cluster;
    if (!changed) return;
    for (const resource of cluster.resources) {
      const values = requested[resource.name];
      if (values) changed.forEach((/** @type {number} */ node, /** @type {number} */ at) => (resource.requested[node] = values[at]));
    }
    this.redraw();
  }

  /** @param {Doc} found */
  setFragments(found) {
    const isNew = !fragments?.names.length && found.names.length > 0;
    fragments = found;
    if (!cluster) return;
    if (isNew) this.show();
    else if (this.resource === FRAGMENTATION) this.showMap();
    else this.showLegend();
  }

  redraw() {
    this.showLegend();
    if (this.asTable) this.showTable();
    else this.map.redraw();
  }

  /** @returns {Doc[]} what nodes can be shown by */
  get columns() {
    const more = fragmentationColumn(fragments, cluster.names);
    return more ? [...cluster.resources, more] : cluster.resources;
  }

  get column() {
    return this.columns.find((each) => each.name === this.resource) ?? cluster.resources[0];
  }

  show() {
    // Fragments may still be on their way.
    if (this.resource !== FRAGMENTATION || fragments) this.resource = this.column.name;
    this.index = new Map(cluster.names.map((/** @type {string} */ name, /** @type {number} */ at) => [name, at]));
    const known = cluster.groups.map((/** @type {Doc} */ each) => each.label);
    if (!this.view.params.has("group") && !this.group) this.group = known[0]?.includes("zone") ? known[0] : "none";
    this.showBar(known);
    this.search();
    this.showMap();
    this.view.command(this.view.overview?.command ? "{command} -o json" : isReport ? "podium simulate {input} --all" : "kubectl describe nodes");
    if (this.opened) this.open(this.opened);
  }

  /** @param {string[]} known */
  showBar(known) {
    const choose = (/** @type {string} */ name, /** @type {(value: string) => void} */ use) => (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      use(value);
      this.view.go({ [name]: value });
      this.search();
      this.showMap();
    };
    const option = (/** @type {string} */ value, /** @type {string} */ text, /** @type {string} */ current) =>
      h("option", { value, selected: value === current }, text);
    const find = h("input", { type: "search", id: "node-search", value: this.words, placeholder: "name or label", "aria-label": "Find nodes by name or label" });
    find.addEventListener("input", () => {
      this.words = /** @type {HTMLInputElement} */ (find).value;
      this.view.go({ q: this.words });
      this.search();
      this.redraw();
    });
    this.legend = h("span", { class: "legend" });
    this.total = h("span", { class: "soft", id: "cluster-total" });
    this.inFragments = h("span", { class: "soft", id: "cluster-fragmentation" });
    keepFocus(() => replaceChildren(
      this.bar,
      this.phaseButtons(),
      h("label", {}, "Show", h("select", { id: "resource", onchange: choose("resource", (value) => (this.resource = value)) },
        this.columns.map((each) => option(each.name, each.name, this.resource)))),
      h("label", {}, "by", h("select", { id: "group", onchange: choose("group", (value) => (this.group = value)) },
        option("none", "no groups", this.group), known.map((label) => option(label, label, this.group)))),
      find,
      zoomButtons(this.map),
      h("button", { type: "button", id: "as-table", "aria-pressed": String(this.asTable), onclick: () => this.toggleTable() }, "As a table"),
      this.legend,
      this.total,
      this.inFragments,
    ));
  }

  toggleTable() {
    this.asTable = !this.asTable;
    this.view.go({ as: this.asTable ? "table" : null });
    document.getElementById("as-table")?.setAttribute("aria-pressed", String(this.asTable));
    this.showMap();
  }

  showLegend() {
    if (!this.legend || !this.total || !this.inFragments) return;
    this.inFragments.textContent = clusterFragmentation(fragments);
    replaceChildren(this.legend, ...rampLegend());
    const column = this.column;
    const has = column.allocatable.reduce((/** @type {number} */ sum, /** @type {number} */ each) => sum + each, 0);
    const uses = column.requested.reduce((/** @type {number} */ sum, /** @type {number} */ each) => sum + each, 0);
    this.total.textContent =
      (column.name === FRAGMENTATION ? "" : `${formatAmount(column.name, uses)} of ${formatAmount(column.name, has)} ${column.name} requested, ${formatPercent(has ? uses / has : NaN)}`) +
      (this.matches < cluster.names.length ? ` · ${formatCount(this.matches)} of ${plural(cluster.names.length, "node")} match` : "");
  }

  search() {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    this.dim = new Uint8Array(cluster.names.length);
    this.matches = cluster.names.length;
    if (!words.length) return;
    this.matches = 0;
    cluster.names.forEach((/** @type {string} */ name, /** @type {number} */ node) => {
      const labels = () => cluster.groups.map((/** @type {Doc} */ each) => `${each.label}=${each.values[each.of[node]] ?? ""}`).join(" ");
      const fits = words.every((word) => name.includes(word) || (word.length > 1 && labels().toLowerCase().includes(word)));
      this.dim[node] = fits ? 0 : 1;
      this.matches += fits ? 1 : 0;
    });
  }

  showMap() {
    this.area.classList.toggle("hidden", this.asTable);
    this.list.classList.toggle("hidden", !this.asTable);
    this.showLegend();
    if (this.asTable) {
      this.showTable();
      return;
    }
    const column = this.column;
    const cordoned = new Set(cluster.unschedulable);
    const tainted = new Set(cluster.tainted);
    this.map.show({
      groups: this.grouped(),
      share: (node) => (column.allocatable[node] > 0 ? column.requested[node] / column.allocatable[node] : column.requested[node] > 0 ? 2 : NaN),
      dimmed: (node) => this.dim[node] === 1,
      marked: (node) => (cordoned.has(node) ? "c" : "") + (tainted.has(node) ? "t" : ""),
      label: (node) => cluster.names[node],
      lines: (node) => this.describe(node),
    });
    const at = this.index.get(this.opened);
    if (at !== undefined) this.map.select(at);
  }

  /** @param {number} node */
  describe(node) {
    return this.columns
      .filter((each) => each.allocatable[node] > 0 && (each.requested[node] > 0 || each.name === "cpu" || each.name === "memory"))
      .map((each) => `${each.name === FRAGMENTATION ? "fragmented" : each.name} ${formatPercent(each.requested[node] / each.allocatable[node])}`);
  }

  grouped() {
    const label = cluster.groups.find((/** @type {Doc} */ each) => each.label === this.group);
    if (!label) return [{ name: plural(cluster.names.length, "node").replace(/^[\d,]+ /, ""), members: cluster.names.map((/** @type {string} */ _, /** @type {number} */ at) => at) }];
    const groups = [...label.values, "without it"].map((name) => ({ name: String(name), members: /** @type {number[]} */ ([]) }));
    label.of.forEach((/** @type {number} */ group, /** @type {number} */ node) => groups[group < 0 ? groups.length - 1 : group]?.members.push(node));
    return groups.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  }

  showTable() {
    const column = this.column;
    const nodes = cluster.names
      .map((/** @type {string} */ name, /** @type {number} */ at) => ({ name, at, share: column.allocatable[at] ? column.requested[at] / column.allocatable[at] : 0 }))
      .filter((/** @type {Doc} */ each) => !this.dim[each.at])
      .sort((/** @type {Doc} */ a, /** @type {Doc} */ b) => b.share - a.share);
    replaceChildren(
      this.list,
      table("Nodes, the fullest first", ["Node", "", { text: column.name, num: true }, ...(column.name === FRAGMENTATION ? ["fragmented", "idle"] : ["requested", "allocatable"]).map((text) => ({ text, num: true }))],
        nodes.slice(0, MAX_ROWS).map((/** @type {Doc} */ each) => [
          h("a", { href: nodeLink(each.name), onclick: (/** @type {Event} */ event) => { event.preventDefault(); this.open(each.name); } }, each.name),
          meter(column.requested[each.at], column.allocatable[each.at]),
          formatPercent(each.share),
          formatAmount(column.name, column.requested[each.at]),
          formatAmount(column.name, column.allocatable[each.at]),
        ])),
      nodes.length > MAX_ROWS && h("p", { class: "soft" }, `and ${formatCount(nodes.length - MAX_ROWS)} more`),
    );
  }

  // --- one node ----------------------------------------------------------------------------------

  /** @param {string} name */
  open(name) {
    this.opened = name;
    this.view.go({ node: name });
    const at = this.index.get(name);
    if (at !== undefined) this.map.select(at);
    this.stopNode?.();
    this.aside.classList.remove("hidden");
    this.body.classList.add("open");
    replaceChildren(this.aside, stateLine("Reading the node…"));
    if (!isReport) this.view.command(`kubectl describe node ${shellWord(name)}`);
    this.stopNode = keepFresh(
      () => `${this.prefix}nodes/${encodeURIComponent(name)}`,
      (found) => this.showNode(found),
      (problem) => replaceChildren(this.aside, this.closeButton(), stateLine(problem.message, "bad")),
      2000,
    );
  }

  close() {
    this.opened = "";
    this.stopNode?.();
    this.view.go({ node: null });
    this.aside.classList.add("hidden");
    this.body.classList.remove("open");
    this.map.select(-1);
    this.canvas.focus();
  }

  closeButton() {
    return h("button", { type: "button", "aria-label": "Close", id: "close-node", onclick: () => this.close() }, "✕");
  }

  /** @param {Doc} node */
  showNode(node) {
    const top = this.aside.scrollTop;
    replaceChildren(
      this.aside,
      h("div", { class: "title" }, h("h2", { class: "name" }, node.name), this.closeButton()),
      node.unschedulable && h("p", { class: "warn" }, "Cordoned: no new pods come here."),
      table("Resources", ["Resource", "", { text: "requested", num: true }, { text: "of", num: true }],
        node.resources.map((/** @type {Doc} */ each) => [each.name, meter(each.requested, each.allocatable), formatAmount(each.name, each.requested), formatAmount(each.name, each.allocatable)])),
      node.taints.length > 0 && [h("h2", {}, "Taints"), h("ul", {}, node.taints.map((/** @type {Doc} */ taint) => h("li", { class: "mono wrap" }, `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`)))],
      node.cards.length > 0 && [h("h2", {}, plural(node.cards.length, "GPU card")), nodeFragmentation(fragments, node.name), this.cards(node.cards)],
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
      h("dl", { class: "facts mono" }, Object.entries(node.labels).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, String(value))])),
    );
    this.aside.scrollTop = top;
  }

  /** @param {Doc[]} cards */
  cards(cards) {
    return table("GPU cards", ["Card", { text: "cores", num: true }, { text: "memory", num: true }, "Pods"],
      cards.map((card) => [
        `${card.index} ${card.model}${card.healthy ? "" : " (broken)"}`,
        `${formatCount(card.usedCores)} of ${formatCount(card.cores)}`,
        `${formatAmount("memory", card.usedMemoryBytes)} of ${formatAmount("memory", card.memoryBytes)}`,
        h("span", {}, card.owners.map((/** @type {string} */ owner) => h("span", { class: "chip" }, podName(owner)))),
      ]));
  }
}
