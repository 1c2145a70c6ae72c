// Scenario: what came of days of arrivals, failures and scaling under one configuration.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { metricFormat } from "./compare.js";
import { dataTable } from "./data_table.js";
import { conditionPanels, leftOutLine, notesList, showDocuments } from "./document_view.js";
import { h, replaceChildren, table } from "./dom.js";
import { formatCount, plural } from "./format.js";
import { metricWords } from "./source.js";
import { timeCharts } from "./time_charts.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {import("./data_table.js").Column} Column */

const MAX_BARS = 12;
const MAX_REASONS = 8;
/** @type {Record<string, string>} what metrics of scenarios mean, in short */
export const SCENARIO_MEANINGS = {
  arrived: "pods that arrived",
  placed: "pods that had a node at least once",
  finished: "pods that have run for their time",
  running: "pods with a node in the end",
  pending: "pods without a node in the end",
  gone: "pods that nobody makes again",
  evictions: "pods that were preempted, each time",
  node_losses: "pods that lost their node with it, each time",
  wait_mean_s: "from arrival to the first binding, mean of placed pods",
  wait_p50_s: "half of the placed pods wait no longer",
  wait_p99_s: "99 of 100 placed pods wait no longer",
  wait_max_s: "the longest that a placed pod waited",
  pending_mean: "pods that wait, mean over time",
  nodes_mean: "nodes, mean over time",
  node_hours: "of all nodes for as long as they were there",
  cost: "what nodes cost for as long as they were there",
  node_failures: "nodes that failed, each time",
  scale_ups: "nodes that the autoscaler added",
  scale_downs: "nodes that the autoscaler removed",
};

/** @param {View} view @returns {() => void} */
export function showScenario(view) {
  view.command("{command}");
  return showDocuments(view, "Scenario", ["scenario"], (found) => draw(view, found));
}

/** @param {View} view @param {Doc} found */
function draw(view, found) {
  const { metrics } = found;
  const sums = [
    ["placed", "placed", ""],
    ["pending", "pending in the end", "bad"],
    ["evictions", "evicted by preemption", "warn"],
    ["node_failures", "nodes that failed", "warn"],
    ["node_losses", "pods that lost their node", "warn"],
    ["scale_ups", "nodes added by the autoscaler", ""],
    ["scale_downs", "nodes removed by it", ""],
  ].filter(([name = ""], at) => at < 2 || metrics[name]);
  replaceChildren(
    view.root,
    h("h1", {}, found.scenario),
    h("p", { class: "soft" }, `With seed ${found.seed}, under the configuration ${found.configuration}.`),
    conditionPanels(found.conditions),
    h("div", { class: "sums" }, sums.map(([name = "", text = "", kind = ""]) => h("div", {}, h("b", { class: metrics[name] ? kind : "" }, formatCount(metrics[name] ?? 0)), text))),
    h("h2", {}, "Over time"),
    h("div", { class: "charts" }, timeCharts(found.samples, found.durationSeconds)),
    h("h2", {}, "Workloads"),
    workloadCharts(found.workloads),
    leftOutLine(view, "workloads", found.workloads.length, "workload"),
    workloadTable(view, found.workloads),
    found.pendingReasons.length > 0 && [h("h2", {}, "Pending in the end"), h("ul", { class: "reasons" }, found.pendingReasons.slice(0, MAX_REASONS).map((/** @type {Doc} */ each) => h("li", {}, h("b", {}, plural(each.pods, "pod")), `: ${each.reason}`)))],
    found.pods.length > 0 && [h("h2", {}, "Pods"), leftOutLine(view, "pods", found.pods.length, "pod"), podTable(view, found.pods)],
    h("h2", {}, "Metrics"),
    h("details", {}, h("summary", {}, "As a table"), h("div", { class: "scroll" }, table("Metrics", ["Metric", { text: "Value", num: true }, "Means"],
      Object.entries(metrics).map(([name, value]) => [metricWords(name), metricFormat(name)(Number(value)), SCENARIO_MEANINGS[name] ?? ""])))),
    notesList(found.notes),
  );
}

