// Configuration: what runs at which point with which weight, and what differs from the defaults.
// @ts-check
import { h, replaceChildren, stateLine, table } from "./dom.js";
import { formatCount, pluginChip } from "./format.js";
import { getDocument, isReport } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/** @param {View} view @returns {() => void} */
export function showConfiguration(view) {
  let gates = view.params.get("gates") ?? "changed";
  let ended = false;
  const body = h("div", {}, stateLine("Reading the configuration…"));
  replaceChildren(view.root, h("h1", { class: "only-read" }, "Configuration"), body);
  view.command(isReport ? "podium config show --diff" : "kubectl get --raw /configz --server={url} --insecure-skip-tls-verify");
  /** @param {Doc} found */
  const draw = (found) => {
    const changed = found.gates.filter((/** @type {Doc} */ gate) => gate.enabled !== gate.default);
    const listed = gates === "all" ? found.gates : changed;
    replaceChildren(
      body,
      h("section", { class: "panel" }, h("h2", {}, "Different from the defaults"),
        found.differences.length
          ? h("pre", {}, found.differences.map((/** @type {string} */ line) => h("div", { class: line.startsWith("-") ? "diff-minus" : "diff-plus" }, line)))
          : h("p", {}, "Nothing: this is the default configuration.")),
      found.profiles.map((/** @type {Doc} */ profile) => [
        h("h2", {}, `Profile ${profile.schedulerName}`),
        h("div", { class: "scroll" }, table(`What runs in ${profile.schedulerName}`, ["Point", "Plugins, in calling order"],
          Object.entries(profile.points).filter(([, plugins]) => plugins.length).map(([point, plugins]) => [pointName(point), h("span", {}, plugins.map((/** @type {Doc} */ each) => pluginChip(each.plugin, each.weight && each.weight !== 1 ? ` ×${each.weight}` : "")))]))),
      ]).flat(),
      found.extenders.length > 0 && [h("h2", {}, "Extenders"), h("ul", {}, found.extenders.map((/** @type {string} */ url) => h("li", { class: "mono wrap" }, url)))],
      h("h2", {}, `Feature gates · ${formatCount(changed.length)} changed`),
      h("div", { class: "bar" }, h("button", { type: "button", id: "all-gates", "aria-pressed": String(gates === "all"), onclick: () => {
        gates = gates === "all" ? "changed" : "all";
        view.go({ gates: gates === "all" ? "all" : null });
        draw(found);
      } }, `All ${formatCount(found.gates.length)}`)),
      listed.length
        ? table("Feature gates", ["Gate", "", "Default"], listed.map((/** @type {Doc} */ gate) => [h("span", { class: "mono" }, gate.name), h("span", { class: gate.enabled === gate.default ? null : "warn" }, gate.enabled ? "on" : "off"), gate.default ? "on" : "off"]))
        : h("p", { class: "soft" }, "All are as they are by default."),
      h("h2", {}, "In full"),
      h("details", {}, h("summary", {}, "The effective configuration"), h("pre", {}, JSON.stringify(found.effective, null, 2))),
    );
  };
  getDocument("configuration").then(
    (found) => ended || draw(found),
    (problem) => ended || replaceChildren(body, stateLine(problem.message, "bad")),
  );
  return () => {
    ended = true;
  };
}

/** `pre_filter` as the configuration spells it. @param {string} point */
function pointName(point) {
  return point.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
}
