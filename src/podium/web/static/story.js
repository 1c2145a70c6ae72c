// Story: the life of a pod on a time line, of several side by side, of a gang, of a node.
// @ts-check
import { h, replaceChildren, stateLine, table } from "./dom.js";
import { formatSeconds, formatTime, pluginChip, shellWord } from "./format.js";
import { keepFresh } from "./live.js";
import { showGangStory, showNodeStory } from "./shared_story.js";
import { gangLink, getDocument, isReport, podLink, podPath } from "./source.js";
import { legend, lifeTracks } from "./tracks.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

const MAX_TRACKS = 30;

/** @param {View} view @returns {() => void} */
export function showStory(view) {
  const [namespace, name] = view.path;
  const node = view.params.get("node");
  const gang = view.params.get("gang");
  if (node) return showNodeStory(view, node);
  if (gang) return showGangStory(view, gang);
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
      replaceChildren(
        body,
        h("p", { class: "soft" }, h("a", { href: podLink(key) }, "its last decision"), " · ", h("a", { href: `#/story?q=${encodeURIComponent(stem(key))}` }, "with those of like name"), pod.gang && [" · ", h("a", { href: gangLink(pod.gang) }, "with its gang")], pod.node && [" · ", h("a", { href: `#/story?node=${encodeURIComponent(pod.node)}` }, "with its neighbours")]),
        legend(),
        lifeTracks([{ key, lines }]),
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
      replaceChildren(body, lifeTracks(known), found.count > chosen.length && h("p", { class: "soft" }, `${MAX_TRACKS} of ${found.count} are shown`));
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
