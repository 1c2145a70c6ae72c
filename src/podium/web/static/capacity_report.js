// Capacity: how many more of a pod fit, what stops the next one, and what each node takes.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { dataTable } from "./data_table.js";
import { notesList, showDocuments } from "./document_view.js";
import { h, replaceChildren, stateLine } from "./dom.js";
import { formatCount, plural } from "./format.js";
import { makeNodeMap, rampLegend, zoomButtons } from "./node_map.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

const MAX_REASONS = 12;

/** @param {View} view @returns {() => void} */
export function showCapacity(view) {
  view.command("{command} --all");
  return showDocuments(view, "Capacity", ["capacity"], (found) => new CapacityPage(view, found).map.end);
}

/** A template as commands name it. @param {Doc} room */
function nameOf(room) {
  return room.workload ? `${room.namespace}/${room.workload}` : `${room.namespace}/${room.name}`;
}

class CapacityPage {
  /** @param {View} view @param {Doc} found */
  constructor(view, found) {
    this.view = view;
    this.found = found;
    const asked = view.params.get("pod");
    this.room = found.pods.find((/** @type {Doc} */ each) => nameOf(each) === asked) ?? found.pods[0];
    this.group = view.params.get("group") ?? "reason";
    this.opened = view.params.get("node") ?? "";
    this.map = makeNodeMap("Nodes by how many copies they take", (node) => this.open(this.room.nodes[node].name));
    this.rest = h("div", {});
    this.said = h("p", { id: "opened-node", "aria-live": "polite" });
    replaceChildren(
      view.root,
      h("h1", {}, "How many more fit"),
      h("p", { class: "soft" }, "Copies of each pod, scheduled one after the other until one finds no node. Nothing is preempted for them."),
      this.answer(),
      found.pods.length > 1 && this.chooser(),
      this.rest,
      notesList(found.notes),
    );
    this.show();
  }

  answer() {
    const { found } = this;
    const together = new Map(found.together.map((/** @type {Doc} */ each) => [nameOf(each), each.fits]));
    const wanted = found.wanted ?? 1;
    return [
      h("div", { class: "scroll" }, h("table", { class: "data" },
        h("caption", { class: "only-read" }, "How many copies of each pod fit"),
        h("thead", {}, h("tr", {}, ["Pod", "Alone", ...(together.size ? ["Together"] : []), ...(found.wanted ? ["Wanted"] : []), "What stops the next one"].map((text) => h("th", { scope: "col", class: /Alone|Together|Wanted/.test(text) ? "num" : null }, text)))),
        h("tbody", {}, found.pods.map((/** @type {Doc} */ room) => h("tr", {},
          h("td", {}, h("b", { class: room.fits >= wanted ? "good" : "bad" }, room.fits >= wanted ? "✓ " : "✗ "), nameOf(room)),
          h("td", { class: "num" }, h("b", {}, formatCount(room.fits))),
          together.size > 0 && h("td", { class: "num" }, formatCount(Number(together.get(nameOf(room)) ?? 0))),
          found.wanted && h("td", { class: "num" }, formatCount(found.wanted)),
          h("td", { class: "wrap" }, stop(room))))))),
      found.add && this.purchase(found.add),
    ];
  }

  /** @param {Doc} add */
  purchase(add) {
    if (!add.found) return h("div", { class: "panel alert" }, h("b", {}, "No number of the offered nodes makes room for the rest."));
    const best = add.price === null ? "the fewest nodes" : "the cheapest mix";
    return h("section", { class: "panel done", id: "add" },
      h("b", {}, `Add ${add.nodes.map((/** @type {Doc} */ each) => `${formatCount(each.nodes)} × ${each.shape}`).join(", ")}`),
      `${add.price === null ? "" : ` for ${add.price.toLocaleString("en-US")}`}; then ${formatCount(add.fits)} fit (${best}${add.cheapest ? "" : " of those tried"}).`);
  }

  chooser() {
    return h("div", { class: "bar" }, h("label", {}, "Nodes for", h("select", { id: "pod", onchange: (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      this.room = this.found.pods.find((/** @type {Doc} */ each) => nameOf(each) === value) ?? this.room;
      this.view.go({ pod: value });
      this.show();
    } }, this.found.pods.map((/** @type {Doc} */ each) => h("option", { value: nameOf(each), selected: each === this.room }, nameOf(each))))));
  }

