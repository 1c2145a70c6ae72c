// Steps: sent to the process that serves this page, and what became of each.
// @ts-check
import { h, replaceChildren } from "./dom.js";
import { Refusal, withToken } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/**
 * A step that was taken. `mark` is the number of the last decision before it.
 * @typedef {{key: string, at: string, words: string, done: string[], objects: Doc[], problem: string | null, commands: string[], mark: number}} Taken
 */

const MAX_TAKEN = 50;
/** The newest first; they are there for as long as the page is open. @type {Taken[]} */
const taken = [];
/** @type {Set<() => void>} */
const listeners = new Set();
let count = 0;
let lastMark = 0;

export function stepsTaken() {
  return taken;
}

/** What stood in the way, in the server's words, or nothing. @param {HTMLElement} place @param {string | null} problem */
export function showProblem(place, problem) {
  replaceChildren(place, problem && h("pre", { class: "bad play-problem", role: "alert" }, problem));
}

/** How far the decisions had come when they were last read. @param {number} mark */
export function noteMark(mark) {
  lastMark = mark;
}

/** @param {() => void} listener @returns {() => void} stops it */
export function onStep(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Take a step; what it did, or what stood in the way.
 * @param {string} words what is done, for people
 * @param {Doc} step
 * @returns {Promise<Taken>}
 */
export async function takeStep(words, step) {
  const at = new Date().toISOString();
  const made = { key: `step-${++count}`, at, words, ...(await send(step)) };
  taken.unshift(made);
  taken.splice(MAX_TAKEN);
  for (const listener of listeners) listener();
  return made;
}

/** @param {Doc} step @returns {Promise<Omit<Taken, "key" | "at" | "words">>} */
async function send(step) {
  try {
    const answer = await fetch("play/steps", { method: "POST", headers: withToken({ "Content-Type": "application/json" }), body: JSON.stringify(step) });
    if (!answer.ok) throw new Refusal(answer.status, (await answer.text()).trim());
    return await answer.json();
  } catch (problem) {
    const words = problem instanceof Refusal ? problem.message : "The process that serves this page does not answer.";
    return { done: [], objects: [], problem: words, commands: [], mark: lastMark };
  }
}
