// Cluster: every node with its pods, or how full it is, and one of them opened.
// @ts-check
import { h, keepFocus, replaceChildren, stateLine } from "./dom.js";
import { formatAmount, formatCount, formatPercent, plural, shellWord } from "./format.js";
import { clusterFragmentation, FRAGMENTATION, fragmentationColumn } from "./gpu_fragmentation.js";
import { keepFresh, onChange } from "./live.js";
import { MapContent } from "./map_content.js";
import { showMapLegend } from "./map_legend.js";
import { searchMap } from "./map_search.js";
import { showsCards } from "./node_cell.js";
import { groupNodes, knownGroups } from "./node_groups.js";
import { makeNodeMap, zoomButtons } from "./node_map.js";
import { nodePanel } from "./node_panel.js";
import { nodeStates, STATES } from "./node_states.js";
import { nodeTable } from "./node_table.js";
import { COLOURINGS, PodColours } from "./pod_colours.js";
import { mayMove } from "./pod_moves.js";
import { PodsOnNodes } from "./pods_on_nodes.js";
import { waitingPanel } from "./queue.js";
import { getDocument, hasDocument, isReport } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

const HOW_FULL = "full";
const MAX_CARD_NODES = 100;
const OF_GPUS = /gpu|vcuda/i;
const LEGEND_MS = 1000;
const CARDS_MS = 2000;
const SOON_MS = 500;
const MAX_NEWS = 3;

