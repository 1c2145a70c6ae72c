// Nodes and pods as tables, with what can be done to each.
// @ts-check
import { h, replaceChildren } from "./dom.js";
import { formatAmount, formatCount, meter } from "./format.js";
import { setRows } from "./play_rows.js";
import { showProblem, stepsTaken, takeStep } from "./play_steps.js";
import { nodeLink, podLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/** @param {View} view @param {() => void} refresh @returns {import("./play.js").Panel} */
export function nodesPanel(view, refresh) {
  const intro = "Kill lets the node fall silent and says that it is out of service: pods of controllers come back elsewhere at once. Drain asks its pods to go, as far as budgets allow.";
  return objectsPanel(view, refresh, { name: "nodes", intro, empty: "There are no nodes. Create one.", heads: ["Node", "Zone", "State", "Pods", "CPU requested", ""], rows: (found) => found.nodes.map(nodeRow), count: (found) => found.nodeCount });
}

/** @param {View} view @param {() => void} refresh @returns {import("./play.js").Panel} */
export function podsPanel(view, refresh) {
  const intro = "A pod that has a controller is made anew when it is deleted.";
  return objectsPanel(view, refresh, { name: "pods", intro, empty: "There are no pods. Create one.", heads: ["Pod", "Node", "Phase", ""], rows: (found) => found.pods.map(podRow), count: (found) => found.podCount });
}

/**
 * @param {View} view
 * @param {() => void} refresh
 * @param {{name: string, intro: string, empty: string, heads: string[], rows: (found: Doc) => import("./play_rows.js").Row[], count: (found: Doc) => number}} what
 * @returns {import("./play.js").Panel}
 */
function objectsPanel(view, refresh, what) {
  const words = new URLSearchParams(location.hash.split("?")[1]).get("q") ?? "";
  const find = /** @type {HTMLInputElement} */ (h("input", { type: "search", id: "play-search", value: words, placeholder: "part of a name", "aria-label": `Show only ${what.name} with these words in their names` }));
  find.addEventListener("input", () => {
    view.go({ q: find.value });
    refresh();
  });
  const body = h("tbody", {});
  const table = h("table", { class: "play-table" }, h("caption", { class: "only-read" }, what.name), h("thead", {}, h("tr", {}, what.heads.map((head) => h("th", { scope: "col" }, head || h("span", { class: "only-read" }, "What to do"))))), body);
  const note = h("p", { class: "soft" });
  const problem = h("div", {});
  return {
    root: h("div", {}, h("div", { class: "bar" }, find), h("p", { class: "soft" }, what.intro), h("div", { class: "scroll" }, table), note, problem),
    stepped: () => showProblem(problem, stepsTaken()[0]?.problem ?? null),
    draw: (found) => {
      const rows = what.rows(found);
      setRows(body, rows);
      table.classList.toggle("hidden", rows.length === 0);
      const count = what.count(found);
      replaceChildren(note, rows.length === 0 ? (find.value ? "No name has that in it." : what.empty) : count > rows.length && `the first ${formatCount(rows.length)} of ${formatCount(count)} are listed; a part of a name finds the others`);
    },
  };
}

/** @param {string} label @param {string} words what it does to whom @param {Doc} step */
function action(label, words, step) {
  return h("button", { type: "button", "data-step": step.step, "aria-label": words, onclick: async (/** @type {Event} */ event) => {
    const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
    button.setAttribute("aria-busy", "true");
    await takeStep(words, step);
    button.removeAttribute("aria-busy");
  } }, label);
}

/** @param {Doc} node @returns {import("./play_rows.js").Row} */
function nodeRow(node) {
  const name = node.name;
  const state = [node.failed && "killed", node.cordoned && "cordoned", ...node.taints.filter((/** @type {string} */ key) => !key.startsWith("node.kubernetes.io/")).map((/** @type {string} */ key) => `taint ${key}`)].filter(Boolean);
  return {
    key: name,
    state: JSON.stringify(node),
    make: () => h("tr", { "data-node": name },
      h("th", { scope: "row" }, h("a", { href: nodeLink(name) }, name)),
      h("td", {}, node.zone ?? ""),
      h("td", { class: node.failed ? "bad" : node.cordoned ? "warn" : "good" }, state.join(", ") || "ready"),
      h("td", { class: "num" }, formatCount(node.pods)),
      h("td", { class: "amount" }, meter(node.cpu.requested, node.cpu.allocatable), " ", h("span", { class: "soft" }, `${formatAmount("cpu", node.cpu.requested)} of ${formatAmount("cpu", node.cpu.allocatable)}`)),
      h("td", {}, h("div", { class: "play-actions" },
        node.cordoned ? action("Uncordon", `uncordon ${name}`, { step: "uncordon", node: name }) : action("Cordon", `cordon ${name}`, { step: "cordon", node: name }),
        action("Drain", `drain ${name}`, { step: "drain", node: name }),
        node.failed ? action("Revive", `revive ${name}`, { step: "revive", node: name }) : action("Kill", `kill ${name}`, { step: "kill", node: name }),
        action("Delete", `delete node ${name}`, { step: "delete", kind: "node", name })))),
  };
}

/** @param {Doc} pod @returns {import("./play_rows.js").Row} */
function podRow(pod) {
  const [namespace = "", name = ""] = pod.pod.split("/");
  return {
    key: pod.pod,
    state: JSON.stringify(pod),
    make: () => h("tr", { "data-pod": pod.pod },
      h("th", { scope: "row" }, h("a", { href: podLink(pod.pod) }, pod.pod)),
      h("td", {}, pod.node ? h("a", { href: nodeLink(pod.node) }, pod.node) : h("span", { class: "warn" }, "no node")),
      h("td", {}, pod.leaving ? "Terminating" : pod.phase, pod.owner && h("span", { class: "soft" }, ` of a ${pod.owner}`)),
      h("td", {}, h("div", { class: "play-actions" }, action("Delete", `delete pod ${pod.pod}`, { step: "delete", kind: "pod", namespace, name })))),
  };
}
