// Numbers, times and colours as every view shows them.
// @ts-check
import { h } from "./dom.js";

const BINARY = ["B", "Ki", "Mi", "Gi", "Ti", "Pi"];

/** A count with separators. @param {number} value */
export function formatCount(value) {
  return value.toLocaleString("en-US");
}

/**
 * An amount of a resource as people write it: cores, binary bytes, a count.
 * @param {string} resource
 * @param {number} amount
 */
export function formatAmount(resource, amount) {
  if (resource === "cpu") return formatCount(amount / 1000);
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")) return formatBytes(amount);
  return formatCount(amount);
}

/** @param {number} bytes */
export function formatBytes(bytes) {
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && unit < BINARY.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = value >= 100 || Number.isInteger(value) ? 0 : 1;
  return `${value.toFixed(digits)}${unit ? BINARY[unit] : " B"}`;
}

/** @param {number} fraction */
export function formatPercent(fraction) {
  if (!Number.isFinite(fraction)) return "–";
  const value = fraction * 100;
  if (value >= 1e-4 && value < 0.05) return `${Number(value.toPrecision(2))}%`;
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)}%`;
}

/** @param {number} seconds */
export function formatSeconds(seconds) {
  const size = Math.abs(seconds);
  if (size < 1e-3) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (size < 1) return `${(seconds * 1e3).toFixed(size < 0.01 ? 2 : 0)} ms`;
  if (size < 120) return `${seconds.toFixed(size < 10 ? 1 : 0)} s`;
  if (size < 7200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

/** The time of day of a moment. @param {string} moment */
export function formatTime(moment) {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? moment : date.toTimeString().slice(0, 8);
}

/** @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A word of a command line, quoted where a shell would read more into it. @param {string} word */
export function shellWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

// Each plugin has one colour in every view; those that nobody knew before share the rest by name.
/** @type {Record<string, string>} */
const PLUGIN_COLOURS = {
  NodeResourcesFit: "#0072b2",
  NodeResourcesBalancedAllocation: "#56b4e9",
  PodTopologySpread: "#009e73",
  InterPodAffinity: "#e69f00",
  TaintToleration: "#d55e00",
  NodeAffinity: "#cc79a7",
  ImageLocality: "#8c8c00",
  VolumeBinding: "#7f5fa8",
  DynamicResources: "#4d8f3c",
  NodeUnschedulable: "#8a8f98",
  NodeName: "#a0765b",
  NodePorts: "#c0508f",
  NodeVolumeLimits: "#5f7fbf",
  VolumeZone: "#937fb5",
  VolumeRestrictions: "#6d6fa0",
  NodeDeclaredFeatures: "#708090",
  GPUShare: "#b3541e",
  Coscheduling: "#3f7f93",
};
const OTHER_COLOURS = ["#a3506f", "#4f8a8b", "#8f7a3a", "#6a6fc1", "#7c9a3d", "#b06a3b", "#5b8c6e", "#9a6fa8"];

/** @param {string} plugin */
export function pluginColour(plugin) {
  const known = PLUGIN_COLOURS[plugin];
  if (known) return known;
  let sum = 0;
  for (const letter of plugin) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
  return OTHER_COLOURS[sum % OTHER_COLOURS.length] ?? "#708090";
}

/** A plugin's name behind its colour. @param {string} plugin @param {string} [more] */
export function pluginChip(plugin, more = "") {
  return h("span", { class: "chip" }, h("i", { class: "dot", style: { background: pluginColour(plugin) } }), plugin, more && h("b", {}, more));
}

// Light to dark, one hue: readable without telling colours apart. Dark themes run the other way.
const RAMP = ["#e8f1fa", "#cfe2f3", "#aecde9", "#84b2dc", "#5993ca", "#3474b4", "#1c5696", "#0d3b73", "#04234d"];
const RAMP_DARK = ["#22303f", "#22405c", "#205279", "#216697", "#2f7cb5", "#4d95cf", "#77b0e2", "#a8cdf1", "#dcedfd"];

/** @param {boolean} dark @returns {string[]} 64 colours, empty to full */
export function heatRamp(dark) {
  const stops = (dark ? RAMP_DARK : RAMP).map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return Array.from({ length: 64 }, (_, at) => {
    const place = (at / 63) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const [from, to] = [stops[low] ?? [], stops[low + 1] ?? []];
    const mixed = from.map((value, channel) => Math.round(value + ((to[channel] ?? 0) - value) * (place - low)));
    return `rgb(${mixed.join(",")})`;
  });
}

export function isDark() {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** A bar with its share as text. @param {number} part @param {number} whole */
export function meter(part, whole) {
  const share = whole > 0 ? part / whole : 0;
  return h(
    "span",
    { class: "meter", role: "img", "aria-label": formatPercent(share) },
    h("i", { style: { width: `${Math.min(100, share * 100)}%` } }),
  );
}