/** @type {Doc} kept while other views are looked at */
let cluster = null;
/** @type {Doc | null} what is the matter with nodes */
let troubles = null;
/** @type {PodsOnNodes | null} */
let keptPods = null;
/** In a report of a change: whether `cluster` is as it was before. */
let clusterPhase = "";
/** @type {Doc | null} how much idle GPU is in fragments */
let fragments = null;
const colours = new PodColours();
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
    this.colour = view.params.get("colour") ?? "workload";
    this.size = view.params.get("size") ?? "equal";
    this.only = view.params.get("only") ?? "";
    this.words = view.params.get("q") ?? "";
    this.opened = view.params.get("node") ?? "";
    this.openedPod = view.params.get("pod") ?? "";
    this.asTable = view.params.get("as") === "table";
    /** @type {string[]} */
    this.phases = view.overview?.phases ?? [];
    this.setPhase(view.params.get("when") ?? "after");
    /** @type {Map<string, number>} */
    this.index = new Map();
    /** @type {Uint8Array} */
    this.dim = new Uint8Array(0);
    /** @type {string[][]} */
    this.states = [];
    this.reading = false;
    this.ended = false;
    this.matches = 0;
    this.podMatches = 0;
    /** @type {Map<string, number>} timers of what need not be done at once */
    this.timers = new Map();
    /** @type {import("./pod_moves.js").Moves} */
    this.moves = { moving: [], drawn: (keys) => (this.canvas.dataset["moving"] = keys.join(" ")) };
    this.counted = 0;
    this.wasComplete = false;
    this.waiting = h("div", {});
    this.bar = h("div", { class: "bar" });
    this.keys = h("div", { class: "map-keys" });
    this.news = h("span", { class: "news", id: "map-news", role: "status" });
    const made = makeNodeMap("Nodes with their pods", (node, pod) => this.open(cluster.names[node], this.pods.of(cluster.names[node])[pod]?.key ?? ""), () => this.soon("cards", 200, () => this.readCards()));
    this.nodeMap = made;
    this.map = made.map;
    this.canvas = made.canvas;
    this.area = made.element;
    this.list = h("div", { class: "scroll hidden" });
    this.aside = h("aside", { class: "node hidden", "aria-label": "Node" });
    this.body = h("div", { class: "cluster" }, h("div", {}, this.area, this.list), this.aside);
    this.total = h("span", { id: "cluster-total" });
    this.inFragments = h("span", { id: "cluster-fragmentation" });
    this.facts = h("div", { class: "map-facts soft" }, this.total, this.inFragments, this.news);
    replaceChildren(view.root, h("h1", { class: "only-read" }, "Cluster"), this.waiting, this.bar, this.keys, this.facts, made.said, this.body);
    this.pods = this.takePods();
    this.content = new MapContent(this.pods, colours);
    this.stops = [
      onChange((change) => this.change(change)),
      keepFresh(() => "queue", (queue) => replaceChildren(this.waiting, waitingPanel(queue)), () => {}, 2000),
    ];
    if (!isReport) this.stops.push(keepFresh(() => "fragmentation", (found) => this.setFragments(found), () => {}, 2000));
    if (cluster) this.show();
    else replaceChildren(this.bar, stateLine("Reading the nodes…"));
    void this.read();
    void this.pods.refresh();
  }

  /** Where the documents of the shown moment are. */
  get prefix() {
    return clusterPhase === "before" ? "before/" : "";
  }

  /** @returns {PodsOnNodes} those that were looked at before, or new ones */
  takePods() {
    if (!keptPods || keptPods.prefix !== this.prefix) keptPods = new PodsOnNodes(this.prefix, () => {});
    keptPods.ended = false;
    keptPods.onChange = () => this.showPods();
    keptPods.moves = [];
    return keptPods;
  }

  /** @param {string} phase before or after the changes, in a report that has both */
  setPhase(phase) {
    if (!this.phases.includes(phase) || phase === clusterPhase) return;
    clusterPhase = phase;
    cluster = null;
    troubles = null;
  }

  phaseButtons() {
    return this.phases.length > 0 && h("span", { role: "group", "aria-label": "When", id: "when" }, this.phases.flatMap((phase) => [
      h("button", { type: "button", "aria-pressed": String(phase === clusterPhase), onclick: async () => {
        this.view.go({ when: phase });
        this.setPhase(phase);
        this.pods = this.takePods();
        this.content = new MapContent(this.pods, colours);
        await Promise.all([this.read(), this.pods.refresh()]);
        /** @type {HTMLElement | null} */ (document.querySelector("#when [aria-pressed=true]"))?.focus();
      } }, phase), " "]));
  }

  end() {
    this.ended = true;
    this.pods.onChange = () => {};
    for (const timer of this.timers.values()) clearTimeout(timer);
    for (const stop of this.stops) stop();
    this.nodeMap.end();
    this.stopNode?.();
  }

  /** Do something once, in a while. @param {string} name @param {number} afterMs @param {() => void} act */
  soon(name, afterMs, act) {
    if (this.timers.has(name)) return;
    this.timers.set(name, setTimeout(() => {
      this.timers.delete(name);
      if (!this.ended) act();
    }, afterMs));
  }

  async read() {
    if (this.reading) return;
    this.reading = true;
    try {
      const [found, states] = await Promise.all([getDocument(`${this.prefix}cluster`), getDocument(`${this.prefix}node-states`)]);
      cluster = found;
      troubles = states;
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
      this.soon("reload", SOON_MS, () => {
        void this.read();
        void this.pods.refresh();
      });
      return;
    }
    const { changed, requested } = change.cluster;
    if (!changed) return;
    for (const resource of cluster.resources) {
      const values = requested[resource.name];
      if (values) changed.forEach((/** @type {number} */ node, /** @type {number} */ at) => (resource.requested[node] = values[at]));
    }
    this.soon("states", SOON_MS, () => (this.states = nodeStates(cluster, troubles)));
    void this.pods.refresh();
    this.redraw();
  }

  // --- pods --------------------------------------------------------------------------------------

  /** Pods have come or gone. */
  showPods() {
    if (this.ended || !cluster) return;
    this.noteMoves();
    if (this.countsAgain() && colours.assign(this.pods)) this.content.forget();
    if (this.words || this.only) this.soon("search", SOON_MS, () => {
      this.search();
      this.redraw();
    });
    if (this.pods.isCut) this.news.textContent = "This report does not keep the pods of all nodes.";
    this.redraw();
    this.soon("cards", CARDS_MS, () => this.readCards());
  }

  /** Whether it is time to count all pods again, which takes a while where there are many. */
  countsAgain() {
    const now = performance.now();
    const isDue = this.pods.isComplete !== this.wasComplete || now - this.counted > LEGEND_MS || !this.pods.isComplete;
    if (isDue) [this.counted, this.wasComplete] = [now, this.pods.isComplete];
    return isDue;
  }

  /** Let those be seen that have just come or gone, and say who. */
  noteMoves() {
    const fresh = this.pods.moves.splice(0);
    if (!fresh.length) return;
    for (const { pod, node, came, at } of fresh) {
      const row = this.index.get(node) ?? -1;
      const before = came || row < 0 ? null : this.content.before(row);
      const place = before?.blocks.findIndex((block) => block.key === pod.key) ?? -1;
      if (row >= 0 && mayMove()) this.moves.moving.push({ node: row, key: pod.key, at, came, shade: colours.shadeOf(pod, this.pods.now), was: before?.places?.[place] ?? null });
    }
    const said = fresh.slice(-MAX_NEWS).reverse().map(({ pod, node, came }) => `${pod.key} ${came ? "→" : "left"} ${node}`);
    const more = fresh.length - said.length;
    this.news.textContent = `Just now: ${said.join(" · ")}${more > 0 ? ` · and ${formatCount(more)} more` : ""}`;
  }

  /** Cards of the nodes that are drawn large enough to show them. */
  async readCards() {
    const agents = cluster?.resources.filter((/** @type {Doc} */ each) => OF_GPUS.test(each.name)) ?? [];
    if (!agents.length || this.asTable || !this.showsPods || (isReport && !hasDocument(`${this.prefix}gpu-cards`))) return;
    const names = this.map.visibleNodes()
      .filter(([node, cell]) => showsCards(cell) && agents.some((/** @type {Doc} */ each) => each.allocatable[node] > 0))
      .slice(0, MAX_CARD_NODES)
      .map(([node]) => cluster.names[node]);
    if (names.length && (await this.content.readCards(this.prefix, names)) && !this.ended) this.map.redraw();
  }

  /** Whether nodes show pods, not only how full they are. */
  get showsPods() {
    return this.colour !== HOW_FULL && this.resource !== FRAGMENTATION;
  }

  /** @param {Doc} found */
  setFragments(found) {
    const isNew = !fragments?.names.length && found.names.length > 0;
    fragments = found;
    if (!cluster) return;
    if (isNew) this.show();
    else if (this.resource === FRAGMENTATION) this.showMap();
    else this.showTotals();
  }

  redraw() {
    this.soon("legend", LEGEND_MS, () => this.showLegend());
    this.showTotals();
    if (this.asTable) this.showTable();
    else this.map.redraw();
  }

  /** @returns {Doc[]} what nodes can be shown by */
  get columns() {
    const offered = cluster.resources.filter((/** @type {Doc} */ each) => each.name === "cpu" || each.allocatable.some(Boolean));
    const more = fragmentationColumn(fragments, cluster.names);
    return more ? [...offered, more] : offered;
  }

  get column() {
    return this.columns.find((each) => each.name === this.resource) ?? cluster.resources[0];
  }

  show() {
    // Fragments may still be on their way.
    if (this.resource !== FRAGMENTATION || fragments) this.resource = this.column.name;
    const before = this.index;
    this.index = new Map(cluster.names.map((/** @type {string} */ name, /** @type {number} */ at) => [name, at]));
    for (const name of before.keys()) if (!this.index.has(name)) this.pods.byNode.delete(name);
    this.states = nodeStates(cluster, troubles);
    const first = cluster.groups[0]?.label ?? "";
    if (!this.view.params.has("group") && !this.group) this.group = first.includes("zone") ? first : "none";
    if (this.colour in COLOURINGS) colours.choose(this.colour);
    colours.assign(this.pods);
    this.showBar();
    this.search();
    this.showMap();
    this.view.command(this.view.overview?.command ? "{command} -o json" : isReport ? "podium simulate {input} --all" : "kubectl describe nodes");
    if (this.opened) this.open(this.opened, this.openedPod);
  }

  showBar() {
    const choose = (/** @type {string} */ name, /** @type {(value: string) => void} */ use) => (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      use(value);
      this.view.go({ [name]: value });
      this.search();
      this.showMap();
    };
    const option = (/** @type {string} */ value, /** @type {string} */ text, /** @type {string} */ current) =>
      h("option", { value, selected: value === current }, text);
    const find = h("input", { type: "search", id: "node-search", value: this.words, placeholder: "node, pod, workload or label", "aria-label": "Find nodes, pods, workloads or labels on the map" });
    find.addEventListener("input", () => {
      this.words = /** @type {HTMLInputElement} */ (find).value;
      this.view.go({ q: this.words });
      this.search();
      this.redraw();
    });
    keepFocus(() => replaceChildren(
      this.bar,
      this.phaseButtons(),
      h("label", {}, "Show", h("select", { id: "resource", onchange: choose("resource", (value) => (this.resource = value)) },
        this.columns.map((each) => option(each.name, each.name, this.resource)))),
      h("label", {}, "by", h("select", { id: "group", onchange: choose("group", (value) => (this.group = value)) },
        knownGroups(cluster, troubles).map(([value, text]) => option(value, text, this.group)))),
      h("label", {}, "colour", h("select", { id: "colour", onchange: choose("colour", (value) => this.setColour(value)) },
        Object.entries(COLOURINGS).map(([value, text]) => option(value, text, this.colour)), option(HOW_FULL, "how full", this.colour))),
      h("label", {}, "size", h("select", { id: "size", onchange: choose("size", (value) => (this.size = value)) },
        option("equal", "equal", this.size), option("capacity", "by capacity", this.size))),
      find,
      zoomButtons(this.map),
      h("button", { type: "button", id: "as-table", "aria-pressed": String(this.asTable), onclick: () => this.toggleTable() }, "As a table"),
    ));
  }

  /** @param {string} by */
  setColour(by) {
    this.colour = by;
    if (this.only.startsWith("pods ")) this.setOnly("");
    if (by in COLOURINGS) colours.choose(by);
    colours.assign(this.pods);
    this.content.forget();
  }

  /** Show one state or one kind of pods alone. @param {string} what "" for everything */
  setOnly(what) {
    this.only = what;
    this.view.go({ only: what });
  }

  toggleTable() {
    this.asTable = !this.asTable;
    this.view.go({ as: this.asTable ? "table" : null });
    document.getElementById("as-table")?.setAttribute("aria-pressed", String(this.asTable));
    this.showMap();
  }

  showLegend() {
    if (!cluster) return;
    if (this.pods.isComplete && colours.by === "age") this.content.forget();
    keepFocus(() => showMapLegend(this.keys, {
      categories: this.showsPods ? colours.legend(this.pods) : null,
      by: this.colour,
      states: this.states,
      chosen: this.only,
      choose: (what) => {
        this.setOnly(what);
        this.search();
        this.showLegend();
        this.redraw();
      },
    }));
  }

  showTotals() {
    this.inFragments.textContent = clusterFragmentation(fragments);
    const column = this.column;
    const has = column.allocatable.reduce((/** @type {number} */ sum, /** @type {number} */ each) => sum + each, 0);
    const uses = column.requested.reduce((/** @type {number} */ sum, /** @type {number} */ each) => sum + each, 0);
    this.total.textContent =
      (column.name === FRAGMENTATION ? "" : `${formatAmount(column.name, uses)} of ${formatAmount(column.name, has)} ${column.name} requested, ${formatPercent(has ? uses / has : NaN)}`) +
      (this.matches < cluster.names.length || this.podMatches ? ` · ${formatCount(this.matches)} of ${plural(cluster.names.length, "node")} match` : "") +
      (this.podMatches ? `, ${plural(this.podMatches, "pod")}` : "");
  }

  /** Find out who matches the words and what is chosen of the legend. */
  search() {
    const { words, only, states, pods } = this;
    const found = searchMap({ words, only, states, pods, cluster, told: troubles, colours });
    this.dim = found.dim;
    this.matches = found.nodes;
    this.podMatches = found.podCount;
    this.content.matches = (pod) => !found.pods || found.pods.has(pod);
    this.content.forget();
  }

  showMap() {
    this.area.classList.toggle("hidden", this.asTable);
    this.list.classList.toggle("hidden", !this.asTable);
    this.content.show(cluster, this.column);
    this.showLegend();
    this.showTotals();
    if (this.asTable) {
      this.showTable();
      return;
    }
    const column = this.column;
    const share = (/** @type {number} */ node) => (column.allocatable[node] > 0 ? column.requested[node] / column.allocatable[node] : column.requested[node] > 0 ? 2 : NaN);
    this.map.show({
      groups: groupNodes(this.group, cluster, troubles, this.pods, column.name),
      share,
      dimmed: (node) => this.dim[node] === 1,
      states: (node) => this.states[node] ?? [],
      label: (node) => cluster.names[node],
      figure: (node) => formatPercent(share(node)),
      lines: (node) => this.describe(node),
      podLines: (node, pod) => this.content.describePod(node, pod),
      moves: this.moves,
      ...(this.showsPods ? { content: (/** @type {number} */ node) => this.content.of(node) } : {}),
      ...(this.size === "capacity" ? { weight: (/** @type {number} */ node) => Math.max(column.allocatable[node], 1) } : {}),
    });
    const at = this.index.get(this.opened);
    if (at !== undefined) this.map.select(at, this.openedPodAt);
    this.soon("cards", 50, () => this.readCards());
  }

  /** Where the pod that is opened is among those of its node, -1 without one. */
  get openedPodAt() {
    return this.pods.of(this.opened).findIndex((pod) => pod.key === this.openedPod);
  }

  /** @param {number} node */
  describe(node) {
    const states = this.states[node] ?? [];
    const shares = this.columns
      .filter((each) => each.allocatable[node] > 0 && (each.requested[node] > 0 || each.name === "cpu" || each.name === "memory"))
      .map((each) => `${each.name === FRAGMENTATION ? "fragmented" : each.name} ${formatPercent(each.requested[node] / each.allocatable[node])}`);
    return states.length ? [states.map((state) => STATES[state]?.word ?? state).join(", "), ...shares] : shares;
  }

  showTable() {
    const { column, dim, states } = this;
    replaceChildren(this.list, ...nodeTable({ cluster, column, dim, states, open: (name) => this.open(name) }));
  }

  // --- one node ----------------------------------------------------------------------------------

  /** @param {string} name @param {string} [pod] */
  open(name, pod = "") {
    this.opened = name;
    this.openedPod = pod;
    this.view.go({ node: name, pod });
    const at = this.index.get(name);
    if (at !== undefined) this.map.select(at, this.openedPodAt);
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
    this.opened = this.openedPod = "";
    this.stopNode?.();
    this.view.go({ node: null, pod: null });
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
    const at = this.index.get(node.name) ?? -1;
    const top = this.aside.scrollTop;
    keepFocus(() => replaceChildren(
      this.aside,
      h("div", { class: "title" }, h("h2", { class: "name" }, node.name), this.closeButton()),
      ...nodePanel(node, {
        states: this.states[at] ?? [],
        reasons: troubles?.nodes.find((/** @type {Doc} */ each) => each.name === node.name)?.reasons ?? [],
        fragments,
        cards: this.content.cards.get(node.name) ?? [],
        podWords: at >= 0 && this.openedPod ? this.content.describePod(at, this.openedPodAt) : [],
      }),
    ));
    this.aside.scrollTop = top;
  }
}
