// Optimum: the scheduler's placement beside the best one, and the bound that nothing betters.
// @ts-check
import { seriesColour } from "./charts.js";
import { barChart } from "./charts_bars.js";
import { metricFormat } from "./compare.js";
import { dataTable } from "./data_table.js";
import { leftOutLine, listInputNotes, notesList, showDocuments } from "./document_view.js";
import { h, replaceChildren } from "./dom.js";
import { formatAmount, formatCount, formatPercent, plural } from "./format.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

const figure = metricFormat("");

/** @param {View} view @returns {() => void} */
export function showOptimum(view) {
  view.command("{command} --all");
  return showDocuments(view, "Optimum", ["optimum"], (found) => draw(view, found));
}

/** @param {View} view @param {Doc} found */
function draw(view, found) {
  const { pods } = found;
  const resources = Object.entries(found.resources).filter(([, each]) => each.asked);
  replaceChildren(
    view.root,
    h("h1", {}, "Scheduler and optimum"),
    h("p", { class: "soft" }, `${plural(pods.pending, "pending pod")}, placed by the scheduler one after the other and all at once by an exact solver. What counts: ${found.objective}.`),
    h("div", { class: `panel ${found.schedulerIsBest ? "done" : "alert"}` }, h("b", {}, `${found.schedulerIsBest ? "✓" : "✗"} ${verdict(found)}`)),
    h("div", { class: "sums" }, [
      [pods.pending, "pending pods"],
      [pods.placedByScheduler, "placed by the scheduler"],
      [pods.placedByOptimum, "placed by the optimum"],
      [pods.evictedByScheduler, "evicted by the scheduler"],
    ].map(([value, text]) => h("div", {}, h("b", {}, formatCount(Number(value))), String(text)))),
    h("div", { class: "charts" },
      found.measures.map((/** @type {Doc} */ each) => barChart({
        title: each.name,
        note: `${each.better} is better; gap ${figure(each.gap)}${each.proven ? ", proven" : `, ${each.better} than ${figure(each.bound)} is not possible`}`,
        categories: ["scheduler", "optimum", "bound"],
        series: [{ name: each.name, values: [each.scheduler, each.optimum, each.bound] }],
        format: figure,
      })),
      resources.length > 0 && barChart({
        title: "Resources that placed pods ask for",
        note: `of ${resources.map(([name, each]) => `${formatAmount(name, each.asked)} ${name}`).join(", ")} that all ask for`,
        categories: resources.map(([name]) => name),
        series: [
          { name: "scheduler", colour: "var(--soft)", values: resources.map(([, each]) => each.scheduler / each.asked) },
          { name: "optimum", colour: seriesColour(0), values: resources.map(([, each]) => each.optimum / each.asked) },
        ],
        format: formatPercent,
        shares: true,
      })),
    h("section", { id: "different" },
      h("h2", {}, "Placed differently"),
      leftOutLine(view, "different", found.different.length, "pod"),
      dataTable(view, {
        name: "different-",
        caption: "Pods that are placed differently",
        noun: "pod",
        search: "pod or node",
        rows: found.different,
        empty: "No pod is placed differently.",
        text: (row) => `${row.pod} ${row.scheduler ?? ""} ${row.optimum ?? ""}`,
        columns: [
          { key: "pod", head: "Pod", cell: (row) => row.pod, sort: (row) => row.pod },
          { key: "scheduler", head: "Scheduler", cell: (row) => nodeCell(row.scheduler), sort: (row) => row.scheduler ?? "" },
          { key: "optimum", head: "Optimum", cell: (row) => nodeCell(row.optimum), sort: (row) => row.optimum ?? "" },
        ],
      })),
    h("section", { id: "placement" },
      h("h2", {}, "The best placement"),
      h("p", { class: "soft" }, found.checked ? "In an order in which the scheduler's filters let pods in." : "The solver's; it did not pass the scheduler's filters."),
      leftOutLine(view, "placement", found.placement.length, "pod"),
      dataTable(view, {
        name: "placement-",
        caption: "The best placement",
        noun: "pod",
        search: "pod or node",
        rows: found.placement,
        empty: "It places no pod.",
        text: (row) => `${row.pod} ${row.node}`,
        columns: [
          { key: "pod", head: "Pod", cell: (row) => row.pod, sort: (row) => row.pod },
          { key: "node", head: "Node", cell: (row) => row.node, sort: (row) => row.node },
        ],
      })),
    notesList([...remarks(found), ...listInputNotes(found)]),
  );
}

/** @param {Doc} found */
function verdict(found) {
  const better = found.measures.find((/** @type {Doc} */ each) => each.gap > 0);
  const proven = found.measures.every((/** @type {Doc} */ each) => each.proven);
  if (better) return `${better.name}: ${figure(better.scheduler)} by the scheduler, ${figure(better.optimum)} at best known${proven ? ", proven" : ""}.`;
  if (found.schedulerIsBest) return `No placement is better than the scheduler's${proven ? ", proven" : ""}.`;
  return "No better placement is known, but one may be there.";
}

/** @param {Doc} found @returns {string[]} */
function remarks(found) {
  return [
    found.timedOut && `the solver stopped at its time limit of ${figure(found.timeLimitSeconds)} s`,
    !found.checked && `the solver's placement did not pass the scheduler's filters${found.refusal ? ` (${found.refusal})` : ""}: a bound only`,
    found.boundIgnores.length > 0 && `the bound ignores: ${found.boundIgnores.join(", ")}`,
    found.pods.evictedByScheduler > 0 && `the scheduler evicted ${plural(found.pods.evictedByScheduler, "pod")}, the optimum evicts none`,
    found.pods.leftOut.length > 0 && `left out: ${found.pods.leftOut.join(", ")}`,
  ].filter((each) => typeof each === "string");
}

/** @param {string | null} name */
function nodeCell(name) {
  return name ?? h("span", { class: "soft" }, "no node");
}
