// Play: change the cluster step by step and watch what the scheduler does about it.
// @ts-check
import { h, replaceChildren, stateLine } from "./dom.js";
import { keepFresh } from "./live.js";
import { createPanel } from "./play_create.js";
import { nodesPanel, podsPanel } from "./play_objects.js";
import { seenPanel } from "./play_seen.js";
import { onStep } from "./play_steps.js";
import { weightsPanel } from "./play_weights.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/**
 * A part of the view: `draw` is called with each new document, `stepped` after a step.
 * @typedef {{root: HTMLElement, draw: (found: Doc) => void, stepped?: () => void}} Panel
 */

/** @type {Record<string, {title: string, make: (view: View, refresh: () => void) => Panel}>} */
const PARTS = {
  create: { title: "Create", make: createPanel },
  weights: { title: "Weights", make: weightsPanel },
  nodes: { title: "Nodes", make: nodesPanel },
  pods: { title: "Pods", make: podsPanel },
};
const EVERY_MS = 300;

addStyle();

/** The rules for this view, which no other page needs. */
function addStyle() {
  document.head.append(h("link", { rel: "stylesheet", href: "static/play.css" }));
}

/** @param {View} view @returns {() => void} */
export function showPlay(view) {
  const asked = view.params.get("do") ?? "";
  let part = asked in PARTS ? asked : "create";
  /** @type {Doc} */
  let found = null;
  /** @type {Panel | null} */
  let panel = null;
  const seen = seenPanel(view);
  const tabs = h("div", { class: "bar", role: "group", "aria-label": "What to do" });
  const place = h("div", { class: "play-part" });
  const problem = h("div", {});
  replaceChildren(view.root, h("h1", { class: "only-read" }, "Play"), h("div", { class: "play" }, h("section", { "aria-label": "Your steps" }, tabs, problem, place), seen.root));
  view.command("kubectl get nodes,pods --output=wide");

  const choose = (/** @type {string} */ name) => {
    part = name;
    view.go({ do: name === "create" ? null : name });
    open();
  };
  const open = () => {
    const chosen = PARTS[part];
    if (!chosen) return;
    panel = chosen.make(view, fresh.read);
    replaceChildren(place, panel.root);
    if (found) panel.draw(found);
    for (const button of tabs.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset["part"] === part));
  };
  replaceChildren(tabs, Object.entries(PARTS).map(([name, each]) => h("button", { type: "button", "data-part": name, onclick: () => choose(name) }, each.title)));
  const fresh = freshening(view, (now) => {
    found = now;
    replaceChildren(problem);
    panel?.draw(now);
    seen.draw(now);
  }, (trouble) => replaceChildren(problem, stateLine(trouble.message, "bad")));
  const quiet = onStep(() => {
    seen.stepped?.();
    panel?.stepped?.();
    fresh.read();
  });
  open();
  return () => {
    fresh.stop();
    quiet();
  };
}

/**
 * Reads the document when something changes, and whenever asked to.
 * @param {View} view
 * @param {(found: Doc) => void} use
 * @param {(problem: Error) => void} onError
 */
function freshening(view, use, onError) {
  const path = () => `play?q=${encodeURIComponent(new URLSearchParams(location.hash.split("?")[1]).get("q") ?? "")}`;
  let stop = keepFresh(path, use, onError, EVERY_MS);
  return {
    read: () => {
      stop();
      stop = keepFresh(path, use, onError, EVERY_MS);
    },
    stop: () => stop(),
  };
}
