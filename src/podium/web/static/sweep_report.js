// Sweep: each input under each configuration, over seeds.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { configurationKey, letter, metricFormat, metricsSection } from "./compare.js";
import { dataTable } from "./data_table.js";
import { leftOutLine, listInputNotes, notesList, showDocuments } from "./document_view.js";
import { h, replaceChildren } from "./dom.js";
import { formatAmount, plural } from "./format.js";
import { keptSeeds, metricCharts } from "./scenario_compare_report.js";
import { SCENARIO_MEANINGS } from "./scenario_report.js";
import { metricWords } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {import("./data_table.js").Column} Column */

const MAX_BARS = 12;
const FIGURES = [["mean", "Mean"], ["lowest", "Least"], ["p5", "P5"], ["p50", "P50"], ["p95", "P95"], ["highest", "Most"]];

/** @param {View} view @returns {() => void} */
export function showSweep(view) {
  view.command("{command}");
  return showDocuments(view, "Sweep", ["sweep"], (found) => draw(view, found));
}

/** @param {View} view @param {Doc} found */
function draw(view, found) {
  const names = [...new Set(found.cells.map((/** @type {Doc} */ each) => each.configuration))];
  const asked = view.params.get("input");
  let input = found.inputs.find((/** @type {Doc} */ each) => each.name === asked) ?? found.inputs[0];
  const rest = h("div", {});
  const show = () => replaceChildren(rest, inputSections(view, found, input));
  replaceChildren(
    view.root,
    h("h1", {}, "Sweep"),
    h("p", {}, names.map((name, at) => configurationKey(String(name), at))),
    h("p", { class: "soft" }, `${plural(found.inputs.length, "input")} under ${plural(names.length, "configuration")}, ${plural(found.seeds.length, "seed")} each.`),
    leftOutLine(view, "runs", found.runs.length, "run"),
    found.inputs.length > 1 && h("div", { class: "bar" }, h("label", {}, "Input", h("select", { id: "input", onchange: (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      input = found.inputs.find((/** @type {Doc} */ each) => each.name === value) ?? input;
      view.go({ input: value });
      show();
    } }, found.inputs.map((/** @type {Doc} */ each) => h("option", { value: each.name, selected: each === input }, each.name))))),
    rest,
    found.inputs.length > 1 && [h("h2", {}, "Inputs side by side"), h("div", { class: "charts" }, inputCharts(found, names.map(String)))],
  );
  show();
}

/** @param {View} view @param {Doc} found @param {Doc} input */
function inputSections(view, found, input) {
  const cells = found.cells.filter((/** @type {Doc} */ each) => each.input === input.name);
  const configurations = cells.map((/** @type {Doc} */ each) => ({ name: each.configuration, metrics: each.metrics }));
  const runs = found.runs.filter((/** @type {Doc} */ each) => each.input === input.name);
  const typical = input.typicalPod;
  return [
    h("h2", {}, input.name),
    typical && h("p", { class: "soft" }, `The typical pod has ${formatAmount("cpu", typical.cpu)} cpu and ${formatAmount("memory", typical.memory)} memory.`),
    metricsSection(view, { configurations, seeds: keptSeeds(runs), runs }, typical ? undefined : SCENARIO_MEANINGS),
    h("h2", {}, "What comes of it"),
    h("div", { class: "charts" }, metricCharts(configurations)),
    h("h2", {}, "Over seeds"),
    spreadTable(view, configurations),
    notesList(listInputNotes(input)),
  ];
}

/** Every metric of every configuration with its percentiles. @param {View} view @param {Doc[]} configurations */
function spreadTable(view, configurations) {
  const rows = (configurations[0]?.metrics ?? []).flatMap((/** @type {Doc} */ first, /** @type {number} */ at) =>
    configurations.map((each, number) => ({ ...each.metrics[at], configuration: `${letter(number)} ${each.name}` })));
  return dataTable(view, {
    name: "spread-",
    caption: "Metrics over seeds",
    noun: "row",
    search: "metric or configuration",
    rows,
    empty: "",
    text: (row) => `${row.name} ${metricWords(row.name)} ${row.configuration}`,
    columns: [
      { key: "metric", head: "Metric", cell: (row) => metricWords(row.name), sort: (row) => metricWords(row.name) },
      { key: "configuration", head: "Configuration", cell: (row) => row.configuration, sort: (row) => row.configuration },
      ...FIGURES.map(([key = "", head = ""]) => /** @type {Column} */ ({ key, head, num: true, cell: (row) => metricFormat(row.name)(row[key]) })),
    ],
  });
}

/** How many pods each input leaves pending, and how full nodes are. @param {Doc} found @param {string[]} names */
function inputCharts(found, names) {
  const inputs = found.inputs.slice(0, MAX_BARS);
  const chart = (/** @type {string} */ metric, /** @type {string} */ title) => {
    const cell = (/** @type {Doc} */ input, /** @type {string} */ name) => found.cells
      .find((/** @type {Doc} */ each) => each.input === input.name && each.configuration === name)?.metrics
      .find((/** @type {Doc} */ each) => each.name === metric);
    if (!inputs.some((/** @type {Doc} */ input) => names.some((name) => cell(input, name)))) return null;
    const figures = (/** @type {string} */ name, /** @type {string} */ figure) => inputs.map((/** @type {Doc} */ input) => cell(input, name)?.[figure] ?? null);
    return barChart({
      title,
      note: found.inputs.length > inputs.length ? `the first ${inputs.length} of ${plural(found.inputs.length, "input")}` : "",
      categories: inputs.map((/** @type {Doc} */ each) => each.name),
      series: names.map((name, at) => ({ name: `${letter(at)} ${name}`, colour: seriesColour(at), values: figures(name, "mean"), low: figures(name, "lowest"), high: figures(name, "highest") })),
      format: metricFormat(metric),
      shares: metric.endsWith("_share"),
    });
  };
  return [chart("pending", "Pods without a node"), chart("cpu_share", "cpu requested of allocatable"), chart("wait_p99_s", "Waiting time, 99 of 100 pods"), chart("cost", "Cost of nodes")];
}
