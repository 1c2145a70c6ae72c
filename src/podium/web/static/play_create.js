// Create: ready examples, their YAML to be changed first, and what the server says to it.
// @ts-check
import { h, replaceChildren, stateLine } from "./dom.js";
import { showProblem, takeStep } from "./play_steps.js";
import { getDocument } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

/** What was typed last, by example, for whoever looks at something else in between. @type {Map<string, string>} */
const drafts = new Map();

/** @param {View} view */
export function exampleProfile(view) {
  return new URLSearchParams(location.hash.split("?")[1]).get("profile") ?? view.overview.schedulers[0] ?? "";
}

/** @param {View} view @returns {import("./play.js").Panel} */
export function createPanel(view) {
  let chosen = view.params.get("example") ?? "small";
  /** @type {Doc[]} */
  let examples = [];
  const lists = h("div", {});
  const shows = h("p", { class: "soft" });
  const text = /** @type {HTMLTextAreaElement} */ (h("textarea", { id: "play-yaml", rows: "16", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off" }));
  const create = /** @type {HTMLButtonElement} */ (h("button", { type: "button", id: "play-create", class: "primary" }, "Create"));
  const restore = h("button", { type: "button", id: "play-restore", class: "hidden" }, "Restore the example");
  const problem = h("div", {});
  const example = () => examples.find((each) => each.name === chosen) ?? examples[0];
  const isChanged = () => text.value !== (example()?.yaml ?? "");

  const draw = () => {
    const now = example();
    if (!now) return;
    replaceChildren(lists, [...new Set(examples.map((each) => each.group))].map((group) => h("div", { class: "play-examples", role: "group", "aria-label": group }, h("span", { "aria-hidden": "true" }, group), h("div", {},
      examples.filter((each) => each.group === group).map((each) => h("button", { type: "button", "data-example": each.name, "aria-pressed": String(each === now), onclick: () => choose(each.name) }, each.title))))));
    shows.textContent = now.shows;
    const written = drafts.get(now.name) ?? now.yaml;
    if (text.value !== written) text.value = written;
    restore.classList.toggle("hidden", !isChanged());
  };
  const choose = (/** @type {string} */ name) => {
    chosen = name;
    view.go({ example: name === "small" ? null : name });
    replaceChildren(problem);
    draw();
    /** @type {HTMLElement | null} */ (lists.querySelector("[aria-pressed=true]"))?.focus();
  };
  const read = async () => {
    try {
      examples = (await getDocument(`play/examples/${encodeURIComponent(exampleProfile(view))}`)).examples;
      draw();
    } catch (trouble) {
      replaceChildren(problem, stateLine(/** @type {Error} */ (trouble).message, "bad"));
    }
  };
  const send = async () => {
    const now = example();
    if (!now || create.disabled) return;
    create.disabled = true;
    replaceChildren(problem);
    const step = await takeStep(`create ${isChanged() ? "an object of your own" : now.title.toLowerCase()}`, { step: "create", yaml: text.value });
    create.disabled = false;
    showProblem(problem, step.problem);
    void read();
  };
  create.addEventListener("click", send);
  restore.addEventListener("click", () => {
    drafts.delete(chosen);
    draw();
    text.focus();
  });
  text.addEventListener("input", () => {
    if (!example() || isChanged()) drafts.set(chosen, text.value);
    else drafts.delete(chosen);
    restore.classList.toggle("hidden", !isChanged());
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
  });
  void read();
  return {
    root: h("div", {}, lists, shows, h("label", { for: "play-yaml" }, "YAML, yours to change"), text, h("div", { class: "bar" }, create, restore, h("span", { class: "soft" }, "Ctrl+Enter creates as well")), problem),
    draw: () => {},
  };
}
