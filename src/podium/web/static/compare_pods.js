// Pods that not all configurations treat alike: where each of them puts them, and why there.
// @ts-check
import { configurationKey, letter } from "./compare.js";
import { dataTable } from "./data_table.js";
import { showDocuments } from "./document_view.js";
import { h, replaceChildren } from "./dom.js";
import { formatCount, plural } from "./format.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/** @param {View} view @returns {() => void} */
export function showComparePods(view) {
  view.command("{command} --all");
  return showDocuments(view, "Pods", ["comparison", "comparison-view"], (found, more) => draw(view, found, more));
}

/** @param {View} view @param {Doc} found @param {Doc} more */
function draw(view, found, more) {
  const names = found.configurations.map((/** @type {Doc} */ each) => each.name);
  const place = (/** @type {Doc} */ row, /** @type {number} */ at) => row.places[at].node ?? row.places[at].outcome;
  const cell = (/** @type {Doc} */ row, /** @type {number} */ at) => {
    const there = row.places[at];
    const moved = at > 0 && place(row, at) !== place(row, 0);
    return h("span", {}, moved && h("span", { "aria-hidden": "true" }, "→ "),
      there.node ? h("a", { href: `#/nodes?node=${encodeURIComponent(there.node)}` }, there.node) : h("span", { class: "bad" }, there.outcome),
      there.why && h("div", { class: "soft" }, there.why));
  };
  const body = h("div", {});
  let only = view.params.get("only") ?? "";
  const kinds = [["", "all"], ["gained", "placed only by others"], ["lost", "placed only by A"], ["moved", "on another node"]];
  const show = () => {
    const rows = more.pods.filter((/** @type {Doc} */ row) => !only || kindOf(row) === only);
    replaceChildren(body, dataTable(view, {
      name: "",
      caption: "Pods by configuration",
      noun: "pod",
      search: "pod, node or reason",
      rows,
      empty: only ? "No pod is like that." : names.length > 1 ? "Every configuration does the same with every pod." : "There is nothing to compare with: give a second --config.",
      text: (row) => [row.pod, ...row.places.flatMap((/** @type {Doc} */ each) => [each.node ?? "", each.outcome, each.why])].join(" "),
      columns: [
        { key: "pod", head: "Pod", cell: (row) => row.pod, sort: (row) => row.pod },
        ...names.map((/** @type {string} */ name, /** @type {number} */ at) => ({ key: letter(at), head: `${letter(at)} ${name}`, cell: (/** @type {Doc} */ row) => cell(row, at), sort: (/** @type {Doc} */ row) => place(row, at) })),
      ],
    }));
  };
  const choose = h("select", { id: "only", onchange: (/** @type {Event} */ event) => {
    only = /** @type {HTMLSelectElement} */ (event.target).value;
    view.go({ only });
    show();
  } }, kinds.map(([value = "", words = ""]) => h("option", { value, selected: value === only }, words)));
  replaceChildren(
    view.root,
    h("h1", {}, `${plural(more.differentPods, "pod")} of ${formatCount(found.podCount)} not alike`),
    h("p", {}, names.map(configurationKey)),
    found.seeds.length > 1 && h("p", { class: "soft" }, `Of the run with seed ${found.seeds[0]}, which has the pods in the order of the input.`),
    more.pods.length < more.differentPods && h("p", { class: "warn" }, `This report keeps the first ${formatCount(more.pods.length)}; -o json has all.`),
    more.pods.length > 0 && h("div", { class: "bar" }, h("label", {}, "Show", choose)),
    body,
  );
  show();
}

/** Who has a place with the first configuration and with the others. @param {Doc} row */
function kindOf(row) {
  const [first, ...others] = row.places.map((/** @type {Doc} */ each) => each.node !== null);
  if (!first && others.includes(true)) return "gained";
  return first && others.includes(false) ? "lost" : "moved";
}
