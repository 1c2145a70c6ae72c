// What happened: steps and decisions in one list, the newest first, each decision a link to why.
// @ts-check
import { commandLine, h, replaceChildren } from "./dom.js";
import { formatTime } from "./format.js";
import { setRows } from "./play_rows.js";
import { noteMark, stepsTaken, takeStep } from "./play_steps.js";
import { nodeLink, podLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {import("./play_steps.js").Taken} Taken */

/** @type {Record<string, {sign: string, name: string, class: string}>} */
const OUTCOMES = {
  bound: { sign: "→", name: "placed", class: "good" },
  pending: { sign: "…", name: "pending", class: "warn" },
  waiting: { sign: "~", name: "waits at Permit", class: "warn" },
  evicted: { sign: "×", name: "has to leave", class: "bad" },
  broken: { sign: "!", name: "not bound", class: "bad" },
};

const MAX_WORDS = 160;

/** @param {View} view @returns {import("./play.js").Panel} */
export function seenPanel(view) {
  const list = h("ol", { class: "play-seen", id: "seen" });
  const told = h("p", { class: "only-read", role: "status" });
  const more = h("p", { class: "soft" });
  const empty = h("div", { class: "panel" }, h("b", {}, "Nothing has been decided yet."), h("p", { class: "soft" }, "Create a pod and see where it goes."));
  /** @type {Doc} */
  let found = null;
  let last = "";
  const draw = () => {
    if (!found) return;
    setRows(list, rows(found.decisions, stepsTaken(), view.overview.terminal ?? ""));
    empty.classList.toggle("hidden", list.children.length > 0);
    replaceChildren(more, found.decisionCount > found.decisions.length && `the last ${found.decisions.length} of ${found.decisionCount} decisions`);
    const newest = found.decisions[0];
    const words = newest ? `${newest.pod} ${sentence(newest)}` : "";
    if (words !== last) told.textContent = last = words;
  };
  return {
    root: h("section", { "aria-label": "What happened" }, h("h2", {}, "What happened"), told, empty, list, more),
    draw: (now) => {
      found = now;
      noteMark(now.decisionCount);
      draw();
    },
    stepped: draw,
  };
}

/**
 * A step stands below the decisions that came after it.
 * @param {Doc[]} decisions
 * @param {Taken[]} steps
 * @param {string} terminal
 */
function rows(decisions, steps, terminal) {
  const newest = steps[0]?.key;
  const asRow = (/** @type {Taken} */ step) => ({ key: step.key, state: step.key === newest ? "newest" : "", make: () => stepRow(step, terminal, step.key === newest) });
  /** @type {import("./play_rows.js").Row[]} */
  const made = [];
  let at = 0;
  for (const decision of decisions) {
    for (let step = steps[at]; step && step.mark >= decision.number; step = steps[++at]) made.push(asRow(step));
    made.push({ key: `decision-${decision.number}`, make: () => decisionRow(decision) });
  }
  return [...made, ...steps.slice(at).map(asRow)];
}

/** @param {Doc} decision */
function sentence(decision) {
  const known = OUTCOMES[decision.outcome];
  return [known?.name, decision.node, decision.reason ?? decision.text].filter(Boolean).join(" ");
}

/** @param {Doc} decision */
function decisionRow(decision) {
  const known = OUTCOMES[decision.outcome] ?? { sign: "", name: decision.outcome, class: "" };
  const where = decision.node && h("a", { href: nodeLink(decision.node) }, decision.node);
  const why = decision.outcome === "evicted" ? [" for ", h("a", { href: podLink(decision.text) }, decision.text)] : [" ", h("span", { class: "soft", title: decision.text }, decision.reason ?? decision.text)];
  return h("li", { class: "play-decision", "data-outcome": decision.outcome },
    h("span", { class: "soft" }, formatTime(decision.at)),
    h("span", { class: known.class, "aria-hidden": "true" }, known.sign),
    h("span", {}, h("a", { href: podLink(decision.pod) }, decision.pod), " ", h("span", { class: known.class }, known.name), where && [" ", where], why, " ", h("a", { href: podLink(decision.pod), class: "why", "aria-label": `Why is that so for ${decision.pod}?` }, "why →")));
}

/** @param {Taken} step @param {string} terminal @param {boolean} open */
function stepRow(step, terminal, open) {
  const commands = step.commands.map((text) => (text.startsWith("kubectl") && terminal ? `${terminal} ${text}` : text));
  const undo = step.objects.length > 0 && h("button", { type: "button", class: "play-undo", onclick: (/** @type {Event} */ event) => takeBack(step, /** @type {HTMLButtonElement} */ (event.currentTarget)) }, "Delete again");
  return h("li", { class: `play-step ${step.problem ? "refused" : ""}` },
    h("div", { class: "play-step-head" }, h("span", { class: "soft" }, formatTime(step.at)), h("b", {}, `You: ${step.words}`), undo),
    step.done.length > 0 && h("div", { class: "soft" }, step.done.join(", ")),
    step.problem && h("div", { class: "bad", title: step.problem }, shorten(step.problem)),
    commands.length > 0 && h("details", { open }, h("summary", {}, "The same in a terminal"), commands.map(commandLine)));
}

/** @param {string} words */
function shorten(words) {
  return words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words;
}

/** Delete what a step has made, the last first. @param {Taken} step @param {HTMLButtonElement} button */
async function takeBack(step, button) {
  button.disabled = true;
  const objects = step.objects.filter((object) => !object.kind.startsWith("priorityclass."));
  for (const { kind, name, namespace } of [...objects].reverse()) await takeStep(`delete ${kind}/${name}`, { step: "delete", kind, name, namespace: namespace || null });
}
