// Pending: what waits, by cause and workload, and what to do first about each cause.
// @ts-check
import { seriesColour } from "./charts.js";
import { listInputNotes, notesList, showDocuments } from "./document_view.js";
import { commandLine, h, replaceChildren } from "./dom.js";
import { formatCount, plural } from "./format.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

const MAX_WORKLOADS = 8;
const MAX_PODS = 200;
const MAX_BARS = 15;
const TITLES = /** @type {Record<string, string>} */ ({
  unschedulable: "No node fits",
  preempted: "Placed, then preempted",
  error: "Failed",
  refused: "Not created",
  gated: "Held back by a gate",
  "not-ours": "For another scheduler",
  terminating: "On their way out",
});
const BLOCKED = new Set(["unschedulable", "preempted", "error", "refused"]);

/** @param {View} view @returns {() => void} */
export function showPending(view) {
  view.command("{command}");
  return showDocuments(view, "Pending", ["pending"], (found) => draw(view, found));
}

/** @param {View} view @param {Doc} found */
function draw(view, found) {
  const { summary } = found;
  const states = [...new Set(found.causes.map((/** @type {Doc} */ cause) => cause.state))];
  const lost = summary.blocked + summary.refused;
  const largest = found.causes.find((/** @type {Doc} */ cause) => BLOCKED.has(cause.state));
  replaceChildren(
    view.root,
    h("h1", {}, "Pending"),
    h("div", { class: `panel ${lost ? "alert" : "done"}` },
      h("b", {}, lost ? `✗ ${plural(summary.blocked, "pod")} without a node` : "✓ Every pod gets a node."),
      largest && largest.podCount > 1 && h("p", {}, `${largest.podCount === summary.blocked ? "All" : formatCount(largest.podCount)} for one reason: ${largest.sentence}`),
      h("p", { class: "soft" }, `${plural(summary.pending, "pending pod")} on ${plural(summary.nodes, "node")}; ${formatCount(summary.fitting)} of them fit as things are.`)),
    causeBars(found.causes),
    states.map((state) => {
      const causes = found.causes.filter((/** @type {Doc} */ cause) => cause.state === state);
      return h("section", { "data-state": state }, h("h2", {}, TITLES[String(state)] ?? state), causes.map(causePanel));
    }),
    notesList(listInputNotes(found)),
  );
}

/** How many pods each cause has, as bars. @param {Doc[]} causes */
function causeBars(causes) {
  const counted = causes.filter((cause) => cause.podCount > 0).slice(0, MAX_BARS);
  if (counted.length < 2) return null;
  const most = Math.max(...counted.map((cause) => cause.podCount));
  return h("section", {}, h("h2", {}, "Why pods wait"),
    h("div", { class: "bars", style: { gridTemplateColumns: "minmax(10rem, 44rem) minmax(4rem, 1fr) auto", maxWidth: "none" } }, counted.flatMap((cause) => [
      h("span", {}, cause.sentence),
      h("span", { class: "stack", role: "img", "aria-label": `${cause.sentence} ${plural(cause.podCount, "pod")}` },
        h("i", { style: { width: `${(cause.podCount / most) * 100}%`, background: seriesColour(BLOCKED.has(cause.state) ? 0 : 1) } })),
      h("span", { class: "num" }, formatCount(cause.podCount)),
    ])));
}

/** @param {Doc} cause */
function causePanel(cause) {
  const bad = BLOCKED.has(cause.state);
  const more = cause.workloads.length - MAX_WORKLOADS;
  return h("article", { class: `panel ${bad ? "alert" : ""}` },
    h("p", {}, h("b", {}, cause.podCount ? `${bad ? "✗ " : ""}${plural(cause.podCount, "pod")}: ` : bad ? "✗ " : "", cause.sentence)),
    cause.workloads.length > 0 && h("p", {}, cause.workloads.slice(0, MAX_WORKLOADS).map(workloadName).join(", "), more > 0 && ` and ${formatCount(more)} more`),
    cause.message && cause.message !== cause.sentence && h("p", { class: "soft wrap" }, cause.message),
    cause.first ? firstStep(cause) : cause.tried && h("p", { class: "warn" }, "Nothing that was tried helps."),
    cause.pods.length > 1 && h("details", {}, h("summary", {}, "The pods"), h("p", { class: "wrap" }, cause.pods.slice(0, MAX_PODS).join(", "), cause.podCount > MAX_PODS && ` and ${formatCount(cause.podCount - MAX_PODS)} more; -o json has all`)),
    cause.ask && h("p", { class: "soft" }, "More about it:", commandLine(cause.ask)));
}

/** @param {Doc} workload */
function workloadName(workload) {
  const name = workload.kind === "Pod" ? workload.name : `${workload.kind.toLowerCase()}/${workload.name}`;
  return `${workload.namespace}/${name}${workload.pods > 1 ? ` (${formatCount(workload.pods)})` : ""}`;
}

/** @param {Doc} cause */
function firstStep(cause) {
  const { first } = cause;
  const effect = first.pods.wanted > 1
    ? `${formatCount(first.pods.after)} of ${plural(first.pods.wanted, "pod")} then have a node`
    : `it goes to ${first.node}`;
  return h("div", {},
    h("p", {}, h("b", { class: "good" }, `→ ${first.sentence}`), h("span", { class: "soft" }, ` — ${workloadName(cause.workloads[0])}: ${effect}`)),
    first.disruptions.map((/** @type {string} */ text) => h("p", { class: "warn" }, `! ${text}`)),
    first.commands.map((/** @type {string} */ command) => (command.startsWith("#") ? h("p", { class: "soft" }, command.slice(1)) : commandLine(command))));
}
