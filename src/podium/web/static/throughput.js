// Throughput: pods per second, who waits, how long each phase takes, over the last minutes or hour.
// @ts-check
import { h, replaceChildren, stateLine, svg, table } from "./dom.js";
import { formatCount, formatSeconds } from "./format.js";
import { getDocument } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {{name: string, colour: string, values: (number | null)[]}} Line */

const SPANS = [["60", "1 min"], ["300", "5 min"], ["3600", "1 hour"]];
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f5fa8"];
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
  const lines = (/** @type {Doc} */ of) => Object.entries(of).map(([name, values], at) => ({ name, values, colour: COLOURS[at % COLOURS.length] ?? "" }));
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
    chart("Pods evicted for others", found.at, [{ name: "evicted", colour: COLOURS[1] ?? "", values: found.preemptions }], tenths),
  );
}

/**
 * @param {string} title
 * @param {number[]} times
 * @param {Line[]} lines
 * @param {(value: number) => string} format
 */
function chart(title, times, lines, format) {
  const [width, height, left, bottom] = [560, 180, 58, 20];
  const known = lines.flatMap((line) => line.values.filter((value) => value !== null));
  const most = niceTop(Math.max(...known, 0));
  const [first = 0, last = 1] = [times[0], times[times.length - 1]];
  const x = (/** @type {number} */ at) => left + ((at - first) / Math.max(last - first, 1e-9)) * (width - left - 6);
  const y = (/** @type {number} */ value) => 6 + (1 - value / most) * (height - bottom - 6);
  const path = (/** @type {Line} */ line) => {
    let drawn = "";
    let down = false;
    line.values.forEach((value, at) => {
      if (value === null) {
        down = false;
        return;
      }
      drawn += `${down ? "L" : "M"}${x(times[at] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
      down = true;
    });
    return svg("path", { d: drawn, fill: "none", stroke: line.colour, "stroke-width": 1.8, "stroke-linejoin": "round" });
  };
  const mean = (/** @type {Line} */ line) => {
    const told = line.values.filter((value) => value !== null);
    return told.length ? told.reduce((sum, value) => sum + value, 0) / told.length : 0;
  };
  const latest = (/** @type {Line} */ line) => line.values.filter((value) => value !== null).pop() ?? 0;
  const largest = (/** @type {Line} */ line) => Math.max(...line.values.map((value) => value ?? 0));
  return h(
    "section",
    { class: "chart" },
    h("h2", {}, title),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}; the table below has its figures` },
      [0, 0.5, 1].map((part) => [
        svg("line", { class: "axis", x1: left, x2: width - 6, y1: y(most * part), y2: y(most * part) }),
        svg("text", { x: left - 6, y: y(most * part) + 4, "text-anchor": "end" }, format(most * part)),
      ]).flat(),
      svg("text", { x: left, y: height - 4 }, `${formatSeconds(last - first)} ago`),
      svg("text", { x: width - 6, y: height - 4, "text-anchor": "end" }, "now"),
      lines.map(path)),
    lines.length
      ? table(title, ["", { text: "now", num: true }, { text: "mean", num: true }, { text: "most", num: true }], lines.map((line) => [h("span", {}, h("i", { class: "dot", style: { background: line.colour } }), ` ${line.name}`), format(latest(line)), format(mean(line)), format(largest(line))]))
      : h("p", { class: "soft" }, "nothing in this time"),
  );
}

/** The next round number. @param {number} value */
function niceTop(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return step * power;
}
