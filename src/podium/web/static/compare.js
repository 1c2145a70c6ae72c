// Compare: configurations side by side, what each comes to and whether the difference is chance.
// @ts-check
import { emptyChart, seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { lineChart } from "./charts_lines.js";
import { stripPlot } from "./charts_strips.js";
import { conditionPanels, notesList, showDocuments } from "./document_view.js";
import { h, keepFocus, replaceChildren } from "./dom.js";
import { formatAmount, formatCount, formatPercent, formatSeconds, plural } from "./format.js";
import { metricWords } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {(value: number) => string} Format */

const SIGNIFICANT = 0.05;
// As the terminal rounds it; the types are older than the option.
const PROBABILITY = new Intl.NumberFormat("en-US", /** @type {any} */ ({ minimumFractionDigits: 3, maximumFractionDigits: 3, roundingMode: "halfEven" }));
/** @type {Record<string, string>} what metrics mean, in short */
const MEANINGS = {
  placed: "pods that have a node in the end",
  pending: "pods that were to be placed and are not",
  evictions: "pods that were preempted",
  wait_p50_s: "half of the placed pods wait no longer",
  wait_p99_s: "99 of 100 placed pods wait no longer",
  zone_skew: "most pods of one workload in a zone less the fewest",
  node_skew: "most pods of one workload on a node less the fewest",
  nodes_used: "nodes with pods other than daemons'",
  cost: "what the used nodes cost",
};

/** @param {number} at A, B, ... Z, then 26, 27, ... */
export function letter(at) {
  return at < 26 ? String.fromCharCode(65 + at) : String(at);
}

/** A configuration's letter in its colour, and its name. @param {string} name @param {number} at */
export function configurationKey(name, at) {
  return h("span", { class: "chip" }, h("i", { class: "dot", style: { background: seriesColour(at) } }), h("b", {}, letter(at)), name);
}

/** @param {View} view @returns {() => void} */
export function showCompare(view) {
  view.command("{command}");
  return showDocuments(view, "Compare", ["comparison", "comparison-view"], (found, more) => draw(view, found, more));
}

/** @param {View} view @param {Doc} found @param {Doc} more */
function draw(view, found, more) {
  const names = found.configurations.map((/** @type {Doc} */ each) => each.name);
  const typical = found.typicalPod;
  replaceChildren(
    view.root,
    h("h1", {}, "Compare"),
    h("p", {}, names.map(configurationKey)),
    h("p", { class: "soft" },
      found.seeds.length > 1 ? `Means over ${plural(found.seeds.length, "seed")}, the same arrivals for each configuration. ` : "One run of each configuration, pods in the order of the input. ",
      `The typical pod has ${formatAmount("cpu", typical.cpu)} cpu and ${formatAmount("memory", typical.memory)} memory. `,
      names.length > 1 && (more.differentPods ? [`${plural(more.differentPods, "pod")} of ${formatCount(found.podCount)} not alike: `, h("a", { href: "#/pods" }, "which"), "."] : `All ${formatCount(found.podCount)} pods alike.`)),
    conditionPanels(found.conditions),
    metricsSection(view, found),
    h("h2", {}, "What comes of it"),
    h("div", { class: "charts" }, outcomeCharts(found, more, names)),
    notesList(found.notes),
  );
}

/**
 * Metrics of each configuration beside the runs of one that is chosen. Differences are there where
 * metrics have them.
 * @param {View} view
 * @param {{configurations: Doc[], seeds: number[], runs: Doc[]}} found
 * @param {Record<string, string>} [meanings]
 */
export function metricsSection(view, found, meanings = MEANINGS) {
  const metrics = found.configurations[0].metrics.map((/** @type {Doc} */ each) => each.name);
  const asked = view.params.get("metric") ?? "";
  let metric = metrics.includes(asked) ? asked : firstTelling(found) ?? metrics[0];
  const spread = h("div", { class: "charts" });
  const rows = h("div", { class: "scroll" });
  const choose = (/** @type {string} */ name) => {
    metric = name;
    view.go({ metric });
    show();
  };
  const show = () => keepFocus(() => {
    replaceChildren(rows, metricTable(found, metric, meanings, choose));
    replaceChildren(spread, spreadCharts(found, metric, meanings));
  });
  show();
  return h("div", { class: "beside" },
    h("section", {}, h("h2", {}, "Metrics"), rows),
    h("section", {}, h("h2", {}, "Seed by seed"), spread));
}

/** The metric with the smallest probability of chance, or any that differs. @param {Doc} found */
function firstTelling(found) {
  const differing = found.configurations.flatMap((/** @type {Doc} */ each) => each.metrics)
    .filter((/** @type {Doc} */ each) => each.difference && (each.difference.lowest || each.difference.highest))
    .sort((/** @type {Doc} */ a, /** @type {Doc} */ b) => (a.difference.pValue ?? 1) - (b.difference.pValue ?? 1));
  return differing[0]?.name ?? null;
}

/** @param {string} metric @returns {Format} */
export function metricFormat(metric) {
  if (metric.endsWith("_share") || metric.endsWith("_fragmentation")) return (value) => `${(100 * value).toFixed(1)}%`;
  if (metric.endsWith("_s")) return (value) => (value ? formatSeconds(value) : "0 s");
  if (metric === "cost") return (value) => value.toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  return (value) => value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

/** @param {Doc} found @param {string} chosen @param {Record<string, string>} meanings @param {(metric: string) => void} choose */
function metricTable(found, chosen, meanings, choose) {
  const { configurations } = found;
  const tested = found.seeds.length > 1;
  const others = configurations.slice(1).filter((/** @type {Doc} */ each) => each.metrics[0].difference);
  const heads = ["Metric", ...configurations.map((/** @type {Doc} */ _, /** @type {number} */ at) => letter(at)), ...others.flatMap((/** @type {Doc} */ _, /** @type {number} */ at) => [`${letter(at + 1)} − A`, ...(tested ? ["P"] : [])])];
  const row = (/** @type {Doc} */ first, /** @type {number} */ at) => {
    const format = metricFormat(first.name);
    const differences = others.flatMap((/** @type {Doc} */ each) => differenceCells(each.metrics[at].difference, format, tested));
    return h("tr", { class: first.name === chosen ? "current" : null },
      h("th", { scope: "row" }, h("button", { type: "button", class: "sort", id: `metric-${first.name}`, title: [first.name, meanings[first.name]].filter(Boolean).join(": "), "aria-pressed": String(first.name === chosen), onclick: () => choose(first.name) }, metricWords(first.name))),
      configurations.map((/** @type {Doc} */ each) => h("td", { class: "num" }, format(each.metrics[at].mean))),
      differences);
  };
  return h("table", { class: "data metrics" },
    h("caption", { class: "only-read" }, "Metrics of each configuration, and what the others have more than the first"),
    h("thead", {}, h("tr", {}, heads.map((text, at) => h("th", { scope: "col", class: at ? "num" : null }, text)))),
    h("tbody", {}, configurations[0].metrics.map(row)));
}

/** @param {Doc} difference @param {Format} format @param {boolean} tested */
function differenceCells(difference, format, tested) {
  const differs = difference.lowest || difference.highest;
  const significant = differs && difference.pValue !== null && difference.pValue < SIGNIFICANT;
  const words = differs ? `${difference.mean < 0 ? "−" : "+"}${format(Math.abs(difference.mean))}` : "·";
  return [
    h("td", { class: `num ${significant ? "telling" : differs ? "" : "soft"}` }, words),
    tested && h("td", { class: `num ${significant ? "telling" : "soft"}` }, differs ? `${PROBABILITY.format(difference.pValue)}${significant ? " ★" : ""}` : "·"),
  ];
}

/** @param {Doc} found @param {string} metric @param {Record<string, string>} meanings */
function spreadCharts(found, metric, meanings) {
  const format = metricFormat(metric);
  const labels = found.seeds.map((/** @type {number} */ seed) => `seed ${seed}`);
  const strips = found.configurations.map((/** @type {Doc} */ each, /** @type {number} */ at) => ({
    name: `${letter(at)} ${each.name}`,
    colour: seriesColour(at),
    values: found.runs.filter((/** @type {Doc} */ run) => run.configuration === each.name).map((/** @type {Doc} */ run) => run.metrics[metric] ?? 0),
  }));
  const note = meanings[metric] ?? "";
  if (found.seeds.length < 2) return [barChart({ title: metricWords(metric), note: `${note ? `${note}; ` : ""}more seeds (--seeds) show how far it spreads`, categories: strips.map((/** @type {Doc} */ each) => each.name), series: [{ name: metricWords(metric), values: strips.map((/** @type {Doc} */ each) => each.values[0]) }], format })];
  const first = strips[0].values;
  const differences = strips.slice(1).map((/** @type {Doc} */ each, /** @type {number} */ at) => ({
    name: `${letter(at + 1)} − A`,
    colour: each.colour,
    values: each.values.map((/** @type {number} */ value, /** @type {number} */ seed) => value - first[seed]),
  }));
  return [
    stripPlot({ title: metricWords(metric), note: note || "every dot is a run; strokes are means", strips, labels, format }),
    differences.length > 0 && stripPlot({ title: `${metricWords(metric)}, differences to A`, note: "every dot is a seed: the same arrivals under both", strips: differences, labels, format, zero: true }),
  ];
}

/** @param {Doc} found @param {Doc} more @param {string[]} names */
function outcomeCharts(found, more, names) {
  const metric = (/** @type {string} */ name) => found.configurations.map((/** @type {Doc} */ each) => each.metrics.find((/** @type {Doc} */ one) => one.name === name));
  const has = (/** @type {string} */ name) => metric(name)[0] !== undefined;
  const series = (/** @type {string[]} */ wanted) => names.map((name, at) => ({
    name: `${letter(at)} ${name}`,
    colour: seriesColour(at),
    values: wanted.map((one) => metric(one)[at].mean),
    low: wanted.map((one) => metric(one)[at].lowest),
    high: wanted.map((one) => metric(one)[at].highest),
  }));
  const shares = more.resources.filter((/** @type {Doc} */ each) => has(`${each.name}_share`));
  const pieces = ["cpu_fragmentation", "memory_fragmentation"].filter(has);
  const skews = ["zone_skew", "node_skew", "nodes_used"].filter(has);
  return [
    barChart({
      title: "Requested of allocatable",
      categories: shares.map((/** @type {Doc} */ each) => each.name),
      series: [
        { name: "before", colour: "var(--soft)", values: shares.map((/** @type {Doc} */ each) => sum(each.before) / (sum(each.allocatable) || 1)) },
        ...series(shares.map((/** @type {Doc} */ each) => `${each.name}_share`)),
      ],
      format: formatPercent,
      shares: true,
    }),
    barChart({ title: "Pods", categories: ["placed", "pending", "evictions"].map(metricWords), series: series(["placed", "pending", "evictions"]), format: metricFormat("placed") }),
    waitingChart(more, names),
    barChart({ title: "Free in pieces too small", note: "the part of what is free that lies where the typical pod does not fit", categories: pieces.map((each) => each.replace("_fragmentation", "")), series: series(pieces), format: formatPercent, shares: true }),
    has("cost") && barChart({ title: "Cost of the nodes in use", categories: [metricWords("cost")], series: series(["cost"]), format: metricFormat("cost") }),
    barChart({ title: "Spread and nodes in use", categories: skews.map(metricWords), series: series(skews), format: metricFormat("nodes_used") }),
  ];
}

/** @param {Doc} more @param {string[]} names */
function waitingChart(more, names) {
  const title = "Waiting time of placed pods";
  const { percentiles, configurations } = more.waits;
  if (!configurations.some((/** @type {Doc} */ each) => each.highest.some((/** @type {number} */ value) => value > 0)))
    return emptyChart(title, "Nobody waited: every placed pod was placed at its first attempt.");
  return lineChart({
    title,
    note: "so many of 100 placed pods wait no longer; bands are the seeds' least and most",
    x: percentiles,
    nameX: "percentile",
    formatX: String,
    series: configurations.map((/** @type {Doc} */ each, /** @type {number} */ at) => ({ name: `${letter(at)} ${names[at]}`, values: each.mean, low: each.lowest, high: each.highest })),
    format: metricFormat("wait_p50_s"),
  });
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, each) => total + each, 0);
}
