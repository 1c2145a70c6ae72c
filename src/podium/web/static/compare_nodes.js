// How full each node gets under each configuration: a heat map for each, side by side, and a table.
// @ts-check
import { seriesColour } from "./charts.js";
import { configurationKey, letter } from "./compare.js";
import { dataTable } from "./data_table.js";
import { showDocuments } from "./document_view.js";
import { h, replaceChildren, stateLine } from "./dom.js";
import { formatAmount, formatPercent } from "./format.js";
import { makeNodeMap, rampLegend, zoomButtons } from "./node_map.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/** @param {View} view @returns {() => void} */
export function showCompareNodes(view) {
  view.command("{command} -o json");
  return showDocuments(view, "Nodes", ["comparison", "comparison-view"], (found, more) => {
    const page = new NodesPage(view, found, more);
    return () => page.end();
  });
}

class NodesPage {
  /** @param {View} view @param {Doc} found @param {Doc} more */
  constructor(view, found, more) {
    this.view = view;
    this.more = more;
    this.names = ["before", ...found.configurations.map((/** @type {Doc} */ each) => each.name)];
    this.resource = view.params.get("resource") ?? "cpu";
    this.opened = view.params.get("node") ?? "";
    this.maps = this.names.map((name, at) => makeNodeMap(`Nodes by how full they are, ${at ? name : "before"}`, (node) => this.open(more.nodes[node])));
    this.detail = h("div", { "aria-live": "polite" });
    this.list = h("div", {});
    const choose = h("select", { id: "resource", onchange: (/** @type {Event} */ event) => {
      this.resource = /** @type {HTMLSelectElement} */ (event.target).value;
      view.go({ resource: this.resource });
      this.show();
    } }, more.resources.map((/** @type {Doc} */ each) => h("option", { value: each.name, selected: each.name === this.column.name }, each.name)));
    replaceChildren(
      view.root,
      h("h1", {}, "Nodes"),
      h("div", { class: "bar" }, h("label", {}, "Show", choose), zoomButtons(...this.maps.map((each) => each.map)), h("span", { class: "legend" }, ...rampLegend())),
      more.nodes.length
        ? h("div", { class: "maps" }, this.maps.map((each, at) => h("section", {}, h("h2", {}, at ? configurationKey(this.names[at] ?? "", at - 1) : h("span", { class: "chip" }, "before")), each.element, each.said)))
        : stateLine("This cluster has no nodes."),
      this.detail,
      h("h2", {}, "Node by node"),
      this.list,
    );
    this.show();
    if (this.opened) this.open(this.opened);
  }

  get column() {
    return this.more.resources.find((/** @type {Doc} */ each) => each.name === this.resource) ?? this.more.resources[0];
  }

  /** What a node gives before (0) or under a configuration (1, 2, ...). @param {Doc} column @param {number} at @param {number} node */
  share(column, at, node) {
    const requested = at ? column.after[at - 1][node] : column.before[node];
    return column.allocatable[node] > 0 ? requested / column.allocatable[node] : requested > 0 ? 2 : NaN;
  }

  /** The least and the most of the configurations, apart. @param {number} node */
  difference(node) {
    const shares = this.names.slice(1).map((_, at) => this.share(this.column, at + 1, node) || 0);
    return Math.max(...shares) - Math.min(...shares);
  }

  show() {
    const { more, column } = this;
    const zones = [...new Set(more.zones)].sort();
    const groups = zones.map((zone) => ({ name: String(zone || (zones.length > 1 ? "no zone" : "nodes")), members: more.nodes.map((/** @type {string} */ _, /** @type {number} */ at) => at).filter((/** @type {number} */ at) => more.zones[at] === zone) }));
    this.maps.forEach((each, at) => each.map.show({
      groups,
      share: (node) => this.share(column, at, node),
      dimmed: () => false,
      states: () => [],
      label: (node) => more.nodes[node],
      figure: () => "",
      lines: (node) => more.resources.map((/** @type {Doc} */ one) => `${one.name} ${formatPercent(this.share(one, at, node))}`),
    }));
    replaceChildren(this.list, dataTable(this.view, {
      name: "",
      caption: `Nodes by ${column.name}`,
      noun: "node",
      search: "node or zone",
      empty: "This cluster has no nodes.",
      rows: more.nodes.map((/** @type {string} */ name, /** @type {number} */ at) => ({ name, at })),
      text: (row) => `${row.name} ${more.zones[row.at]}`,
      current: (row) => row.name === this.opened,
      columns: [
        { key: "node", head: "Node", sort: (row) => row.name, cell: (row) => h("a", { href: `#/nodes?node=${encodeURIComponent(row.name)}`, onclick: (/** @type {Event} */ event) => {
          event.preventDefault();
          this.open(row.name);
        } }, row.name) },
        ...this.names.map((_, at) => ({
          key: at ? letter(at - 1) : "before",
          head: at ? letter(at - 1) : "before",
          num: true,
          sort: (/** @type {Doc} */ row) => this.share(column, at, row.at) || 0,
          heat: (/** @type {Doc} */ row) => this.share(column, at, row.at),
          cell: (/** @type {Doc} */ row) => formatPercent(this.share(column, at, row.at)),
        })),
        ...(this.names.length > 2 ? [{ key: "apart", head: "apart", num: true, sort: (/** @type {Doc} */ row) => this.difference(row.at), cell: (/** @type {Doc} */ row) => formatPercent(this.difference(row.at)) }] : []),
        { key: "has", head: column.name, num: true, sort: (row) => column.allocatable[row.at], cell: (row) => formatAmount(column.name, column.allocatable[row.at]) },
      ],
    }));
  }

  /** @param {string} name */
  open(name) {
    const { more } = this;
    this.opened = name;
    this.view.go({ node: name });
    const node = more.nodes.indexOf(name);
    for (const each of this.maps) each.map.select(node);
    if (node < 0) {
      replaceChildren(this.detail, stateLine(`There is no node ${name}.`, "bad"));
      return;
    }
    replaceChildren(
      this.detail,
      h("section", { class: "panel", id: "opened-node" }, h("h2", {}, name),
        h("div", { class: "pairs" }, more.resources.filter((/** @type {Doc} */ each) => each.allocatable[node] > 0).flatMap((/** @type {Doc} */ each) => [
          h("span", {}, each.name),
          h("span", { class: "bars-in" }, this.names.map((_, at) => {
            const share = this.share(each, at, node);
            const amount = at ? each.after[at - 1][node] : each.before[node];
            return h("span", { class: "pair" }, h("span", {}, at ? letter(at - 1) : "before"), h("span", { class: "track-bar" }, h("i", { style: { width: `${Math.min(100, share * 100)}%`, background: at ? seriesColour(at - 1) : "var(--soft)" } })), h("span", { class: "num" }, `${formatAmount(each.name, amount)} · ${formatPercent(share)}`));
          })),
        ]))),
    );
  }

  end() {
    for (const each of this.maps) each.end();
  }
}
