// Every value as a dot on a line of its own: for spreads that a mean hides.
// @ts-check
import { bottomAxis, chartSection, roundTicks, seriesColour, shorten, textWidth } from "./charts.js";
import { svg } from "./dom.js";

/** @typedef {{name: string, values: number[], colour?: string}} Strip */

const ROW = 34;
const DOT = 4;

/**
 * A row for each strip: its values as dots, its mean as a stroke. With `zero` the axis holds 0 and
 * marks it, as differences want it.
 * @param {{
 *   title: string,
 *   note?: string,
 *   strips: Strip[],
 *   labels: string[],
 *   format: (value: number) => string,
 *   zero?: boolean,
 * }} chart `labels` say what the values belong to, in their order: seed 0, seed 1, ...
 * @returns {HTMLElement}
 */
export function stripPlot(chart) {
  const { strips, format } = chart;
  const all = strips.flatMap((strip) => strip.values);
  const [least, most] = [Math.min(...all, ...(chart.zero ? [0] : [])), Math.max(...all, ...(chart.zero ? [0] : []))];
  const ticks = roundTicks(least, most, 4, all.every(Number.isInteger));
  const [first = 0, last = 1] = [ticks[0], ticks[ticks.length - 1]];
  return chartSection({
    title: chart.title,
    ...(chart.note ? { note: chart.note } : {}),
    heads: ["", ...strips.map((strip) => ({ text: strip.name, num: true }))],
    rows: [
      ...chart.labels.map((label, at) => [label, ...strips.map((strip) => format(strip.values[at] ?? 0))]),
      ["mean", ...strips.map((strip) => format(mean(strip.values)))],
    ],
    draw: (width) => {
      const left = Math.min(width * 0.35, Math.max(...strips.map((strip) => textWidth(strip.name)), 30)) + 6;
      const right = textWidth(format(mean(all))) / 2 + 12;
      const x = (/** @type {number} */ value) => left + 8 + ((value - first) / (last - first)) * (width - left - 8 - right);
      const bottom = strips.length * ROW;
      const nodes = bottomAxis(ticks, x, 0, bottom, format);
      if (chart.zero) nodes.push(svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: bottom }));
      /** @type {import("./charts.js").Mark[]} */
      const marks = [];
      strips.forEach((strip, row) => {
        const middle = row * ROW + ROW / 2;
        const colour = strip.colour ?? seriesColour(row);
        nodes.push(svg("text", { class: "name", x: left - 8, y: middle + 4, "text-anchor": "end" }, shorten(strip.name, left)));
        const stacked = stack(strip.values.map(x));
        strip.values.forEach((value, at) => {
          const y = middle + (stacked[at] ?? 0);
          nodes.push(dot(row, x(value), y, colour));
          marks.push({ x: x(value), y, text: `${chart.labels[at] ?? ""}\n${strip.name}: ${format(value)}` });
        });
        const centre = mean(strip.values);
        nodes.push(svg("line", { class: "mean", x1: x(centre), x2: x(centre), y1: middle - 13, y2: middle + 13 }));
        marks.push({ x: x(centre), y: middle + 13, text: `mean\n${strip.name}: ${format(centre)}` });
      });
      return { height: bottom + 20, nodes, marks };
    },
  });
}

/** A dot; each strip has a shape of its own as well. @param {number} row @param {number} x @param {number} y @param {string} colour */
function dot(row, x, y, colour) {
  const look = { fill: colour, "fill-opacity": 0.75, stroke: colour };
  if (row % 3 === 1) return svg("rect", { x: x - DOT + 0.5, y: y - DOT + 0.5, width: 2 * DOT - 1, height: 2 * DOT - 1, ...look });
  if (row % 3 === 2) return svg("path", { d: `M${x} ${y - DOT}L${x + DOT} ${y + DOT - 1}H${x - DOT}Z`, ...look });
  return svg("circle", { cx: x, cy: y, r: DOT - 0.5, ...look });
}

/** Offsets by which dots in one place stand above and below each other. @param {number[]} places */
function stack(places) {
  /** @type {Map<number, number>} */
  const taken = new Map();
  return places.map((place) => {
    const slot = Math.round(place / DOT);
    const count = taken.get(slot) ?? 0;
    taken.set(slot, count + 1);
    const step = Math.ceil(count / 2) * (count % 2 ? 1 : -1);
    return Math.max(-13, Math.min(13, step * (DOT + 1)));
  });
}

/** @param {number[]} values */
function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;
}
