// Lives on a common time line: a track for each pod, coloured by what it was doing.
// @ts-check
import { h, svg } from "./dom.js";
import { formatSeconds, formatTime } from "./format.js";
import { storyLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {{from: number, to: number, state: string, words?: string}} Span */
/** @typedef {{key: string, spans: Span[], marks: number[]}} Track */

/** @type {Record<string, {colour: string, words: string}>} */
const STATES = {
  queued: { colour: "#56b4e9", words: "in the queue" },
  backoff: { colour: "#e69f00", words: "backing off" },
  rejected: { colour: "#d55e00", words: "no node takes it" },
  held: { colour: "#8a8f98", words: "held back" },
  waiting: { colour: "#cc79a7", words: "waits at Permit" },
  placed: { colour: "#009e73", words: "has a node" },
  gone: { colour: "#c4c9cf", words: "gone" },
  here: { colour: "#009e73", words: "is here" },
  left: { colour: "#b8a7d9", words: "was here and left" },
  evicted: { colour: "#d55e00", words: "was here and was evicted" },
};

const LIFE = ["queued", "backoff", "rejected", "held", "waiting", "placed", "gone"];

/** @param {Doc} line */
function stateAfter(line) {
  switch (line.what) {
    case "tried": return line.about ? "placed" : "rejected";
    case "held back": return "held";
    case "backing off": return "backoff";
    case "waiting": return "waiting";
    case "bound": return "placed";
    case "deleted": case "given up": case "preempted": return "gone";
    case "queued": case "woken": case "binding failed": return "queued";
  }
  return null;
}

/** @param {string} moment */
export function secondsOf(moment) {
  return new Date(moment).getTime() / 1000;
}

/** @param {Doc[]} lines @param {number} until @returns {Span[]} */
function spansOf(lines, until) {
  /** @type {Span[]} */
  const spans = [];
  for (const line of lines) {
    const state = stateAfter(line);
    const at = secondsOf(line.at);
    const last = spans[spans.length - 1];
    if (state === null) continue;
    if (last) last.to = at;
    spans.push({ from: at, to: until, state });
  }
  const end = spans[spans.length - 1];
  if (end?.state === "gone") end.to = end.from;
  return spans;
}

/**
 * The lives of pods, from the first thing that happened to any of them to the last.
 * @param {{key: string, lines: Doc[]}[]} pods
 */
export function lifeTracks(pods) {
  const times = pods.flatMap((each) => each.lines.map((line) => secondsOf(line.at)));
  const first = Math.min(...times);
  const until = first + roomFor(Math.max(...times) - first);
  return drawTracks(pods.map(({ key, lines }) => ({ key, spans: spansOf(lines, until), marks: lines.map((line) => secondsOf(line.at)) })), first, until);
}

/** Some room behind the last step, in which what it came to can be seen. @param {number} length */
export function roomFor(length) {
  return Math.max(length, 1e-3) * 1.12;
}

/** @param {string[]} [only] */
export function legend(only = LIFE) {
  const shown = Object.entries(STATES).filter(([name]) => only.includes(name));
  return h("p", {}, shown.map(([, state]) => h("span", { class: "chip" }, h("i", { class: "dot", style: { background: state.colour } }), state.words)));
}

/**
 * One line a pod, all on one scale.
 * @param {Track[]} pods
 * @param {number} first @param {number} until
 */
export function drawTracks(pods, first, until) {
  const length = until - first;
  const place = (/** @type {number} */ at) => ((at - first) / length) * 1000;
  const tell = (/** @type {Span} */ span) => `${span.words ?? STATES[span.state]?.words} for ${formatSeconds(span.to - span.from)}`;
  return h(
    "div",
    {},
    pods.map(({ key, spans, marks }) =>
      h("div", { class: "track" },
        h("a", { class: "name", href: storyLink(key), title: key }, key),
        svg("svg", { viewBox: "0 0 1000 22", preserveAspectRatio: "none", role: "img", "aria-label": `${key}: ${spans.map(tell).join(", ")}` },
          spans.map((span) => svg("rect", { x: place(span.from), y: 4, width: Math.max(place(span.to) - place(span.from), 2), height: 14, fill: STATES[span.state]?.colour }, svg("title", {}, tell(span)))),
          marks.map((at) => svg("line", { x1: place(at), x2: place(at), y1: 1, y2: 21, stroke: "currentColor", "stroke-width": 1, "vector-effect": "non-scaling-stroke" }))))),
    h("div", { class: "track soft" }, h("span", {}), h("span", { style: { display: "flex", justifyContent: "space-between" } }, h("span", {}, formatTime(new Date(first * 1000).toISOString())), h("span", {}, `+${formatSeconds(length)}`))),
  );
}
