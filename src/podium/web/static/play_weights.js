// Weights: a slider for each score plugin of a profile; the next pod is weighed with them.
// @ts-check
import { commandLine, h, replaceChildren } from "./dom.js";
import { pluginColour } from "./format.js";
import { exampleProfile } from "./play_create.js";
import { showProblem, takeStep } from "./play_steps.js";
import { getDocument } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */
/** @typedef {{input: HTMLInputElement, shown: HTMLElement, was: HTMLElement, configured: number}} Slider */

const MAX_SLIDER = 20;
const REST_MS = 250;
const TRIED = "prefers";

/** @param {View} view @param {() => void} refresh @returns {import("./play.js").Panel} */
export function weightsPanel(view, refresh) {
  let profile = exampleProfile(view);
  let drawn = "";
  let sent = 0;
  let timer = 0;
  /** @type {Map<string, Slider>} */
  const sliders = new Map();
  const choice = h("div", { class: "bar" });
  const grid = h("div", { class: "play-weights" });
  const problem = h("div", {});
  const reset = /** @type {HTMLButtonElement} */ (h("button", { type: "button", id: "play-reset" }, "Reset"));
  const tried = h("button", { type: "button", id: "play-try", class: "primary" }, "Create a pod that prefers a zone");
  const keep = h("div", {});

  const show = (/** @type {Slider} */ slider) => {
    const weight = Number(slider.input.value);
    slider.shown.textContent = weight ? `×${weight}` : "off";
    slider.input.setAttribute("aria-valuetext", weight ? String(weight) : "off");
    slider.was.textContent = weight === slider.configured ? "" : `was ×${slider.configured}`;
  };
  const send = async (/** @type {Record<string, number>} */ weights, /** @type {string} */ words) => {
    sent += 1;
    const step = await takeStep(words, { step: "weights", profile, weights });
    sent -= 1;
    showProblem(problem, step.problem);
  };
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      const now = Object.fromEntries([...sliders].map(([plugin, slider]) => [plugin, Number(slider.input.value)]));
      const moved = [...sliders].filter(([plugin, slider]) => now[plugin] !== slider.configured).map(([plugin]) => `${plugin} ${now[plugin] ? `×${now[plugin]}` : "off"}`);
      void send(now, moved.length ? `weigh ${moved.join(", ")}` : "weigh as at the start");
    }, REST_MS);
  };
  const build = (/** @type {Doc} */ found) => {
    sliders.clear();
    replaceChildren(grid, found.plugins.map((/** @type {Doc} */ each) => {
      const id = `weight-${each.plugin}`;
      const input = /** @type {HTMLInputElement} */ (h("input", { type: "range", id, min: "0", max: String(Math.max(MAX_SLIDER, each.configured)), step: "1" }));
      const slider = { input, shown: h("output", { for: id, class: "num" }), was: h("span", { class: "soft" }), configured: each.configured };
      input.addEventListener("input", () => show(slider));
      input.addEventListener("change", changed);
      sliders.set(each.plugin, slider);
      return [h("label", { for: id }, h("i", { class: "dot", style: { background: pluginColour(each.plugin) } }), " ", each.plugin), input, slider.shown, slider.was];
    }).flat());
  };
  reset.addEventListener("click", () => void send({}, "weigh as at the start"));
  tried.addEventListener("click", async () => {
    const { examples } = await getDocument(`play/examples/${encodeURIComponent(profile)}`);
    const example = examples.find((/** @type {Doc} */ each) => each.name === TRIED);
    await takeStep(`create ${example.title.toLowerCase()}`, { step: "create", yaml: example.yaml });
  });
  return {
    root: h("div", {}, choice, h("p", { class: "soft" }, "What each plugin's score counts when nodes are compared. The next pod is weighed with these; those that have a node stay."),
      grid, h("div", { class: "bar" }, reset, tried), problem, keep),
    draw: (found) => {
      const names = found.profiles.map((/** @type {Doc} */ each) => each.schedulerName);
      const now = found.profiles.find((/** @type {Doc} */ each) => each.schedulerName === profile) ?? found.profiles[0];
      if (!now) return;
      profile = now.schedulerName;
      const what = JSON.stringify([names, profile, now.plugins.map((/** @type {Doc} */ each) => [each.plugin, each.configured])]);
      if (what !== drawn) {
        drawn = what;
        build(now);
        replaceChildren(choice, names.length > 1 && h("label", {}, "Profile", profileSelect(names, profile, (name) => {
          view.go({ profile: name });
          profile = name;
          refresh();
        })));
      }
      if (!timer && !sent) for (const each of now.plugins) {
        const slider = sliders.get(each.plugin);
        if (!slider || slider.input.matches(":active")) continue;
        slider.input.value = String(each.weight);
        show(slider);
      }
      reset.disabled = now.plugins.every((/** @type {Doc} */ each) => each.weight === each.configured);
      showFile(keep, now.file);
    },
  };
}

/** @param {string[]} names @param {string} chosen @param {(name: string) => void} choose */
function profileSelect(names, chosen, choose) {
  const select = /** @type {HTMLSelectElement} */ (h("select", { id: "play-profile" }, names.map((name) => h("option", { value: name }, name))));
  select.value = chosen;
  select.addEventListener("change", () => choose(select.value));
  return select;
}

/** @param {HTMLElement} place @param {string | null} file */
function showFile(place, file) {
  if (place.dataset["file"] === (file ?? "")) return;
  place.dataset["file"] = file ?? "";
  replaceChildren(place, file && [
    h("h2", {}, "To keep them"),
    h("p", { class: "soft" }, "They are gone when the scheduler ends. In a file for --config they stay; ", h("a", { href: "#/configuration" }, "Configuration"), " shows the difference from the defaults."),
    commandLine(file.trimEnd()),
  ]);
}
