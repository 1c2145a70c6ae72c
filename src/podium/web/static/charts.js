// Charts in plain SVG: what every kind of them has. A title, a legend, a drawing that fits its
// width, figures that pointer and keyboard find, and the same figures as a table.
//
// A kind of chart is a function that says what to draw at a width (`charts_bars.js`,
// `charts_lines.js`, `charts_strips.js`). Colours are told apart by people who see few of them, and
// never the only thing that tells series apart.
// @ts-check
import { h, replaceChildren, svg, table } from "./dom.js";

/**
 * One of several things that a chart compares. `low` and `high` are drawn as bands or whiskers.
 * @typedef {{
 *   name: string,
 *   values: (number | null)[],
 *   low?: (number | null)[],
 *   high?: (number | null)[],
 *   colour?: string,
 * }} Series
 */
/**
 * A figure that can be pointed at: where it is, and what it says. With a width it is a box,
 * otherwise a point.
 * @typedef {{x: number, y: number, width?: number, height?: number, text: string}} Mark
 */
/** @typedef {{height: number, nodes: SVGElement[], marks: Mark[]}} Drawing */
/**
 * `draw` is called with each new width; `rows` are the figures as a table under `heads`. A `still`
 * chart is made anew all the time: it takes no focus, and its table stands open.
 * @typedef {{
 *   title: string,
 *   note?: string,
 *   legend?: {name: string, colour: string}[],
 *   heads: (string | {text: string, num?: boolean})[],
 *   rows: import("./dom.js").Child[][],
 *   draw: (width: number) => Drawing,
 *   still?: boolean,
 * }} ChartParts
 */

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#b06fa8", "#b87700", "#3d94c9", "#7f5fa8"];
const REACH = 28;
let charts = 0;

/** The colour of a series by its number. @param {number} at */
export function seriesColour(at) {
  return COLOURS[at % COLOURS.length] ?? "#0072b2";
}

/**
 * Round numbers that span a range: 0, 20, 40 rather than 0, 17, 34. The first is at or below `low`,
 * the last at or above `high`.
 * @param {number} low @param {number} high @param {number} [wanted] how many there should be, roughly
 * @param {boolean} [whole] no fractions, as counts want it
 */
