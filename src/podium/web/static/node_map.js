// A heat map of nodes with what belongs to it: its canvas, a tip beside the pointer, words for
// those who cannot see it, and a search.
// @ts-check
import { h, replaceChildren } from "./dom.js";
import { heatRamp } from "./format.js";
import { HeatMap } from "./heatmap.js";

/** @typedef {import("./heatmap.js").Picture} Picture */
/**
 * `element` is the map, `said` what is read out; `map` zooms and selects.
 * @typedef {{
 *   element: HTMLElement,
 *   said: HTMLElement,
 *   canvas: HTMLCanvasElement,
 *   map: HeatMap,
 *   end: () => void,
 * }} NodeMap
 */

/**
 * @param {string} label what the map shows, for those who cannot see it
 * @param {(node: number) => void} onSelect
 * @returns {NodeMap}
 */
export function makeNodeMap(label, onSelect) {
  const tip = h("div", { class: "tip hidden", "aria-hidden": "true" });
  const said = h("p", { class: "only-read", "aria-live": "polite" });
  const canvas = /** @type {HTMLCanvasElement} */ (
    h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": `${label}. Arrow keys move between nodes, Enter opens one, plus and minus zoom, 0 shows all.`,
      style: { background: "var(--bg)", color: "var(--text)", borderTop: "0 solid var(--none)", outlineColor: "var(--accent)" },
    })
  );
  const map = new HeatMap(canvas, {
    onSelect,
    onHover: (node, x, y) => {
      const { picture } = map;
      tip.classList.toggle("hidden", node < 0);
      if (node < 0 || !picture) return;
      const lines = picture.lines(node);
      replaceChildren(tip, h("b", {}, picture.label(node)), lines.map((line) => h("div", {}, line)));
      tip.style.left = `${Math.max(0, Math.min(x + 14, canvas.clientWidth - 180))}px`;
      tip.style.top = `${Math.max(0, Math.min(y + 14, canvas.clientHeight - 90))}px`;
      said.textContent = `${picture.label(node)}: ${lines.join(", ")}`;
    },
  });
  const onTheme = () => map.redraw();
  addEventListener("themechange", onTheme);
  return {
    element: h("div", { class: "map" }, canvas, tip),
    said,
    canvas,
    map,
    end: () => {
      removeEventListener("themechange", onTheme);
      map.end();
    },
  };
}

/** Buttons that zoom one map or several. @param {HeatMap[]} maps */
export function zoomButtons(...maps) {
  const button = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {(map: HeatMap) => void} */ act) =>
    h("button", { type: "button", "aria-label": label, onclick: () => maps.forEach(act) }, sign);
  return h("span", { role: "group", "aria-label": "Zoom" },
    button("+", "Zoom in", (map) => map.zoom(1.6)), " ",
    button("−", "Zoom out", (map) => map.zoom(1 / 1.6)), " ",
    button("All", "Show all", (map) => map.fit()));
}

/** What the colours mean. @param {string} [from] @param {string} [to] */
export function rampLegend(from = "0%", to = "100%") {
  const [ramp, dark] = [heatRamp(false), heatRamp(true)];
  const steps = [0, 9, 18, 27, 36, 45, 54, 63].map((at) => h("i", { style: { background: `light-dark(${ramp[at]}, ${dark[at]})` } }));
  return [from, h("span", { class: "ramp", role: "img", "aria-label": "from empty to full" }, steps), to];
}
