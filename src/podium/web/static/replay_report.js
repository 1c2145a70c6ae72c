// Replay: a recorded cluster decided anew, and recorded decisions checked one by one.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { metricFormat } from "./compare.js";
import { dataTable } from "./data_table.js";
import { leftOutLine, notesList, showDocuments } from "./document_view.js";
import { h, replaceChildren } from "./dom.js";
import { formatCount, formatPercent, formatSeconds, plural } from "./format.js";
import { timeCharts } from "./time_charts.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {import("./data_table.js").Column} Column */

const seconds = metricFormat("wait_s");
const count = metricFormat("");

/** @param {View} view @returns {() => void} */
export function showReplay(view) {
  view.command("{command} --all");
  return showDocuments(view, "Replay", ["replay"], (found) => drawReplay(view, found));
}

/** @param {View} view @returns {() => void} */
export function showReplayCheck(view) {
  view.command("{command} --all");
  return showDocuments(view, "Recorded decisions", ["replay-check"], (found) => drawCheck(view, found));
}

/** @param {Doc} found */
function sourceLine(found) {
  return h("p", { class: "soft" }, `${found.trace}, recorded at ${found.recordedAt}, ${formatSeconds(found.durationSeconds)}.`);
}

/** @param {string} name @returns {Column} */
function atColumn(name) {
  return { key: "at", head: "After", num: true, cell: (row) => seconds(row[name]), sort: (row) => row[name] };
}

/** @param {View} view @param {Doc} found */
function drawReplay(view, found) {
  const lost = found.outcomes["only recorded"];
  const { same, moved } = found.outcomes;
  const beside = (/** @type {string} */ title, /** @type {[string, string][]} */ figures, /** @type {(value: number) => string} */ format) => barChart({
    title,
    categories: figures.map(([, text]) => text),
    series: [
      { name: "recorded", colour: "var(--soft)", values: figures.map(([key]) => found.recorded[key]) },
      { name: found.config, colour: seriesColour(0), values: figures.map(([key]) => found.here[key]) },
    ],
    format,
  });
  const outcomes = Object.entries(found.outcomes);
  replaceChildren(
    view.root,
    h("h1", {}, "Replay"),
    sourceLine(found),
    h("div", { class: `panel ${lost ? "alert" : "done"}` },
      h("b", {}, lost ? `✗ ${plural(lost, "pod")} that had a node when it was recorded ${lost === 1 ? "has" : "have"} none here.` : "✓ Every pod that had a node when it was recorded has one here."),
      h("p", { class: "soft" }, found.agreement === null ? "No pod has a node both there and here." : `${formatCount(same)} of ${plural(same + moved, "pod")} on the same node (${formatPercent(found.agreement)}).`)),
    h("h2", {}, "Recorded and here"),
    h("div", { class: "charts" },
      barChart({ title: "How pods fared", note: "against what was recorded", categories: outcomes.map(([name]) => name), series: [{ name: "pods", values: outcomes.map(([, pods]) => Number(pods)) }], format: formatCount }),
      beside("Pods placed", [["placed", "placed"]], formatCount),
      beside("Waiting time of placed pods", [["waitP50Seconds", "p50"], ["waitP99Seconds", "p99"], ["waitMaxSeconds", "longest"]], seconds),
      beside("Nodes in use", [["nodesInUseMean", "mean"], ["nodesInUseMax", "most"]], count)),
    h("h2", {}, "Here over time"),
    h("div", { class: "charts" }, timeCharts(found.samples.map((/** @type {Doc} */ each) => ({ ...each, atSeconds: each.at })), found.durationSeconds)),
    reasonList(found.pendingReasons),
    h("h2", {}, "Elsewhere"),
    leftOutLine(view, "pods", found.pods.length, "pod"),
    dataTable(view, {
      name: "pod-",
      caption: "Pods that fared otherwise",
      noun: "pod",
      search: "pod, node or reason",
      rows: found.pods,
      empty: "Every pod fared as it was recorded.",
      text: (row) => `${row.pod} ${row.outcome} ${row.recordedNode ?? ""} ${row.node ?? ""} ${row.reason}`,
      columns: [
        atColumn("arrivedAt"),
        { key: "pod", head: "Pod", cell: (row) => row.pod, sort: (row) => row.pod },
        { key: "outcome", head: "Outcome", cell: (row) => h("span", { class: row.outcome === "only recorded" ? "bad" : null }, row.outcome), sort: (row) => row.outcome },
        { key: "recorded", head: "Recorded", cell: (row) => nodeCell(row.recordedNode), sort: (row) => row.recordedNode ?? "" },
        { key: "here", head: "Here", cell: (row) => nodeCell(row.node), sort: (row) => row.node ?? "" },
        { key: "why", head: "Why", cell: (row) => row.reason, sort: (row) => row.reason },
      ],
    }),
    notesList(found.notes),
  );
}

