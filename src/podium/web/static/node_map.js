// A map of nodes with what belongs to it: its canvas, a tip beside the pointer, and words for those
// who cannot see it.
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

const KEYS = "Arrow keys move between nodes, full stop and comma between the pods of one, Enter opens it, plus and minus zoom, 0 shows all.";
// What the canvas is drawn with, by the properties of its own style that carry it.
const COLOURS = {
  background: "var(--bg)",
  color: "var(--text)",
  borderWidth: "0",
  borderStyle: "solid",
  borderTopColor: "var(--none)",
  borderRightColor: "var(--bad)",
  borderBottomColor: "var(--warn)",
  outlineColor: "var(--accent)",
  columnRuleColor: "var(--soft)",
};

/**
 * @param {string} label what the map shows, for those who cannot see it
 * @param {(node: number, pod: number) => void} onSelect
 * @param {() => void} [onView] when another part of it is seen, or larger
 * @returns {NodeMap}
 */
export function makeNodeMap(label, onSelect, onView) {
  const tip = h("div", { class: "tip hidden", "aria-hidden": "true" });
  const said = h("p", { class: "only-read", "aria-live": "polite" });
  const canvas = /** @type {HTMLCanvasElement} */ (
    h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": `${label}. ${KEYS}`,
      style: COLOURS,
    })
  );
  const map = new HeatMap(canvas, {
    onSelect,
    onHover: (node, x, y, pod) => {
      const { picture } = map;
      tip.classList.toggle("hidden", node < 0);
      if (node < 0 || !picture) return;
      const [name = "", ...lines] = (pod >= 0 && picture.podLines?.(node, pod)) || [picture.label(node), ...picture.lines(node)];
      replaceChildren(tip, h("b", {}, name), lines.map((line) => h("div", {}, line)));
      // Beside the pointer, on whichever side there is room, and never over what it points at.
      const [width, height] = [tip.offsetWidth, tip.offsetHeight];
      tip.style.left = `${Math.max(0, x + 16 + width > canvas.clientWidth ? x - width - 10 : x + 16)}px`;
      tip.style.top = `${Math.max(0, y + 16 + height > canvas.clientHeight ? y - height - 10 : y + 16)}px`;
      said.textContent = `${name}: ${lines.join(", ")}`;
    },
    ...(onView ? { onView } : {}),
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
