// What is the matter with a node: each state has a sign of its own, a word, and a rank.
//
// Signs are told apart by their shape; colour only says the same once more. They are drawn on the
// map and in its legend from the same outlines.
// @ts-check
import { svg } from "./dom.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {{word: string, meaning: string, filled?: string, stroked?: string, tone: "bad" | "warn" | "text"}} State */

/** Of the square that outlines are drawn in. */
export const SIGN_SIZE = 10;

/** The gravest first. @type {Record<string, State>} */
export const STATES = {
  dead: { word: "dead", meaning: "not ready or unreachable, as its Ready condition or taints say", stroked: "M1.5 1.5L8.5 8.5M8.5 1.5L1.5 8.5", tone: "bad" },
  pressure: { word: "under pressure", meaning: "short of memory, disk, process IDs or network", filled: "M5 .4L9.8 9.4H.2ZM4.4 3.4L4.6 6.4H5.4L5.6 3.4ZM4.4 7.2V8.4H5.6V7.2Z", tone: "warn" },
  cordoned: { word: "cordoned", meaning: "takes no new pods", filled: "M5 .3A4.7 4.7 0 1 0 5 9.7 4.7 4.7 0 1 0 5 .3ZM1.8 4.1V5.9H8.2V4.1Z", tone: "text" },
  over: { word: "overcommitted", meaning: "more is requested than it has", filled: "M5 .5L9 5H6.5V9.5H3.5V5H1Z", tone: "bad" },
  full: { word: "full", meaning: "less than a hundredth of its cpu, memory or pods is left", filled: "M.5 .5H9.5V9.5H.5Z", tone: "text" },
  tainted: { word: "tainted", meaning: "takes only pods that tolerate its taints", filled: "M1.5 .3H2.7V1H9L7.2 3.5L9 6H2.7V9.7H1.5Z", tone: "text" },
};
const NAMES = Object.keys(STATES);
const FULL = 0.99;
const COUNTED = new Set(["cpu", "memory", "pods"]);

/**
 * The states of every node, the gravest first in each.
 * @param {Doc} cluster @param {Doc | null} told the document of states, where it is known
 * @returns {string[][]}
 */
export function nodeStates(cluster, told) {
  const found = cluster.names.map(() => new Set());
  const index = new Map(cluster.names.map((/** @type {string} */ name, /** @type {number} */ at) => [name, at]));
  if (told) for (const node of told.nodes) for (const state of node.states) found[index.get(node.name) ?? -1]?.add(state);
  else {
    for (const node of cluster.unschedulable) found[node]?.add("cordoned");
    for (const node of cluster.tainted) found[node]?.add("tainted");
  }
  for (const resource of cluster.resources) {
    resource.allocatable.forEach((/** @type {number} */ has, /** @type {number} */ node) => {
      const uses = resource.requested[node];
      if (has > 0 && uses > has) found[node]?.add("over");
      else if (COUNTED.has(resource.name) && has > 0 && uses >= FULL * has) found[node]?.add("full");
    });
  }
  return found.map((/** @type {Set<string>} */ states) => NAMES.filter((name) => states.has(name)));
}

/** The sign of a state beside text. @param {string} name */
export function stateSign(name) {
  const state = STATES[name];
  const colour = state?.tone === "text" ? "currentColor" : `var(--${state?.tone})`;
  return svg("svg", { class: "sign", viewBox: `0 0 ${SIGN_SIZE} ${SIGN_SIZE}`, "aria-hidden": "true" },
    state?.filled && svg("path", { d: state.filled, fill: colour, "fill-rule": "evenodd" }),
    state?.stroked && svg("path", { d: state.stroked, stroke: colour, "stroke-width": 2.4, fill: "none", "stroke-linecap": "round" }));
}

/** @type {Map<string, {filled: Path2D | null, stroked: Path2D | null}>} */
const outlines = new Map();

/**
 * Draw a sign, with an edge in the colour of the ground so that it can be seen on anything.
 * @param {CanvasRenderingContext2D} context
 * @param {string} name @param {number} x @param {number} y @param {number} size
 * @param {{text: string, back: string, bad: string, warn: string}} colours
 */
export function drawSign(context, name, x, y, size, colours) {
  const state = STATES[name];
  if (!state) return;
  let outline = outlines.get(name);
  if (!outline) {
    outline = { filled: state.filled ? new Path2D(state.filled) : null, stroked: state.stroked ? new Path2D(state.stroked) : null };
    outlines.set(name, outline);
  }
  const scale = size / SIGN_SIZE;
  context.save();
  context.translate(x, y);
  context.scale(scale, scale);
  context.lineJoin = context.lineCap = "round";
  context.strokeStyle = colours.back;
  const colour = colours[state.tone];
  if (outline.filled) {
    context.lineWidth = 3 / Math.max(scale, 0.6);
    context.stroke(outline.filled);
    context.fillStyle = colour;
    context.fill(outline.filled, "evenodd");
  }
  if (outline.stroked) {
    context.lineWidth = 2.4 + 3 / Math.max(scale, 0.6);
    context.stroke(outline.stroked);
    context.strokeStyle = colour;
    context.lineWidth = 2.4;
    context.stroke(outline.stroked);
  }
  context.restore();
}
