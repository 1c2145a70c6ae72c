// Story: the life of a pod on a time line, or of several side by side.
// @ts-check
import { h, replaceChildren, stateLine, svg, table } from "./dom.js";
import { formatSeconds, formatTime, pluginChip, shellWord } from "./format.js";
import { keepFresh } from "./live.js";
import { getDocument, isReport, podLink, podPath, storyLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {{from: number, to: number, state: string}} Span */

const MAX_TRACKS = 30;
/** @type {Record<string, {colour: string, words: string}>} */
const STATES = {
  queued: { colour: "#56b4e9", words: "in the queue" },
  backoff: { colour: "#e69f00", words: "backing off" },
  rejected: { colour: "#d55e00", words: "no node takes it" },
  held: { colour: "#8a8f98", words: "held back" },
  waiting: { colour: "#cc79a7", words: "waits at Permit" },
  placed: { colour: "#009e73", words: "has a node" },
  gone: { colour: "#c4c9cf", words: "gone" },
};

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

/** @param {Doc[]} lines @param {number} until @returns {Span[]} */
function spansOf(lines, until) {
  /** @type {Span[]} */
  const spans = [];
  for (const line of lines) {
    const state = stateAfter(line);
    const at = new Date(line.at).getTime() / 1000;
    const last = spans[spans.length - 1];
    if (state === null) continue;
    if (last) last.to = at;
    spans.push({ from: at, to: until, state });
  }
  const end = spans[spans.length - 1];
  if (end?.state === "gone") end.to = end.from;
  return spans;
}

/** @param {View} view @returns {() => void} */
export function showStory(view) {
  const [namespace, name] = view.path;
  if (namespace && name) return showOne(view, `${namespace}/${name}`);
  return showSeveral(view);
}

/** @param {View} view @param {string} key */
function showOne(view, key) {
  const body = h("div", {}, stateLine("Reading its story…"));
  replaceChildren(view.root, h("h1", {}, key), body);
  view.command(isReport ? `podium story ${shellWord(key)} {input}` : `podium explain ${shellWord(key)} --recorded`);
  return keepFresh(
    () => podPath(key),
    (pod) => {
      const lines = pod.log;
      if (!lines.length) {
        replaceChildren(body, stateLine("Nothing is remembered of this pod."));
        return;
      }
      const first = new Date(lines[0].at).getTime() / 1000;
      const last = new Date(lines[lines.length - 1].at).getTime() / 1000;
      replaceChildren(
        body,
        h("p", { class: "soft" }, h("a", { href: podLink(key) }, "its last decision"), " · ", h("a", { href: `#/story?q=${encodeURIComponent(stem(key))}` }, "with those of like name")),
        legend(),
        tracks([{ key, lines }], first, last),
        h("h2", {}, "Step by step"),
        h("div", { class: "scroll" }, table("What happened", ["At", { text: "after", num: true }, "What", "Plugins", "More"],
          lines.map((/** @type {Doc} */ line, /** @type {number} */ at) => [
            formatTime(line.at),
            at ? `+${formatSeconds((new Date(line.at).getTime() - new Date(lines[at - 1].at).getTime()) / 1000)}` : "",
            line.words ?? line.what,
            h("span", {}, line.plugins.map((/** @type {string} */ plugin) => pluginChip(plugin))),
            h("span", { class: "soft" }, line.what === "tried" ? line.detail : ""),
          ]))),
      );
    },
    (problem) => replaceChildren(body, stateLine(problem.message, "bad")),
  );
}

/** A pod's name without what tells it from its siblings. @param {string} key */
function stem(key) {
  return key.replace(/-[a-z0-9]{5}$/, "").replace(/-\d+$/, "").replace(/-[a-f0-9]{8,10}$/, "");
}

/** @param {View} view */
function showSeveral(view) {
  let words = view.params.get("q") ?? "";
  const find = /** @type {HTMLInputElement} */ (h("input", { type: "search", id: "story-search", value: words, placeholder: "part of their names", "aria-label": "Show pods with this in their names" }));
  const body = h("div", {}, stateLine("Reading the pods…"));
  let ended = false;
  let turn = 0;
  replaceChildren(view.root, h("h1", {}, "Story"), h("div", { class: "bar" }, find), legend(), body);
  view.command(isReport ? "podium simulate {input} --timeline" : "kubectl get events --all-namespaces --sort-by=.lastTimestamp");
  const read = async () => {
    const mine = ++turn;
    try {
      const found = await getDocument(`pods?q=${encodeURIComponent(words)}`);
      const chosen = found.pods.slice(0, MAX_TRACKS);
      const pods = await Promise.all(chosen.map((/** @type {Doc} */ each) => getDocument(podPath(each.pod)).catch(() => null)));
      if (ended || mine !== turn) return;
      const known = pods.flatMap((pod) => (pod?.log.length ? [{ key: `${pod.namespace}/${pod.name}`, lines: pod.log }] : []));
      if (!known.length) {
        replaceChildren(body, stateLine(words ? "No pod has that in its name." : "There are no pods yet."));
        return;
      }
      const times = known.flatMap((each) => each.lines.map((/** @type {Doc} */ line) => new Date(line.at).getTime() / 1000));
      replaceChildren(body, tracks(known, Math.min(...times), Math.max(...times)), found.count > chosen.length && h("p", { class: "soft" }, `${MAX_TRACKS} of ${found.count} are shown`));
    } catch (problem) {
      if (!ended) replaceChildren(body, stateLine(/** @type {Error} */ (problem).message, "bad"));
    }
  };
  find.addEventListener("input", () => {
    words = find.value;
    view.go({ q: words });
    void read();
  });
  void read();
  return () => {
    ended = true;
  };
}

function legend() {
  return h("p", {}, Object.values(STATES).map((state) => h("span", { class: "chip" }, h("i", { class: "dot", style: { background: state.colour } }), state.words)));
}

/**
 * One line a pod, all on one scale.
 * @param {{key: string, lines: Doc[]}[]} pods
 * @param {number} first @param {number} last
 */
function tracks(pods, first, last) {
  // Some room behind the last step, in which what it came to can be seen.
  const length = Math.max(last - first, 1e-3) * 1.12;
  const until = first + length;
  const place = (/** @type {number} */ at) => ((at - first) / length) * 1000;
  return h(
    "div",
    {},
    pods.map(({ key, lines }) => {
      const spans = spansOf(lines, until);
      const told = spans.map((span) => `${STATES[span.state]?.words} for ${formatSeconds(span.to - span.from)}`).join(", ");
      return h("div", { class: "track" },
        h("a", { class: "name", href: storyLink(key), title: key }, key),
        svg("svg", { viewBox: "0 0 1000 22", preserveAspectRatio: "none", role: "img", "aria-label": `${key}: ${told}` },
          spans.map((span) => svg("rect", { x: place(span.from), y: 4, width: Math.max(place(span.to) - place(span.from), 2), height: 14, fill: STATES[span.state]?.colour }, svg("title", {}, `${STATES[span.state]?.words}, ${formatSeconds(span.to - span.from)}`))),
          lines.map((line) => svg("line", { x1: place(new Date(line.at).getTime() / 1000), x2: place(new Date(line.at).getTime() / 1000), y1: 1, y2: 21, stroke: "currentColor", "stroke-width": 1, "vector-effect": "non-scaling-stroke" }))));
    }),
    h("div", { class: "track soft" }, h("span", {}), h("span", { style: { display: "flex", justifyContent: "space-between" } }, h("span", {}, formatTime(new Date(first * 1000).toISOString())), h("span", {}, `+${formatSeconds(length)}`))),
  );
}
