// Lines over a common axis, with bands around them: for what changes with something.
// @ts-check
import { chartSection, formatFigure, roundTicks, seriesColour, textWidth } from "./charts.js";
import { svg } from "./dom.js";

/** @typedef {import("./charts.js").Series} Series */
/** @typedef {import("./charts.js").ChartParts} ChartParts */

const HEIGHT = 190;
const AXIS = 22;
const TOP = 8;
const DASHES = ["", "7 3", "2 3", "10 3 2 3"];

/**
 * A line for each series, broken where it has no value; a band from `low` to `high` where it has
 * them.
 * @param {{
 *   title: string,
 *   note?: string,
 *   x: number[],
 *   series: Series[],
 *   format: (value: number) => string,
 *   formatX: (value: number) => string,
 *   nameX?: string,
 *   ends?: [string, string],
 *   heads?: ChartParts["heads"],
 *   rows?: ChartParts["rows"],
 *   still?: boolean,
 * }} chart `ends` name the first and last place of the axis, which has round numbers otherwise;
 *   `heads` and `rows` stand in for a table of all figures, and for the legend
 * @returns {HTMLElement}
 */
export function lineChart(chart) {
  const { series, format, formatX } = chart;
  const colours = series.map((each, at) => each.colour ?? seriesColour(at));
  const known = series.flatMap((each) => [...each.values, ...(each.high ?? []), ...(each.low ?? [])]).filter((value) => value !== null);
  const ticks = roundTicks(Math.min(0, ...known), Math.max(0, ...known) || 1, 3);
  const [bottom = 0, top = 1] = [ticks[0], ticks[ticks.length - 1]];
  const [first = 0, last = 1] = [chart.x[0], chart.x[chart.x.length - 1]];
  return chartSection({
    title: chart.title,
    ...(chart.note ? { note: chart.note } : {}),
    ...(series.length > 1 && !chart.rows ? { legend: series.map((each, at) => ({ name: each.name, colour: colours[at] ?? "" })) } : {}),
    heads: chart.heads ?? [{ text: chart.nameX ?? "", num: true }, ...series.map((each) => ({ text: each.name, num: true }))],
    rows: chart.rows ?? chart.x.map((place, at) => [formatX(place), ...series.map((each) => formatFigure(each.values[at], format))]),
    still: chart.still ?? false,
    draw: (width) => {
      const left = Math.max(...ticks.map((tick) => textWidth(format(tick)))) + 4;
      const x = (/** @type {number} */ place) => left + ((place - first) / (last - first || 1)) * (width - left - 10);
      const y = (/** @type {number} */ value) => TOP + (1 - (value - bottom) / (top - bottom)) * (HEIGHT - TOP);
      const nodes = ticks.flatMap((tick) => [
        svg("line", { class: "axis", x1: left, x2: width - 10, y1: y(tick), y2: y(tick) }),
        svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, format(tick)),
      ]);
      const places = chart.ends ? [first, last] : roundTicks(first, last, Math.max(2, Math.floor(width / 110))).filter((tick) => tick >= first && tick <= last);
      places.forEach((place, at) => nodes.push(svg("text", { x: chart.ends && at ? width - 10 : x(place), y: HEIGHT + 16, "text-anchor": at === 0 ? "start" : at === places.length - 1 ? "end" : "middle" }, chart.ends?.[at] ?? formatX(place))));
      series.forEach((each, at) => nodes.push(...band(each, chart.x, x, y, colours[at] ?? "")));
      series.forEach((each, at) =>
        nodes.push(svg("path", { d: path(each.values, chart.x, x, y), fill: "none", stroke: colours[at] ?? "", "stroke-width": 2, "stroke-linejoin": "round", "stroke-dasharray": DASHES[at % DASHES.length] || null })));
      const marks = series.flatMap((each) => each.values.flatMap((value, at) => {
        const place = chart.x[at] ?? 0;
        if (value === null) return [];
        const [low, high] = [each.low?.[at] ?? value, each.high?.[at] ?? value];
        const range = high > low ? `\n${format(low)} to ${format(high)}` : "";
        return [{ x: x(place), y: y(value), text: `${chart.nameX ? `${chart.nameX} ` : ""}${formatX(place)}\n${each.name}: ${format(value)}${range}` }];
      }));
      return { height: HEIGHT + AXIS, nodes, marks };
    },
  });
}

/**
 * @param {(number | null)[]} values @param {number[]} places
 * @param {(place: number) => number} x @param {(value: number) => number} y
 */
function path(values, places, x, y) {
  let drawn = "";
  let down = false;
  values.forEach((value, at) => {
    if (value !== null) drawn += `${down ? "L" : "M"}${x(places[at] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
    down = value !== null;
  });
  return drawn;
}

/**
 * @param {Series} series @param {number[]} places
 * @param {(place: number) => number} x @param {(value: number) => number} y @param {string} colour
 * @returns {SVGElement[]}
 */
function band(series, places, x, y, colour) {
  const { low, high } = series;
  if (!low || !high) return [];
  const known = places.map((_, at) => at).filter((at) => low[at] !== null && high[at] !== null);
  const there = known.map((at) => `${x(places[at] ?? 0).toFixed(1)} ${y(high[at] ?? 0).toFixed(1)}`);
  const back = known.reverse().map((at) => `${x(places[at] ?? 0).toFixed(1)} ${y(low[at] ?? 0).toFixed(1)}`);
  return there.length > 1 ? [svg("path", { d: `M${[...there, ...back].join("L")}Z`, fill: colour, opacity: 0.18 })] : [];
}
