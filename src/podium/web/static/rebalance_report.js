// Rebalance: the moves that reach a goal, with their commands, and what stays where it is.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { metricFormat } from "./compare.js";
import { dataTable } from "./data_table.js";
import { leftOutLine, listInputNotes, notesList, showDocuments } from "./document_view.js";
import { commandLine, h, replaceChildren } from "./dom.js";
import { formatPercent, plural } from "./format.js";
import { flowChart } from "./what_if_report.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/** @param {View} view @returns {() => void} */
export function showRebalance(view) {
  view.command("{command} --all");
  return showDocuments(view, "Rebalance", ["rebalance"], (found) => draw(view, found));
}

/** @param {View} view @param {Doc} found */
function draw(view, found) {
  const { measure, steps } = found;
  const isShare = measure.name.startsWith("skew");
  const format = isShare ? formatPercent : metricFormat("");
  const figures = [["before", measure.before], ["after", measure.after], ["wanted", measure.wanted], ["bound", measure.bound]]
    .filter(([, value]) => value !== null);
  const needed = found.fewestMoves === found.moves ? ", the fewest that do" : found.fewestMoves === null ? "" : `; at least ${found.fewestMoves} are needed`;
  replaceChildren(
    view.root,
    h("h1", {}, "Rebalance"),
    h("p", { class: "soft" }, `The goal: ${found.goal}.`),
    h("div", { class: `panel ${found.reached ? "done" : "alert"}` },
      h("b", {}, `${found.reached ? "✓ Reached" : "✗ Not reached"}: ${measure.name} ${format(measure.before)} → ${format(measure.after)}`),
      found.moves ? `, with ${plural(found.moves, "move")}${needed}.` : "; there is nothing to move."),
    h("div", { class: "charts" },
      barChart({
        title: measure.name,
        note: `${measure.better} is better; ${measure.better} than the bound no moves can reach`,
        categories: figures.map(([name]) => String(name)),
        series: [{ name: measure.name, colour: seriesColour(0), values: figures.map(([, value]) => Number(value)) }],
        format,
        shares: isShare,
      }),
      flowChart(steps.map((/** @type {Doc} */ step) => ({ before: step.from, after: step.to })))),
    steps.length > 0 && stepList(view, found),
    found.kept.length > 0 && h("section", { id: "kept" },
      h("h2", {}, "Not moved"),
      leftOutLine(view, "kept", found.kept.length, "pod"),
      dataTable(view, {
        name: "kept-",
        caption: "Pods that are not moved",
        noun: "pod",
        search: "pod, node or reason",
        rows: found.kept,
        empty: "",
        text: (row) => `${row.pod} ${row.node} ${row.why}`,
        columns: [
          { key: "pod", head: "Pod", cell: (row) => row.pod, sort: (row) => row.pod },
          { key: "node", head: "Node", cell: (row) => row.node, sort: (row) => row.node },
          { key: "why", head: "Why", cell: (row) => row.why, sort: (row) => row.why },
        ],
      })),
    notesList([...remarks(found), ...listInputNotes(found)]),
  );
}

/** @param {View} view @param {Doc} found */
function stepList(view, found) {
  const first = found.cordoned.length ? found.commands.slice(0, 1) : [];
  return h("section", { id: "steps" },
    h("h2", {}, "Steps"),
    h("p", { class: "soft" }, "In this order; each waits for what the next one builds on."),
    leftOutLine(view, "steps", found.steps.length, "step"),
    first.length > 0 && h("div", { class: "panel" }, h("b", {}, "First"), ` close the nodes that are to stay so: ${found.cordoned.join(", ")}`, first.map(commandLine)),
    h("ol", { class: "moves" }, found.steps.map((/** @type {Doc} */ step) => h("li", {},
      h("b", {}, step.pod), ` ${step.from} → ${step.to}`,
      step.places.length > 0 && h("div", { class: "soft" }, `then ${step.places.map((/** @type {Doc} */ each) => `${each.pod} → ${each.node}`).join(", ")}`),
      step.commands.map(commandLine)))));
}

/** @param {Doc} found @returns {string[]} */
function remarks(found) {
  return [
    !found.reached && found.givenUp.length > 0 && `${plural(found.givenUp.length, "plan")} given up, as the scheduler does otherwise: ${found.givenUp[0]}`,
    found.moves > 0 && found.cordoned.length > 0 && `left cordoned: ${found.cordoned.join(", ")}`,
    found.leftOut.length > 0 && `left out, since no pod here may use them: ${found.leftOut.join(", ")}`,
    found.timedOut && `the solver stopped at its time limit of ${found.timeLimitSeconds} s`,
  ].filter((each) => typeof each === "string");
}