/** @param {string | null} name */
function nodeCell(name) {
  return name ?? h("span", { class: "soft" }, "none");
}

/** @param {Record<string, number>} reasons */
function reasonList(reasons) {
  const told = Object.entries(reasons);
  return told.length ? [h("h2", {}, "Pending in the end"), h("ul", { class: "reasons" }, told.slice(0, 8).map(([reason, pods]) => h("li", {}, h("b", {}, plural(pods, "pod")), `: ${reason}`)))] : null;
}

/** @param {View} view @param {Doc} found */
function drawCheck(view, found) {
  const { verdicts } = found;
  const all = Object.values(verdicts).reduce((sum, each) => sum + Number(each), 0);
  const agrees = verdicts.same === all;
  replaceChildren(
    view.root,
    h("h1", {}, "Recorded decisions"),
    sourceLine(found),
    found.agreement === null
      ? h("p", {}, "No pod was bound in this time.")
      : [
          h("div", { class: `panel ${agrees ? "done" : "alert"}` }, h("b", {}, `${agrees ? "✓" : "✗"} ${formatCount(verdicts.same)} of ${plural(all, "decision")} as here (${formatPercent(found.agreement)}).`)),
          h("div", { class: "charts" }, barChart({
            title: "What is said of them",
            note: "same: no node has a higher total; lower: another one has; refused: the pod does not fit where it went",
            categories: Object.keys(verdicts),
            series: [{ name: "decisions", values: Object.values(verdicts).map(Number) }],
            format: formatCount,
          })),
          h("section", { id: "differences" },
            h("h2", {}, "Differences"),
            leftOutLine(view, "decisions", found.decisions.length, "decision"),
            differenceTable(view, found.decisions)),
        ],
    notesList(found.notes),
  );
}

/** @param {View} view @param {Doc[]} decisions */
function differenceTable(view, decisions) {
  const best = (/** @type {Doc} */ row) => row.best.join(", ") + (row.bestCount > row.best.length ? ` and ${formatCount(row.bestCount - row.best.length)} more` : "");
  const why = (/** @type {Doc} */ row) => (row.recordedTotal === null ? row.reason : `total ${formatCount(row.recordedTotal)}, the best has ${formatCount(row.bestTotal)}`);
  return dataTable(view, {
    name: "",
    caption: "Decisions that differ",
    noun: "decision",
    search: "pod, node or reason",
    rows: decisions,
    empty: "No decision differs.",
    text: (row) => `${row.pod} ${row.verdict} ${row.recordedNode} ${best(row)} ${why(row)}`,
    columns: [
      atColumn("at"),
      { key: "pod", head: "Pod", cell: (row) => row.pod, sort: (row) => row.pod },
      { key: "verdict", head: "Verdict", cell: (row) => row.verdict, sort: (row) => row.verdict },
      { key: "recorded", head: "Recorded", cell: (row) => row.recordedNode, sort: (row) => row.recordedNode },
      { key: "here", head: "Here", cell: (row) => best(row) || nodeCell(null), sort: best },
      { key: "why", head: "Why", cell: why, sort: why },
    ],
  });
}