  show() {
    const { room } = this;
    const most = Math.max(1, ...room.nodes.map((/** @type {Doc} */ each) => each.fits));
    const reasons = this.reasons();
    const choose = h("button", { type: "button", id: "by-reason", "aria-pressed": String(this.group === "reason"), onclick: () => {
      this.group = this.group === "reason" ? "none" : "reason";
      choose.setAttribute("aria-pressed", String(this.group === "reason"));
      this.view.go({ group: this.group === "reason" ? null : "none" });
      this.paint(most);
    } }, "By what stops them");
    replaceChildren(
      this.rest,
      room.nodes.length === 0
        ? stateLine("No node was asked: the pod cannot be placed anywhere.")
        : [
            h("div", { class: "charts" }, barChart({
              title: "What stops the next copy",
              note: "nodes, and the copies that they take until then",
              categories: reasons.map(([reason]) => reason),
              series: [
                { name: "nodes", colour: "var(--soft)", values: reasons.map(([, each]) => each.nodes) },
                { name: "copies", colour: seriesColour(0), values: reasons.map(([, each]) => each.fits) },
              ],
              format: formatCount,
            })),
            h("h2", {}, `Nodes for ${nameOf(room)}`),
            h("div", { class: "bar" }, choose, zoomButtons(this.map.map), h("span", { class: "legend" }, ...rampLegend("0", plural(most, "copy").replace("copys", "copies")))),
            h("div", { class: "maps one" }, h("section", {}, this.map.element, this.map.said)),
            this.said,
            dataTable(this.view, {
              name: "",
              caption: `Nodes for ${nameOf(room)}`,
              noun: "node",
              search: "node or reason",
              rows: [...room.nodes].sort((/** @type {Doc} */ a, /** @type {Doc} */ b) => b.fits - a.fits),
              empty: "There is no node.",
              text: (row) => `${row.name} ${row.reasons.join(" ")}`,
              columns: [
                { key: "node", head: "Node", cell: (row) => row.name, sort: (row) => row.name },
                { key: "fits", head: "Copies", num: true, cell: (row) => formatCount(row.fits), sort: (row) => row.fits, heat: (row) => row.fits / most },
                { key: "why", head: "Why no more", cell: (row) => row.reasons.join(", ") || "·", sort: (row) => row.reasons.join(", ") },
              ],
            }),
          ],
    );
    if (!room.nodes.length) return;
    this.paint(most);
    if (this.opened) this.open(this.opened);
  }

  /** Reasons with the nodes that they stop, the most frequent first. @returns {[string, {nodes: number, fits: number}][]} */
  reasons() {
    /** @type {Map<string, {nodes: number, fits: number}>} */
    const found = new Map();
    for (const each of this.room.nodes) {
      const reason = why(each);
      const held = found.get(reason) ?? { nodes: 0, fits: 0 };
      held.nodes += 1;
      held.fits += each.fits;
      found.set(reason, held);
    }
    return [...found].sort(([, a], [, b]) => b.nodes - a.nodes).slice(0, MAX_REASONS);
  }

  /** @param {number} most */
  paint(most) {
    const { nodes } = this.room;
    const all = nodes.map((/** @type {Doc} */ _, /** @type {number} */ at) => at);
    const groups = this.group === "reason"
      ? [...new Set(nodes.map(why))].map((name) => ({ name: String(name), members: all.filter((/** @type {number} */ at) => why(nodes[at]) === name) }))
      : [{ name: "nodes", members: all }];
    this.map.map.show({
      groups,
      share: (node) => nodes[node].fits / most,
      dimmed: () => false,
      states: () => [],
      label: (node) => nodes[node].name,
      figure: () => "",
      lines: (node) => [nodes[node].fits === 1 ? "1 copy" : `${formatCount(nodes[node].fits)} copies`, ...nodes[node].reasons],
    });
  }

  /** @param {string} name */
  open(name) {
    const at = this.room.nodes.findIndex((/** @type {Doc} */ each) => each.name === name);
    this.opened = name;
    this.view.go({ node: name });
    this.map.map.select(at);
    const node = this.room.nodes[at];
    replaceChildren(this.said, node ? [h("b", {}, name), ` takes ${formatCount(node.fits)}; ${why(node)}.`] : h("span", { class: "bad" }, `There is no node ${name}.`));
  }
}

/** @param {Doc} node */
function why(node) {
  return node.reasons.join(", ") || "could take more";
}

/** @param {Doc} room */
function stop(room) {
  return room.stoppedBy ? `${room.stoppedBy} of the whole cluster reaches the limit` : room.message ?? "";
}
