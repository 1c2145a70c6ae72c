// GPU packing: what policies make of a cluster's GPUs as more and more is asked for.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { lineChart } from "./charts_lines.js";
import { h, replaceChildren, stateLine } from "./dom.js";
import { formatPercent, plural } from "./format.js";
import { getDocument } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {import("./charts.js").Series} Series */

const TITLE = "GPU packing";
const CHANCE = "Random";
const percent = (/** @type {number} */ value) => `${Math.round(value * 100) / 100}%`;
const points = (/** @type {number} */ value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)}`;

/** @param {View} view @returns {() => void} */
export function showStudy(view) {
  let ended = false;
  view.command("{command}");
  replaceChildren(view.root, h("h1", {}, TITLE), stateLine("Reading the study…"));
  getDocument("study").then(
    (found) => ended || draw(view, found),
    (problem) => ended || replaceChildren(view.root, h("h1", {}, TITLE), stateLine(problem.message, "bad")),
  );
  return () => {
    ended = true;
  };
}

/** @param {View} view @param {Doc} found */
function draw(view, found) {
  /** @type {string[]} */
  const traces = found.traces.map((/** @type {Doc} */ each) => each.name);
  /** @type {string[]} */
  const names = found.traces[0].policies.map((/** @type {Doc} */ each) => each.policy);
  const pick = (/** @type {string} */ name, /** @type {string[]} */ known, /** @type {string} */ usual) => {
    const asked = view.params.get(name) ?? "";
    return known.includes(asked) ? asked : usual;
  };
  let trace = pick("trace", traces, traces[0] ?? "");
  let base = pick("base", names, found.baseline);
  const charts = h("div", { class: "charts" });
  const tables = h("div", {});
  const show = () => {
    const { policies } = found.traces[traces.indexOf(trace)];
    replaceChildren(charts, studyCharts(policies, base));
    replaceChildren(tables, studyTables(found, policies, base));
  };
  const choose = (/** @type {string} */ id, /** @type {string} */ label, /** @type {string[]} */ known, /** @type {string} */ current, /** @type {(value: string) => void} */ use) =>
    known.length > 1 && h("label", {}, label, h("select", { id, onchange: (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      use(value);
      view.go({ [id]: value });
      show();
    } }, known.map((each) => h("option", { value: each, selected: each === current }, each))));
  replaceChildren(
    view.root,
    h("h1", {}, TITLE),
    h("p", { class: "soft" }, `Pods of a trace arrive one by one and stay; one that fits nowhere is dropped. Lines are means over ${plural(found.seeds.length, "seed")}, bands their least and most.`),
    h("div", { class: "bar" },
      choose("trace", "Trace", traces, trace, (value) => (trace = value)),
      choose("base", "Compared with", names, base, (value) => (base = value))),
    charts,
    tables,
    found.notes.length > 0 && [h("h2", {}, "Notes"), h("ul", {}, found.notes.map((/** @type {string} */ note) => h("li", {}, note)))],
  );
  show();
}

/** @param {Doc[]} policies @param {string} base */
function studyCharts(policies, base) {
  const last = Math.max(...policies.map((each) => each.allocation.mean.findLastIndex((/** @type {number | null} */ value) => value !== null)));
  const x = Array.from({ length: last + 1 }, (_, at) => at);
  const axis = { x, nameX: "asked for", formatX: (/** @type {number} */ value) => `${value}%` };
  const cut = (/** @type {(number | null)[]} */ values) => values.slice(0, last + 1);
  // Chance is what others are measured against: it takes none of the colours.
  const named = policies.filter((each) => each.policy !== CHANCE);
  const colours = policies.map((each) => (each.policy === CHANCE ? "var(--soft)" : seriesColour(named.indexOf(each))));
  const lines = (/** @type {string} */ what) => policies.map((each, at) => ({ name: each.policy, colour: colours[at] ?? "", values: cut(each[what].mean), low: cut(each[what].lowest), high: cut(each[what].highest) }));
  const reference = policies.find((each) => each.policy === base)?.allocation.mean ?? [];
  /** @type {Series[]} */
  const differences = policies.map((each, at) => ({
    name: each.policy,
    colour: colours[at] ?? "",
    values: cut(each.allocation.mean).map((value, place) => (value === null || reference[place] === null ? null : value - reference[place])),
  }));
  // Chance is so far off that it would press the others together.
  const withoutChance = base !== CHANCE && policies.length > 2 && policies.some((each) => each.policy === CHANCE);
  const told = differences.filter((each) => each.name !== base && !(withoutChance && each.name === CHANCE));
  return [
    lineChart({ ...axis, title: "GPU allocated", note: "% of the cluster's, by % of it asked for", series: lines("allocation"), format: percent }),
    lineChart({ ...axis, title: "Fragmentation", note: "idle GPU that typical pods cannot use, % of what is idle", series: lines("fragmentation"), format: percent }),
    told.length > 0 && lineChart({ ...axis, title: `GPU allocated, difference to ${base}`, note: `points; above zero is more${withoutChance ? `. ${CHANCE} is in the table only` : ""}`, series: told, format: points }),
    barChart({ title: "Pods placed", note: "of all that arrived", categories: policies.map((each) => each.policy), series: [{ name: "placed", values: policies.map((each) => each.placedPart) }], format: formatPercent, shares: true }),
  ];
}

/** @param {Doc} found @param {Doc[]} policies @param {string} base */
function studyTables(found, policies, base) {
  const heads = found.shownPercent;
  const others = policies.filter((each) => each.policy !== base);
  return [
    cellTable("gains", `GPU allocated, difference to ${base} seed by seed, points`, heads, others, (each) => each.gainPoints[base] ?? [], points, 1),
    cellTable("allocation", "GPU allocated, % of the cluster's", heads, policies, (each) => each.allocationPercent, (value) => value.toFixed(2), 1),
    cellTable("fragmentation", "Fragmentation, % of idle GPU", heads, policies, (each) => each.fragmentationRatioPercent, (value) => value.toFixed(2), -1),
  ];
}

/**
 * Policies by demand; what is best at a demand stands out.
 * @param {string} id @param {string} title @param {number[]} heads @param {Doc[]} policies
 * @param {(policy: Doc) => Doc[]} cells @param {(value: number) => string} format
 * @param {1 | -1} better the sign of what is better
 */
function cellTable(id, title, heads, policies, cells, format, better) {
  if (!policies.length) return null;
  const at = (/** @type {Doc} */ policy, /** @type {number} */ demand) => cells(policy).find((cell) => cell.arrivedPercent === demand);
  const best = new Map(heads.map((demand) => [demand, Math.max(...policies.map((each) => better * (at(each, demand)?.mean ?? -better * Infinity)))]));
  const cell = (/** @type {Doc} */ policy, /** @type {number} */ demand) => {
    const one = at(policy, demand);
    if (!one) return h("td", { class: "num soft" }, "–");
    const spread = one.deviation === null ? "" : ` ±${one.deviation.toFixed(2)}`;
    const isBest = policies.length > 1 && better * one.mean === best.get(demand);
    return h("td", { class: "num" }, isBest ? h("b", {}, format(one.mean)) : format(one.mean), h("span", { class: "soft" }, spread));
  };
  return h("section", { id },
    h("h2", {}, title),
    h("div", { class: "scroll" }, h("table", { class: "data" },
      h("caption", { class: "only-read" }, `${title}, by % asked for; mean and standard deviation over seeds`),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Policy"), heads.map((demand) => h("th", { scope: "col", class: "num" }, `${demand}%`)))),
      h("tbody", {}, policies.map((policy) => h("tr", {},
        h("th", { scope: "row" }, policy.policy),
        heads.map((demand) => cell(policy, demand))))))));
}