export function roundTicks(low, high, wanted = 4, whole = false) {
  const span = high - low || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const round = ([1, 2, 2.5, 5, 10].find((each) => each * power * wanted >= span * 0.999) ?? 10) * power;
  const step = whole ? Math.ceil(round) : round;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** How wide a text will be, roughly; charts keep room by it. @param {string} text */
export function textWidth(text) {
  return text.length * 7 + 4;
}

/** A figure, or a dash where there is none. @param {number | null | undefined} value @param {(value: number) => string} format */
export function formatFigure(value, format) {
  return value === null || value === undefined ? "–" : format(value);
}

/** A text that fits a width. @param {string} text @param {number} width */
export function shorten(text, width) {
  const most = Math.max(3, Math.floor((width - 4) / 7));
  return text.length <= most ? text : `…${text.slice(text.length - most + 1)}`;
}

/**
 * A chart as a section of the page.
 * @param {ChartParts} parts
 * @returns {HTMLElement}
 */
export function chartSection(parts) {
  const tip = h("div", { class: "tip hidden", "aria-hidden": "true" });
  const said = h("p", { class: "only-read", "aria-live": "polite" });
  const drawn = h("div", parts.still
    ? { class: "drawing", role: "img", "aria-label": `${parts.title}; the table below has its figures` }
    : { class: "drawing", tabindex: 0, role: "application", "aria-label": `${parts.title}. Arrow keys go through its figures; the table below has them too.` });
  const cursor = svg("rect", { class: "cursor hidden", rx: 3 });
  /** @type {Mark[]} */
  let marks = [];
  let at = -1;
  let width = 0;
  /** @param {number} next */
  const point = (next) => {
    at = next;
    const mark = marks[at];
    tip.classList.toggle("hidden", !mark);
    cursor.classList.toggle("hidden", !mark);
    if (!mark) return;
    const [w, tall] = [mark.width ?? 0, mark.height ?? 0];
    const box = mark.width === undefined ? { x: mark.x - 6, y: mark.y - 6, width: 12, height: 12 } : { x: mark.x - 2, y: mark.y - 2, width: w + 4, height: tall + 4 };
    for (const [name, value] of Object.entries(box)) cursor.setAttribute(name, String(value));
    replaceChildren(tip, mark.text.split("\n").map((line, row) => h(row ? "div" : "b", {}, line)));
    tip.style.left = `${Math.max(0, Math.min(mark.x + 12, width - 190))}px`;
    tip.style.top = `${mark.y + tall + 10}px`;
    said.textContent = mark.text.replaceAll("\n", ", ");
  };
  const draw = () => {
    const now = Math.round(drawn.clientWidth);
    if (!now || now === width) return;
    width = now;
    const drawing = parts.draw(width);
    marks = drawing.marks;
    drawn.style.height = `${drawing.height}px`;
    replaceChildren(drawn, svg("svg", { width, height: drawing.height, viewBox: `0 0 ${width} ${drawing.height}`, "aria-hidden": "true" }, drawing.nodes, cursor), tip);
    point(-1);
  };
  drawn.addEventListener("pointermove", (event) => {
    const frame = drawn.getBoundingClientRect();
    point(nearest(marks, event.clientX - frame.left, event.clientY - frame.top));
  });
  drawn.addEventListener("pointerleave", () => point(-1));
  drawn.addEventListener("blur", () => point(-1));
  drawn.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) point(Math.max(0, Math.min(marks.length - 1, at + step)));
    else if (event.key === "Home") point(0);
    else if (event.key === "End") point(marks.length - 1);
    else if (event.key === "Escape") point(-1);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(draw).observe(drawn);
  charts += 1;
  const figures = h("div", { class: "scroll" }, table(parts.title, parts.heads, parts.rows));
  return h(
    "section",
    { class: "chart", "aria-labelledby": `chart-${charts}` },
    h("h2", { id: `chart-${charts}` }, parts.title),
    parts.note && h("p", { class: "soft" }, parts.note),
    parts.legend && legend(parts.legend),
    drawn,
    said,
    parts.still ? figures : h("details", {}, h("summary", {}, "As a table"), figures),
  );
}

/**
 * A chart without figures: says so in its place.
 * @param {string} title @param {string} words
 */
export function emptyChart(title, words) {
  return h("section", { class: "chart" }, h("h2", {}, title), h("p", { class: "soft" }, words));
}

/** @param {{name: string, colour: string}[]} entries */
export function legend(entries) {
  return h("p", { class: "keys" }, entries.map((each) => h("span", {}, h("i", { class: "dot", style: { background: each.colour } }), ` ${each.name}`)));
}

/**
 * The mark at a point, or the nearest within reach; -1 if there is none.
 * @param {Mark[]} marks @param {number} x @param {number} y
 */
function nearest(marks, x, y) {
  let [found, least] = [-1, REACH];
  marks.forEach((mark, at) => {
    const [right, down] = [mark.x + (mark.width ?? 0), mark.y + (mark.height ?? 0)];
    const distance = Math.hypot(Math.max(mark.x - x, 0, x - right), Math.max(mark.y - y, 0, y - down));
    if (distance < least) [found, least] = [at, distance];
  });
  return found;
}

/**
 * Ticks below a drawing, with lines up through it. Those that would run into each other stay
 * without a text; the last has one.
 * @param {number[]} ticks @param {(value: number) => number} x
 * @param {number} top @param {number} bottom @param {(value: number) => string} format
 * @returns {SVGElement[]}
 */
export function bottomAxis(ticks, x, top, bottom, format) {
  const room = x(ticks[1] ?? 0) - x(ticks[0] ?? 0);
  const every = Math.max(1, Math.ceil((1.3 * Math.max(...ticks.map((tick) => textWidth(format(tick))))) / room));
  const last = ticks.length - 1;
  return ticks.flatMap((tick, at) => [
    svg("line", { class: "axis", x1: x(tick), x2: x(tick), y1: top, y2: bottom }),
    ...((last - at) % every ? [] : [svg("text", { x: x(tick), y: bottom + 14, "text-anchor": at === last ? "end" : at ? "middle" : "start" }, format(tick))]),
  ]);
}
