// Queue: who waits, for what, in groups of one reason, and what would wake them.
// @ts-check
import { h, replaceChildren, stateLine, table } from "./dom.js";
import { formatCount, formatSeconds, pluginChip, plural } from "./format.js";
import { keepFresh } from "./live.js";
import { gangLink, isReport, podLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

const PARTS = [
  { name: "active", title: "Active", words: "next to be tried, in this order" },
  { name: "backoff", title: "Backoff", words: "tried again when their time is over" },
  { name: "unschedulable", title: "Unschedulable", words: "no node takes them; an event that may help wakes them" },
  { name: "gated", title: "Gated", words: "not let in yet" },
  { name: "waiting", title: "Waiting at Permit", words: "have a node and wait for others" },
];
const MAX_ROWS = 200;

/**
 * What stands above the nodes: who has no place, and a way to the answer.
 * @param {Doc} queue
 */
export function waitingPanel(queue) {
  const groups = queue.groups.slice(0, 3);
  if (!groups.length) return null;
  const stuck = queue.groups.reduce((/** @type {number} */ sum, /** @type {Doc} */ each) => sum + each.count, 0);
  return h(
    "section",
    { class: "panel alert", "aria-label": "Pods that wait" },
    h("div", {}, h("b", {}, `${plural(stuck, "pod")} without a node`), queue.groups.length > 3 && [" · ", h("a", { href: "#/queue" }, "all reasons")]),
    groups.map((/** @type {Doc} */ group) =>
      h("div", {}, group.count > 1 ? `${formatCount(group.count)} pods: ` : "", h("span", { class: "bad" }, group.reason), " — ",
        group.pods.slice(0, 3).map((/** @type {string} */ pod, /** @type {number} */ at) => [at ? ", " : "", h("a", { href: podLink(pod) }, pod)]).flat(),
        group.count > 3 && ", …", " ", h("a", { href: podLink(group.pods[0]), class: "why", "aria-label": `Why does ${group.pods[0]} wait?` }, "why, and what to do →")),
    ),
  );
}

/** @param {View} view @returns {() => void} */
export function showQueue(view) {
  let part = view.params.get("part") ?? "";
  let words = view.params.get("q") ?? "";
  /** @type {Doc} */
  let queue = null;
  const find = /** @type {HTMLInputElement} */ (h("input", { type: "search", id: "queue-search", value: words, placeholder: "pod, reason or plugin", "aria-label": "Show only pods with these words" }));
  const tabs = h("span", { role: "group", "aria-label": "Parts of the queue" });
  const body = h("div", {}, stateLine("Reading the queue…"));
  replaceChildren(view.root, h("h1", { class: "only-read" }, "Queue"), h("div", { class: "bar" }, tabs, find), body);
  find.addEventListener("input", () => {
    words = find.value;
    view.go({ q: words });
    draw();
  });
  view.command(isReport ? "podium simulate {input}" : "kubectl get pods --all-namespaces --field-selector=spec.nodeName=");

  const matches = (/** @type {Doc} */ entry) => {
    const text = JSON.stringify(entry).toLowerCase();
    return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  };

  const draw = () => {
    if (!queue) return;
    const total = PARTS.reduce((sum, each) => sum + queue.sizes[each.name], 0);
    const choose = (/** @type {string} */ name) => () => {
      part = name;
      view.go({ part: name });
      draw();
    };
    replaceChildren(
      tabs,
      h("button", { type: "button", "aria-pressed": String(!part), onclick: choose("") }, "All"), " ",
      PARTS.flatMap((each) => [h("button", { type: "button", "data-part": each.name, "aria-pressed": String(part === each.name), onclick: choose(each.name) }, `${each.title} ${formatCount(queue.sizes[each.name])}`), " "]),
    );
    const groups = queue.groups.filter(matches);
    const shown = PARTS.filter((each) => (part ? each.name === part : queue.sizes[each.name] > 0));
    replaceChildren(
      body,
      total === 0 && h("div", { class: "panel done" }, h("b", {}, "Nobody waits."), h("p", { class: "soft" }, "Every pod that this scheduler is responsible for has a node.")),
      !part && groups.length > 0 && [
        h("h2", {}, "Why they wait"),
        h("div", { class: "scroll" }, table("Pods by the reason for which they wait", [{ text: "Pods", num: true }, "Reason", "Rejected by", "Would be tried again when"],
          groups.map((/** @type {Doc} */ group) => [
            formatCount(group.count),
            h("span", {}, h("b", {}, group.reason), h("div", { class: "soft" }, group.pods.slice(0, 4).flatMap((/** @type {string} */ pod, /** @type {number} */ at) => [at ? ", " : "", h("a", { href: podLink(pod) }, pod)]), group.count > 4 && ", …")),
            h("span", {}, group.rejectedBy.map((/** @type {string} */ plugin) => pluginChip(plugin))),
            h("span", { class: "soft" }, group.wokenBy.join("; ")),
          ]))),
      ],
      shown.map((each) => partTable(each, queue[each.name].filter(matches), queue)),
    );
  };

  const stop = keepFresh(
    () => "queue",
    (found) => {
      queue = found;
      draw();
    },
    (problem) => replaceChildren(body, stateLine(problem.message, "bad")),
  );
  const ticking = setInterval(() => {
    if (isReport) return;
    for (const each of body.querySelectorAll("[data-until]")) each.textContent = countdown(String(each.getAttribute("data-until")), Date.now());
  }, 1000);
  return () => {
    stop();
    clearInterval(ticking);
  };
}

/** @param {string} until @param {number} now */
function countdown(until, now) {
  const left = (new Date(until).getTime() - now) / 1000;
  return left > 0 ? `in ${formatSeconds(left)}` : "now";
}

/**
 * @param {{name: string, title: string, words: string}} part
 * @param {Doc[]} entries
 * @param {Doc} queue
 */
function partTable(part, entries, queue) {
  const since = (/** @type {string} */ moment) => formatSeconds(Math.max(0, (new Date(queue.at).getTime() - new Date(moment).getTime()) / 1000));
  const until = (/** @type {string | null} */ moment) => (moment ? h("span", { "data-until": moment }, countdown(moment, isReport ? new Date(queue.at).getTime() : Date.now())) : "");
  const heads = part.name === "waiting"
    ? ["Pod", "Node", "Waits for", { text: "since", num: true }, { text: "gives up", num: true }]
    : ["Pod", { text: "priority", num: true }, { text: "attempts", num: true }, { text: "waits", num: true }, { text: "tried again", num: true }, "Because"];
  const rows = entries.slice(0, MAX_ROWS).map((entry) => {
    const pod = h("a", { href: podLink(entry.pod) }, entry.pod);
    if (part.name === "waiting") return [pod, entry.node, h("span", {}, entry.plugins.map((/** @type {string} */ plugin) => pluginChip(plugin)), entry.gang && h("a", { href: gangLink(entry.gang) }, entry.gang)), since(entry.since), until(entry.deadline)];
    const because = entry.gatedBy ? `held back by ${entry.gatedBy}` : (entry.message ?? "").split(". ")[0];
    return [pod, formatCount(entry.priority), formatCount(entry.attempts), since(entry.firstTried ?? entry.since), until(entry.backoffUntil ?? entry.retriedAt), h("span", { class: "soft" }, because)];
  });
  return h(
    "section",
    { "data-part": part.name },
    h("h2", {}, `${part.title} · ${formatCount(queue.sizes[part.name])}`, " ", h("span", { class: "soft" }, part.words)),
    rows.length ? h("div", { class: "scroll" }, table(part.title, heads, rows)) : h("p", { class: "soft" }, "none"),
    queue.sizes[part.name] > queue[part.name].length && h("p", { class: "soft" }, `the first ${formatCount(queue[part.name].length)} are listed`),
  );
}
