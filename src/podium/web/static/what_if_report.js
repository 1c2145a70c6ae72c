// What if: what changes of a cluster come to, before and after side by side.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { dataTable } from "./data_table.js";
import { notesList, showDocuments } from "./document_view.js";
import { h, replaceChildren } from "./dom.js";
import { formatCount, formatPercent, plural } from "./format.js";
import { hasDocument, nodeLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {import("./data_table.js").Column} Column */

const MAX_REASONS = 8;

/** @param {View} view @returns {() => void} */
export function showWhatIf(view) {
  view.command("{command} --all");
  return showDocuments(view, "What if", ["what-if"], (found) => draw(view, found));
}

/** A node that the report can open in the cluster. @param {string | null} name @param {"before" | "after"} when */
export function nodeName(name, when) {
  if (!name) return h("span", { class: "soft" }, "no node");
  const phase = when === "before" ? "before/" : "";
  return hasDocument(`${phase}nodes/${name}`) ? h("a", { href: `${nodeLink(name)}${phase ? "&when=before" : ""}` }, name) : name;
}

/**
 * The tables that consequences consist of, those first that matter most; empty ones are left out.
 * @param {View} view @param {Doc} found
 */
export function consequenceTables(view, found) {
  const pod = /** @type {Column} */ ({ key: "pod", head: "Pod", cell: (row) => row.pod, sort: (row) => row.pod });
  const from = /** @type {Column} */ ({ key: "from", head: "From", cell: (row) => nodeName(row.before, "before"), sort: (row) => row.before ?? "" });
  const was = /** @type {Column} */ ({ ...from, head: "Was on" });
  const on = /** @type {Column} */ ({ key: "node", head: "Node", cell: (row) => nodeName(row.node, "before"), sort: (row) => row.node });
  /** @type {[string, string, Doc[], Column[], string][]} */
  const parts = [
    ["stranded", "Without a node", found.stranded, [pod, was, { key: "why", head: "Why", cell: (row) => words(row), sort: (row) => words(row) }], "Each lost its node, or was made by a change, and gets none."],
    ["kept", "Not evicted", found.kept ?? [], [pod, on, { key: "why", head: "Why", cell: (row) => row.why, sort: (row) => row.why }], "These were to go and may not."],
    ["gone", "Gone for good", found.gone, [pod, was], "No controller makes them again."],
    ["preempted", "Preempted", found.preempted, [pod, on, { key: "by", head: "For", cell: (row) => row.by, sort: (row) => row.by }], "They made room for more important pods."],
    ["moved", "Moved", found.moved, [pod, from, { key: "to", head: "To", cell: (row) => h("span", {}, h("span", { "aria-hidden": "true" }, "→ "), nodeName(row.after, "after")), sort: (row) => row.after }], ""],
  ];
  return parts.filter(([, , rows]) => rows.length).map(([name, title, rows, columns, note]) =>
    h("section", { id: `part-${name}` }, h("h2", {}, title), note && h("p", { class: "soft" }, note), name === "stranded" && rows.length > 1 && reasonList(rows),
      dataTable(view, { name: `${name}-`, caption: title, columns, rows, noun: "pod", empty: "", search: "pod, node or reason", text: (row) => [row.pod, row.before, row.after, row.node, row.by, words(row)].filter(Boolean).join(" ") })));
}

/** @param {Doc} row */
function words(row) {
  return row.causes?.[0]?.sentence ?? row.message ?? row.why ?? "";
}

/** What most of them are told, in the scheduler's own words too. @param {Doc[]} rows */
function reasonList(rows) {
  /** @type {Map<string, Doc[]>} */
  const groups = new Map();
  for (const row of rows) groups.set(words(row), [...(groups.get(words(row)) ?? []), row]);
  const most = [...groups].sort(([, a], [, b]) => b.length - a.length).slice(0, MAX_REASONS);
  return h("ul", { class: "reasons" }, most.map(([told, members]) =>
    h("li", {}, h("b", {}, plural(members.length, "pod")), `: ${told}`, members[0].message && members[0].message !== told && h("div", { class: "soft" }, members[0].message))));
}

/** @param {View} view @param {Doc} found */
function draw(view, found) {
  const fresh = found.moved.filter((/** @type {Doc} */ each) => !each.before).length;
  const { totals } = view.overview;
  const sums = [
    ["moved", totals.moved - fresh, "moved", ""],
    ["moved", fresh, "placed that had no node", "good"],
    ["stranded", totals.stranded, "without a node", "bad"],
    ["kept", totals.kept, "not evicted", "bad"],
    ["gone", totals.gone, "gone for good", "bad"],
    ["preempted", totals.preempted, "preempted", "warn"],
  ].filter(([, count], at) => at === 0 || count);
  const kept = [found.moved, found.stranded, found.kept, found.gone, found.preempted].reduce((sum, each) => sum + each.length, 0);
  const all = Object.values(totals).reduce((sum, each) => sum + Number(each), 0);
  const uses = Object.entries(found.utilisation);
  replaceChildren(
    view.root,
    h("h1", {}, found.changes.length ? found.changes.join(", ") : "No change but the failures"),
    h("div", { class: `panel ${found.survived ? "done" : "alert"}` }, h("b", {}, found.survived ? "✓ Every pod has a place in the end." : "✗ Not every pod has a place in the end, or not every one that was to go has gone."),
      (found.waiting.before > 0 || found.waiting.after > 0) && h("p", { class: "soft" }, `${formatCount(found.waiting.after)} of ${plural(found.waiting.before, "pod")} that waited before still wait.`)),
    h("div", { class: "sums" }, sums.map(([part, count, text, kind]) => h("a", { href: "#", onclick: (/** @type {Event} */ event) => {
      event.preventDefault();
      const section = document.getElementById(`part-${part}`);
      section?.scrollIntoView({ block: "start" });
      /** @type {HTMLElement | null} */ (section?.querySelector("input"))?.focus({ preventScroll: true });
    } }, h("b", { class: count ? String(kind) : "" }, formatCount(Number(count))), String(text)))),
    h("div", { class: "charts" }, barChart({
      title: "Requested of allocatable",
      categories: uses.map(([name]) => name),
      series: [
        { name: "before", colour: "var(--soft)", values: uses.map(([, each]) => share(each.requestedBefore, each.allocatableBefore)) },
        { name: "after", colour: seriesColour(0), values: uses.map(([, each]) => share(each.requestedAfter, each.allocatableAfter)) },
      ],
      format: formatPercent,
      shares: true,
    }), flowChart(found.moved)),
    kept < all && h("p", { class: "warn" }, `This report lists ${formatCount(kept)} of ${plural(all, "pod")}; -o json has all.`),
    consequenceTables(view, found),
    found.changes.length > 0 && kept === 0 && h("p", {}, "Nobody has to move."),
    notesList(found.notes),
  );
}

/** The nodes that most pods come to and go from. @param {Doc[]} moved */
export function flowChart(moved) {
  if (!moved.length) return null;
  /** @type {Map<string, {go: number, come: number}>} */
  const nodes = new Map();
  const at = (/** @type {string} */ name) => {
    const found = nodes.get(name) ?? { go: 0, come: 0 };
    nodes.set(name, found);
    return found;
  };
  for (const each of moved) {
    if (each.before) at(each.before).go += 1;
    at(each.after).come += 1;
  }
  const most = [...nodes].sort(([a, one], [b, other]) => other.go + other.come - one.go - one.come || a.localeCompare(b)).slice(0, 8);
  return barChart({
    title: "Where pods go and come",
    note: nodes.size > most.length ? `the ${most.length} nodes with the most of ${formatCount(nodes.size)}` : "",
    categories: most.map(([name]) => name),
    series: [
      { name: "go", colour: "var(--soft)", values: most.map(([, each]) => each.go) },
      { name: "come", colour: seriesColour(0), values: most.map(([, each]) => each.come) },
    ],
    format: formatCount,
  });
}

/** @param {number} part @param {number} whole */
function share(part, whole) {
  return whole ? part / whole : null;
}
