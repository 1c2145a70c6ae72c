// Stories of several pods that belong together: the members of a gang, the guests of a node.
// @ts-check
import { h, replaceChildren, stateLine, table } from "./dom.js";
import { formatSeconds, formatTime, plural, shellWord } from "./format.js";
import { keepFresh } from "./live.js";
import { isReport, nodeLink, podLink } from "./source.js";
import { drawTracks, legend, lifeTracks, roomFor, secondsOf } from "./tracks.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/** @param {View} view @param {string} gang */
export function showGangStory(view, gang) {
  const body = h("div", {}, stateLine("Reading the story of the gang…"));
  replaceChildren(view.root, h("h1", {}, gang), body);
  const [namespace = "", ...rest] = gang.split("/"); // a label is not always a name
  const name = rest.join("/");
  view.command(isReport ? "podium simulate {input} --timeline" : `kubectl get pods --namespace ${shellWord(namespace)} --output wide`);
  return keepFresh(
    () => `gangs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`,
    (found) => {
      const wanted = found.minMembers === null ? "" : `, at least ${found.minMembers} together`;
      const known = found.members.filter((/** @type {Doc} */ each) => each.log.length).map((/** @type {Doc} */ each) => ({ key: each.pod, lines: each.log }));
      replaceChildren(
        body,
        h("p", {}, h("b", {}, `${found.placed} of ${plural(found.count, "member")}`), ` have a node${wanted}`),
        legend(),
        known.length ? lifeTracks(known) : stateLine("Nothing is remembered of its members."),
        h("h2", {}, "Members"),
        h("div", { class: "scroll" }, table("Members of the gang", ["Pod", "Is", "Node", "Last"],
          found.members.map((/** @type {Doc} */ each) => {
            const last = each.log[each.log.length - 1];
            return [
              h("a", { href: podLink(each.pod) }, each.pod), each.place,
              each.node ? h("a", { href: nodeLink(each.node) }, each.node) : "",
              h("span", { class: "soft" }, last ? `${formatTime(last.at)} ${last.words}` : ""),
            ];
          }))),
        found.count > found.members.length && h("p", { class: "soft" }, `the first ${found.members.length} are shown`),
      );
    },
    (problem) => replaceChildren(body, stateLine(problem.message, "bad")),
  );
}

/** @param {View} view @param {string} name */
export function showNodeStory(view, name) {
  const body = h("div", {}, stateLine("Reading the story of the node…"));
  replaceChildren(view.root, h("h1", {}, name), body);
  view.command(isReport ? "podium simulate {input} --timeline" : `kubectl get pods --all-namespaces --field-selector=spec.nodeName=${shellWord(name)}`);
  return keepFresh(
    () => `nodes/${encodeURIComponent(name)}/story`,
    (found) => {
      if (!found.stays.length) {
        replaceChildren(body, stateLine("Nobody is known to have been here."));
        return;
      }
      const now = secondsOf(found.at);
      const times = found.stays.flatMap((/** @type {Doc} */ stay) => [stay.from, stay.to].filter(Boolean).map(secondsOf));
      const first = times.length ? Math.min(...times) : now - 1;
      const until = first + roomFor(Math.max(now, ...times) - first);
      const tracks = found.stays.map((/** @type {Doc} */ stay) => {
        const from = stay.from ? secondsOf(stay.from) : first;
        const to = stay.to ? secondsOf(stay.to) : until;
        const state = stay.how === "preempted" ? "evicted" : stay.to ? "left" : "here";
        return { key: stay.pod, spans: [{ from, to, state, words: stay.how ? `here, then ${ending(stay)}` : "here" }], marks: [stay.from, stay.to].filter(Boolean).map(secondsOf) };
      });
      replaceChildren(
        body,
        h("p", { class: "soft" }, found.isPresent ? h("a", { href: nodeLink(name) }, "the node in the cluster") : "this node is gone"),
        legend(["here", "left", "evicted"]),
        drawTracks(tracks, first, until),
        h("h2", {}, "Who was here"),
        h("div", { class: "scroll" }, table("Pods on this node", ["Pod", "Came", { text: "Stayed", num: true }, "Went"],
          found.stays.map((/** @type {Doc} */ stay) => [
            h("a", { href: podLink(stay.pod) }, stay.pod),
            stay.from ? formatTime(stay.from) : h("span", { class: "soft" }, "before that is remembered"),
            stay.from ? formatSeconds((stay.to ? secondsOf(stay.to) : now) - secondsOf(stay.from)) : "",
            stay.how ? h("span", { class: stay.by ? "bad" : null }, stay.how === "preempted" ? ["evicted for ", h("a", { href: podLink(stay.by) }, stay.by)] : stay.how) : h("span", { class: "soft" }, "still here"),
          ]))),
        found.count > found.stays.length && h("p", { class: "soft" }, `${found.stays.length} of ${found.count} are shown`),
      );
    },
    (problem) => replaceChildren(body, stateLine(problem.message, "bad")),
  );
}

/** @param {Doc} stay */
function ending(stay) {
  return stay.how === "preempted" ? `evicted for ${stay.by}` : stay.how;
}
