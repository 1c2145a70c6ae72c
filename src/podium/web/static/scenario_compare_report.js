// Compare: configurations on the same days, what each comes to and whether the difference is chance.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { configurationKey, letter, metricFormat, metricsSection } from "./compare.js";
import { conditionPanels, leftOutLine, showDocuments } from "./document_view.js";
import { h, replaceChildren } from "./dom.js";
import { formatPercent, plural } from "./format.js";
import { SCENARIO_MEANINGS } from "./scenario_report.js";
import { metricWords } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/**
 * Configurations as charts want them, in their order; runs are those that the report has kept.
 * @typedef {{configurations: Doc[], seeds: number[], runs: Doc[]}} Configurations
 */

/** @param {View} view @returns {() => void} */
export function showScenarioCompare(view) {
  view.command("{command}");
  return showDocuments(view, "Compare", ["scenario-comparison"], (found) => draw(view, found));
}

/** @param {View} view @param {Doc} found */
function draw(view, found) {
  const shown = { configurations: byConfiguration(found.metrics), seeds: keptSeeds(found.runs), runs: found.runs };
  replaceChildren(
    view.root,
    h("h1", {}, found.scenario),
    h("p", {}, shown.configurations.map((each, at) => configurationKey(each.name, at))),
    h("p", { class: "soft" }, found.seeds.length > 1 ? `Means over ${plural(found.seeds.length, "seed")}; the same arrivals and failures for each configuration.` : "One run of each configuration, with the same arrivals and failures."),
    conditionPanels(found.conditions),
    leftOutLine(view, "runs", found.runs.length, "run"),
    metricsSection(view, shown, SCENARIO_MEANINGS),
    h("h2", {}, "What comes of it"),
    h("div", { class: "charts" }, metricCharts(shown.configurations)),
  );
}

/** Records of metrics as metrics of each configuration. @param {Doc[]} records @returns {Doc[]} */
function byConfiguration(records) {
  /** @type {Map<string, Doc>} */
  const found = new Map();
  for (const each of records) {
    const held = found.get(each.configuration) ?? { name: each.configuration, metrics: [] };
    found.set(each.configuration, held);
    held.metrics.push({
      name: each.metric,
      mean: each.mean,
      lowest: each.lowest,
      highest: each.highest,
      difference: each.difference === null ? null : { mean: each.difference, lowest: each.difference_lowest, highest: each.difference_highest, pValue: each.p_value },
    });
  }
  return [...found.values()];
}

/** Seeds of the runs that a report has kept, in their order. @param {Doc[]} runs @returns {number[]} */
export function keptSeeds(runs) {
  return [...new Set(runs.map((each) => each.seed))];
}

/**
 * Bars of the metrics that belong together, for each configuration; whiskers are the seeds' least
 * and most. Metrics that are 0 everywhere are left out.
 * @param {Doc[]} configurations
 */
export function metricCharts(configurations) {
  const names = configurations[0].metrics.map((/** @type {Doc} */ each) => each.name);
  const metric = (/** @type {Doc} */ of, /** @type {string} */ name) => of.metrics.find((/** @type {Doc} */ each) => each.name === name);
  const chart = (/** @type {string} */ title, /** @type {(name: string) => boolean} */ isWanted, /** @type {boolean} */ shares) => {
    const wanted = names.filter((/** @type {string} */ name) => isWanted(name) && configurations.some((each) => metric(each, name).highest));
    if (!wanted.length) return null;
    return barChart({
      title,
      categories: wanted.map((/** @type {string} */ name) => (shares ? name.replace(/_(share|fragmentation)$/, "") : metricWords(name))),
      series: configurations.map((each, at) => ({
        name: `${letter(at)} ${each.name}`,
        colour: seriesColour(at),
        values: wanted.map((/** @type {string} */ name) => metric(each, name).mean),
        low: wanted.map((/** @type {string} */ name) => metric(each, name).lowest),
        high: wanted.map((/** @type {string} */ name) => metric(each, name).highest),
      })),
      format: shares ? formatPercent : metricFormat(wanted[0] ?? ""),
      shares,
    });
  };
  const oneOf = (/** @type {string[]} */ ...wanted) => (/** @type {string} */ name) => wanted.includes(name);
  return [
    chart("Pods", oneOf("placed", "pending", "pending_mean"), false),
    chart("Pods that lose their node", oneOf("evictions", "node_losses", "gone"), false),
    chart("Waiting time of placed pods", oneOf("wait_p50_s", "wait_mean_s", "wait_p99_s"), false),
    chart("Requested of allocatable", (name) => name.endsWith("_share"), true),
    chart("Free in pieces too small", (name) => name.endsWith("_fragmentation"), true),
    chart("Nodes", oneOf("nodes_used", "nodes_mean"), false),
    chart("Node hours", oneOf("node_hours"), false),
    chart("Cost of nodes", oneOf("cost"), false),
    chart("Nodes that come and go", oneOf("scale_ups", "scale_downs", "node_failures"), false),
  ];
}
