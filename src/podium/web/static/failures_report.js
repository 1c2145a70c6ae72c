// Every node, or every zone, failing by itself: what each failure costs as a heat table, and one of
// them opened.
// @ts-check
import { dataTable } from "./data_table.js";
import { showDocuments } from "./document_view.js";
import { h, replaceChildren, stateLine } from "./dom.js";
import { formatCount, plural, shellWord } from "./format.js";
import { getDocument } from "./source.js";
import { consequenceTables } from "./what_if_report.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/** @param {View} view @returns {() => void} */
export function showNodeFailures(view) {
  return showFailures(view, "node");
}

/** @param {View} view @returns {() => void} */
export function showZoneFailures(view) {
  return showFailures(view, "zone");
}

/** @param {View} view @param {"node" | "zone"} what @returns {() => void} */
function showFailures(view, what) {
  const title = what === "node" ? "Every node failing by itself" : "Every zone failing by itself";
  view.command("{command} --all");
  return showDocuments(view, title, [`${what}-failures`], (found) => draw(view, what, title, found.failures));
}

/** @param {View} view @param {"node" | "zone"} what @param {string} title @param {Doc[]} failures */
function draw(view, what, title, failures) {
  const list = h("div", {});
  const detail = h("div", { id: "failure", "aria-live": "polite" });
  let opened = view.params.get("failure") ?? "";
  let only = view.params.get("only") ?? "";
  const lost = failures.filter((each) => !each.survived);
  /** @param {"pods" | "moved" | "stranded" | "gone" | "preempted"} key @param {string} head */
  const figure = (key, head) => {
    const most = Math.max(1, ...failures.map((each) => each[key]));
    return { key, head, num: true, sort: (/** @type {Doc} */ row) => row[key], cell: (/** @type {Doc} */ row) => (row[key] ? formatCount(row[key]) : "·"), heat: (/** @type {Doc} */ row) => (row[key] ? row[key] / most : NaN) };
  };
  const showList = () => replaceChildren(list, dataTable(view, {
    name: "",
    caption: title,
    noun: what,
    search: `${what} or pod`,
    rows: only === "lost" ? lost : failures,
    empty: only === "lost" ? `Every ${what} may fail: all pods find another place.` : `There is no ${what}.`,
    text: (row) => `${row.name} ${row.who}`,
    current: (row) => row.name === opened,
    columns: [
      { key: "name", head: what === "node" ? "Node" : "Zone", sort: (row) => row.name, cell: (row) => h("a", { href: `#/${what}-failures?failure=${encodeURIComponent(row.name)}`, onclick: (/** @type {Event} */ event) => {
        event.preventDefault();
        open(row.name);
      } }, row.name) },
      { key: "survived", head: "Survived", sort: (row) => (row.survived ? 0 : 1), cell: (row) => (row.survived ? h("span", { class: "good" }, "✓ yes") : h("span", { class: "bad" }, "✗ no")) },
      ...(what === "zone" ? [{ key: "nodes", head: "Nodes", num: true, sort: (/** @type {Doc} */ row) => row.nodes, cell: (/** @type {Doc} */ row) => formatCount(row.nodes) }] : []),
      figure("pods", "Pods"),
      figure("moved", "Moved"),
      figure("stranded", "No node"),
      figure("gone", "Gone"),
      figure("preempted", "Preempted"),
      { key: "who", head: "Who, and why", cell: (row) => h("span", { class: "soft" }, row.who) },
    ],
  }));
  /** @param {string} name */
  const open = (name) => {
    opened = name;
    view.go({ failure: name });
    view.command(`{command} ${what === "node" ? "--fail" : "--zone-outage"} ${shellWord(name)}`);
    showList();
    const close = h("button", { type: "button", id: "close-failure", "aria-label": "Close", onclick: () => {
      opened = "";
      view.go({ failure: null });
      view.command("{command} --all");
      replaceChildren(detail);
      showList();
      /** @type {HTMLElement | null} */ (list.querySelector("input"))?.focus();
    } }, "✕");
    const heading = h("h2", { class: "name" }, `If ${what === "zone" ? "zone " : ""}${name} fails`);
    getDocument(`${what}-failures/${encodeURIComponent(name)}`).then(
      (found) => {
        if (opened !== name) return;
        const tables = consequenceTables(view, found);
        replaceChildren(detail, h("section", { class: "panel" }, h("div", { class: "title" }, heading, close), tables.length ? tables : h("p", {}, "Nobody has to move.")));
        detail.scrollIntoView({ block: "nearest" });
      },
      (problem) => replaceChildren(detail, h("section", { class: "panel" }, h("div", { class: "title" }, heading, close), stateLine(problem.message, "bad"))),
    );
  };
  const filter = h("button", { type: "button", id: "only-lost", "aria-pressed": String(only === "lost"), onclick: () => {
    only = only ? "" : "lost";
    filter.setAttribute("aria-pressed", String(only === "lost"));
    view.go({ only });
    showList();
  } }, "Only those it does not survive");
  replaceChildren(
    view.root,
    h("h1", {}, title),
    h("div", { class: `panel ${lost.length ? "alert" : "done"}` }, h("b", {}, lost.length ? `✗ ${formatCount(lost.length)} of ${plural(failures.length, what)} cannot fail.` : `✓ Each of ${plural(failures.length, what)} may fail.`)),
    h("div", { class: "bar" }, filter),
    detail,
    list,
  );
  showList();
  if (opened) open(opened);
}