/** @param {Doc} workload */
function nameOf(workload) {
  return workload.name || "already there";
}

/** Those with the longest waits and the most pods that wait. @param {Doc[]} workloads */
function workloadCharts(workloads) {
  const slow = most(workloads, "waitP99Seconds");
  const pending = most(workloads, "pending");
  return (slow.length > 0 || pending.length > 0) && h("div", { class: "charts" },
    slow.length > 0 && barChart({
      title: "How long pods wait",
      note: "from arrival to the first binding, the slowest workloads first",
      categories: slow.map(nameOf),
      series: [
        { name: "half wait no longer", colour: "var(--soft)", values: slow.map((each) => each.waitP50Seconds) },
        { name: "99 of 100 wait no longer", colour: seriesColour(0), values: slow.map((each) => each.waitP99Seconds) },
      ],
      format: metricFormat("wait_s"),
    }),
    pending.length > 0 && barChart({ title: "Who waits in the end", categories: pending.map(nameOf), series: [{ name: "pending", colour: seriesColour(1), values: pending.map((each) => each.pending) }], format: formatCount }));
}

/** @param {Doc[]} workloads @param {string} figure @returns {Doc[]} */
function most(workloads, figure) {
  return workloads.filter((each) => each[figure] > 0).sort((a, b) => b[figure] - a[figure]).slice(0, MAX_BARS);
}

/** @param {View} view @param {Doc[]} workloads */
function workloadTable(view, workloads) {
  const number = (/** @type {string} */ key, /** @type {string} */ head) => /** @type {Column} */ ({ key, head, num: true, cell: (row) => formatCount(row[key]), sort: (row) => row[key] });
  const wait = (/** @type {string} */ key, /** @type {string} */ head) => /** @type {Column} */ ({ key, head, num: true, cell: (row) => metricFormat("wait_s")(row[key]), sort: (row) => row[key] });
  return dataTable(view, {
    name: "workload-",
    caption: "Workloads",
    noun: "workload",
    search: "workload",
    rows: workloads,
    empty: "Nothing arrived.",
    text: nameOf,
    columns: [
      { key: "name", head: "Workload", cell: nameOf, sort: nameOf },
      number("arrived", "Arrived"),
      number("placed", "Placed"),
      number("finished", "Finished"),
      number("running", "Running"),
      number("pending", "Pending"),
      wait("waitP50Seconds", "Wait p50"),
      wait("waitP99Seconds", "Wait p99"),
      number("evictions", "Evicted"),
      number("nodeLosses", "Node lost"),
      number("gone", "Gone"),
    ],
  });
}

/** @param {View} view @param {Doc[]} pods */
function podTable(view, pods) {
  const time = (/** @type {string} */ key, /** @type {string} */ head) => /** @type {Column} */ ({ key, head, num: true, cell: (row) => (row[key] === null ? "–" : metricFormat("wait_s")(row[key])), sort: (row) => row[key] ?? -1 });
  return dataTable(view, {
    name: "pod-",
    caption: "Pods",
    noun: "pod",
    search: "pod, workload, node or reason",
    rows: pods,
    empty: "",
    text: (row) => `${row.name} ${row.workload} ${row.state} ${row.node ?? ""} ${row.reason}`,
    columns: [
      { key: "name", head: "Pod", cell: (row) => row.name, sort: (row) => row.name },
      { key: "state", head: "State", cell: (row) => row.state, sort: (row) => row.state },
      { key: "node", head: "Node", cell: (row) => row.node ?? "–", sort: (row) => row.node ?? "" },
      time("arrivedSeconds", "Arrived after"),
      time("waitedSeconds", "Waited"),
      { key: "reason", head: "Why", cell: (row) => row.reason, sort: (row) => row.reason },
    ],
  });
}
