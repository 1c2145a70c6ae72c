// Throughput: pods per second, who waits, how long each phase takes, over the last minutes or hour.
// @ts-check
import { emptyChart, seriesColour } from "./charts.js";
import { lineChart } from "./charts_lines.js";
import { h, replaceChildren, stateLine } from "./dom.js";
import { formatCount, formatSeconds } from "./format.js";
import { getDocument } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {{name: string, colour: string, values: (number | null)[]}} Line */

const SPANS = [["60", "1 min"], ["300", "5 min"], ["3600", "1 hour"]];
const EVERY_MS = 2000;

/** @param {View} view @returns {() => void} */
export function showThroughput(view) {
  let span = view.params.get("span") ?? "300";
  const buttons = h("span", { role: "group", "aria-label": "How far back" });
  const body = h("div", {}, stateLine("Reading the counters…"));
  let ended = false;
  replaceChildren(view.root, h("h1", { class: "only-read" }, "Throughput"), h("div", { class: "bar" }, buttons), body);
  view.command("kubectl get --raw /metrics --server={url} --insecure-skip-tls-verify | grep ^scheduler_");
  const showButtons = () => {
    replaceChildren(buttons, SPANS.flatMap(([value = "", words = ""]) => [h("button", { type: "button", "aria-pressed": String(value === span), onclick: () => {
      span = value;
      view.go({ span });
      showButtons();
      void read();
    } }, words), " "]));
  };
  const read = async () => {
    try {
      const found = await getDocument(`throughput?span=${span}`);
      if (!ended) replaceChildren(body, found.at.length > 1 ? charts(found) : stateLine("The first seconds are being counted…"));
    } catch (problem) {
      if (!ended) replaceChildren(body, stateLine(/** @type {Error} */ (problem).message, "bad"));
    }
  };
  showButtons();
  void read();
  const timer = setInterval(read, EVERY_MS);
  return () => {
    ended = true;
    clearInterval(timer);
  };
}

/** @param {Doc} found */
function charts(found) {
  const lines = (/** @type {Doc} */ of) => Object.entries(of).map(([name, values], at) => ({ name, values, colour: seriesColour(at) }));
  const used = (/** @type {Line[]} */ all) => all.filter((line) => line.values.some((value) => value));
  const tenths = (/** @type {number} */ value) => formatCount(Math.round(value * 10) / 10);
  const rate = (/** @type {number} */ value) => `${value >= 10 ? formatCount(Math.round(value)) : value.toFixed(1)}/s`;
  const attempts = lines(found.rates);
  return h(
    "div",
    { class: "charts" },
    chart("Pods per second", found.at, used(attempts).length ? used(attempts) : attempts.slice(0, 1), rate),
    chart("Waiting pods", found.at, used(lines(found.queue)).length ? used(lines(found.queue)) : lines(found.queue).slice(0, 1), tenths),
    chart("Mean time of each phase", found.at, used(lines(found.phaseSeconds)), formatSeconds),
    chart("Pods evicted for others", found.at, [{ name: "evicted", colour: seriesColour(1), values: found.preemptions }], tenths),
  );
}

/**
 * @param {string} title
 * @param {number[]} times
 * @param {Line[]} lines
 * @param {(value: number) => string} format
 */
function chart(title, times, lines, format) {
  if (!lines.length) return emptyChart(title, "nothing in this time");
  const [first = 0, last = 1] = [times[0], times[times.length - 1]];
  const told = (/** @type {Line} */ line) => line.values.filter((value) => value !== null);
  const mean = (/** @type {number[]} */ values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0);
  return lineChart({
    title,
    x: times,
    series: lines,
    format,
    formatX: (at) => `${formatSeconds(last - at)} ago`,
    ends: [`${formatSeconds(last - first)} ago`, "now"],
    still: true,
    heads: ["", { text: "now", num: true }, { text: "mean", num: true }, { text: "most", num: true }],
    rows: lines.map((line) => [h("span", {}, h("i", { class: "dot", style: { background: line.colour } }), ` ${line.name}`), format(told(line).pop() ?? 0), format(mean(told(line))), format(Math.max(0, ...told(line)))]),
  });
}
