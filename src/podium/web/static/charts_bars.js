// Bars lying on their side, several for each category: for amounts by name.
// @ts-check
import { bottomAxis, chartSection, formatFigure, roundTicks, seriesColour, shorten, textWidth } from "./charts.js";
import { svg } from "./dom.js";

/** @typedef {import("./charts.js").Series} Series */

const BAR = 12;
const GAP = 2;
const BLOCK_GAP = 12;
const AXIS = 20;

/**
 * A bar for each series in each category; whiskers from `low` to `high` where series have them.
 * @param {{
 *   title: string,
 *   note?: string,
 *   categories: string[],
 *   series: Series[],
 *   format: (value: number) => string,
 *   shares?: boolean,
 * }} chart `shares` are parts of 1, which the axis may divide; an axis of counts has whole numbers
 * @returns {HTMLElement}
 */
export function barChart(chart) {
  const { categories, series, format } = chart;
  const colours = series.map((each, at) => each.colour ?? seriesColour(at));
  const known = series.flatMap((each) => [...each.values, ...(each.high ?? [])]).filter((value) => value !== null);
  const ticks = roundTicks(Math.min(0, ...known), Math.max(0, ...known), 4, !chart.shares && known.every(Number.isInteger));
  const [first = 0, last = 1] = [ticks[0], ticks[ticks.length - 1]];
  return chartSection({
    title: chart.title,
    ...(chart.note ? { note: chart.note } : {}),
    ...(series.length > 1 ? { legend: series.map((each, at) => ({ name: each.name, colour: colours[at] ?? "" })) } : {}),
    heads: ["", ...series.map((each) => ({ text: each.name, num: true }))],
    rows: categories.map((name, at) => [name, ...series.map((each) => formatFigure(each.values[at], format))]),
    draw: (width) => {
      const left = Math.min(width * 0.4, Math.max(...categories.map(textWidth), 30)) + 6;
      const right = Math.max(...known.map((value) => textWidth(format(value))), 30) + 6;
      const x = (/** @type {number} */ value) => left + ((value - first) / (last - first)) * (width - left - right);
      const block = series.length * (BAR + GAP) + BLOCK_GAP;
      const bottom = categories.length * block;
      /** @type {SVGElement[]} */
      const nodes = bottomAxis(ticks, x, 0, bottom, format);
      /** @type {import("./charts.js").Mark[]} */
      const marks = [];
      categories.forEach((name, row) => {
        const top = row * block + BLOCK_GAP / 2;
        nodes.push(svg("text", { class: "name", x: left - 8, y: top + (series.length * (BAR + GAP)) / 2 + 4, "text-anchor": "end" }, shorten(name, left)));
        series.forEach((each, at) => {
          const value = each.values[row];
          if (value === null || value === undefined) return;
          const y = top + at * (BAR + GAP);
          const [from, to] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
          const [low, high] = [each.low?.[row] ?? value, each.high?.[row] ?? value];
          nodes.push(svg("rect", { x: from, y, width: Math.max(to - from, 1), height: BAR, rx: 1.5, fill: colours[at] ?? "" }));
          if (high > low) nodes.push(svg("path", { class: "whisker", d: `M${x(low)} ${y + 3}v6m0 -3H${x(high)}m0 -3v6` }));
          nodes.push(svg("text", { class: "value", x: Math.max(to, x(high)) + 5, y: y + BAR - 2 }, format(value)));
          const range = high > low ? `\n${format(low)} to ${format(high)}` : "";
          marks.push({ x: from, y, width: Math.max(to - from, 1), height: BAR, text: `${name}\n${each.name}: ${format(value)}${range}` });
        });
      });
      return { height: bottom + AXIS, nodes, marks };
    },
  });
}
