// A cluster over virtual time: how full it is, who waits and runs, how many nodes it has.
// @ts-check
import { lineChart } from "./charts_lines.js";
import { formatCount, formatPercent } from "./format.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {{atSeconds: number, nodes: number, pending: number, running: number, utilisation: Record<string, number>}} Sample */
/** @typedef {{mean: number[], low: number[], high: number[]}} Curve */

const MAX_PLACES = 96;
const MEAN = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
/** @type {[number, string][]} seconds of a unit; the largest of which there are two is taken */
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/**
 * More samples than can be told apart become means, with their least and most as bands.
 * @param {Sample[]} samples @param {number} durationSeconds
 */
export function timeCharts(samples, durationSeconds) {
  if (!samples.length) return [];
  const [seconds, unit] = UNITS.find(([size]) => durationSeconds >= 2 * size) ?? [1, "s"];
  const curve = (/** @type {(sample: Sample) => number} */ read) => thinOut(samples.map(read));
  const x = curve((sample) => sample.atSeconds / seconds).low;
  const resources = [...new Set(samples.flatMap((sample) => Object.keys(sample.utilisation)))]
    .filter((name) => samples.some((sample) => sample.utilisation[name]));
  const chart = (/** @type {string} */ title, /** @type {[string, Curve][]} */ curves, /** @type {(value: number) => string} */ format) => lineChart({
    title,
    ...(samples.length > MAX_PLACES ? { note: "means of equal parts; bands are the least and most within them" } : {}),
    x,
    nameX: "after",
    formatX: (value) => `${MEAN.format(value)} ${unit}`,
    series: curves.map(([name, { mean, low, high }]) => ({ name, values: mean, low, high })),
    format,
  });
  const count = (/** @type {number} */ value) => (Number.isInteger(value) ? formatCount(value) : MEAN.format(value));
  return [
    resources.length > 0 && chart("Requested of allocatable", resources.map((name) => [name, curve((sample) => sample.utilisation[name] ?? 0)]), formatPercent),
    chart("Pods that wait", [["pending", curve((sample) => sample.pending)]], count),
    chart("Pods that run", [["running", curve((sample) => sample.running)]], count),
    chart("Nodes", [["nodes", curve((sample) => sample.nodes)]], count),
  ];
}

/** @param {number[]} values @returns {Curve} */
function thinOut(values) {
  const places = Math.min(MAX_PLACES, values.length);
  const parts = Array.from({ length: places }, (_, at) => values.slice(Math.floor((values.length * at) / places), Math.floor((values.length * (at + 1)) / places)));
  return {
    mean: parts.map((part) => part.reduce((sum, value) => sum + value, 0) / part.length),
    low: parts.map((part) => Math.min(...part)),
    high: parts.map((part) => Math.max(...part)),
  };
}
