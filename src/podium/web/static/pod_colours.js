// What pods are coloured by: their workload, namespace, priority or age.
//
// Eight colours that people with any kind of colour vision tell apart (Okabe and Ito), each with a
// texture of its own where blocks are large enough; all others share a grey. Who has a colour keeps
// it while one looks. Priority and age have an order, and so do their shades.
// @ts-check

/** @typedef {import("./pods_on_nodes.js").PodsOnNodes} PodsOnNodes */
/** @typedef {import("./pods_on_nodes.js").MapPod} MapPod */
/** @typedef {{name: string, shade: Shade, pods: number}} Category */
/** `light` is the colour of the paper, of light and dark themes. @typedef {{light: string, dark: string, texture: number}} Shade */

export const COLOURINGS = { workload: "workload", namespace: "namespace", priority: "priority", age: "age" };

/** @type {Shade[]} */
const PALETTE = [
  { light: "#0072b2", dark: "#3a93d0", texture: 0 },
  { light: "#e69f00", dark: "#e69f00", texture: 0 },
  { light: "#009e73", dark: "#12a57d", texture: 1 },
  { light: "#cc79a7", dark: "#cc79a7", texture: 2 },
  { light: "#56b4e9", dark: "#7cc8f2", texture: 3 },
  { light: "#d55e00", dark: "#d9691a", texture: 4 },
  { light: "#e8d92f", dark: "#e8dc4a", texture: 5 },
  { light: "#6a4c93", dark: "#9579c4", texture: 6 },
];
/** @type {Shade} */
const OTHERS = { light: "#8b95a0", dark: "#78838f", texture: 0 };
// One hue from light to dark, on dark paper from dark to light.
const RANKS = ["#cfe2f3", "#84b2dc", "#3474b4", "#1c5696", "#04234d"];
const RANKS_DARK = ["#205279", "#216697", "#4d95cf", "#a8cdf1", "#dcedfd"];
/** @type {[number, string][]} seconds, and what is younger */
const AGES = [[60, "under a minute"], [600, "under 10 minutes"], [3600, "under an hour"], [86400, "under a day"], [Infinity, "a day and more"]];
/** @type {[number, string][]} */
const PRIORITIES = [[-1, "below 0"], [0, "0"], [999_999, "1 to 999,999"], [1_999_999_999, "1,000,000 and more"], [Infinity, "system"]];
const UNKNOWN = "not known";

export class PodColours {
  constructor() {
    this.by = "workload";
    /** @type {Map<string, Shade>} */
    this.given = new Map();
  }

  /** @param {string} by */
  choose(by) {
    if (by === this.by) return;
    this.by = by;
    this.given = new Map();
  }

  /**
   * Give those a colour that have most pods; who has one keeps it while he has pods, and as long as
   * nobody else waits for one. Says whether any was given.
   * @param {PodsOnNodes} pods
   */
  assign(pods) {
    if (this.by !== "workload" && this.by !== "namespace") return false;
    const counts = this._count(pods);
    const isShort = [...counts.keys()].filter(Boolean).length > this.given.size;
    for (const name of this.given.keys()) if (isShort && !counts.has(name)) this.given.delete(name);
    const taken = new Set(this.given.values());
    const free = PALETTE.filter((shade) => !taken.has(shade));
    const waiting = [...counts].filter(([name]) => name && !this.given.has(name)).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const chosen = waiting.slice(0, free.length);
    for (const [name] of chosen) this.given.set(name, /** @type {Shade} */ (free.shift()));
    return chosen.length > 0;
  }

  /** @param {PodsOnNodes} pods @returns {Map<string, number>} */
  _count(pods) {
    const counts = new Map();
    for (const list of pods.byNode.values())
      for (const pod of list) {
        const name = this.categoryOf(pod, pods.now);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    return counts;
  }

  /** What a pod counts as. @param {MapPod} pod @param {number} now */
  categoryOf(pod, now) {
    const { template } = pod;
    if (this.by === "namespace") return template.namespace;
    if (this.by === "priority") return (PRIORITIES.find(([most]) => template.priority <= most) ?? ["", UNKNOWN])[1];
    if (this.by === "age") return pod.created ? (AGES.find(([most]) => now - pod.created < most) ?? ["", UNKNOWN])[1] : UNKNOWN;
    return workloadOf(pod);
  }

  /** @param {MapPod} pod @param {number} now @returns {Shade} */
  shadeOf(pod, now) {
    return this.shadeOfCategory(this.categoryOf(pod, now));
  }

  /** @param {string} category @returns {Shade} */
  shadeOfCategory(category) {
    const ranks = this.by === "priority" ? PRIORITIES : this.by === "age" ? AGES : null;
    if (!ranks) return this.given.get(category) ?? OTHERS;
    const at = ranks.findIndex(([, name]) => name === category);
    // The youngest are what one looks for: they stand out as the highest priorities do.
    const rank = this.by === "age" ? RANKS.length - 1 - at : at;
    return at < 0 ? OTHERS : { light: RANKS[rank] ?? "", dark: RANKS_DARK[rank] ?? "", texture: 0 };
  }

  /** What the colours mean, most pods first or in their order. @param {PodsOnNodes} pods @returns {Category[]} */
  legend(pods) {
    const counts = this._count(pods);
    const ranks = this.by === "priority" ? PRIORITIES : this.by === "age" ? AGES : null;
    if (ranks) return ranks.map(([, name]) => ({ name, shade: this.shadeOfCategory(name), pods: counts.get(name) ?? 0 })).filter((each) => each.pods);
    const named = [...this.given].filter(([name]) => counts.has(name)).map(([name, shade]) => ({ name, shade, pods: counts.get(name) ?? 0 })).sort((a, b) => b.pods - a.pods);
    const rest = [...counts].filter(([name]) => !this.given.has(name));
    const left = rest.reduce((sum, [, count]) => sum + count, 0);
    const others = rest.filter(([name]) => name).length;
    const name = !others ? "no workload" : others === 1 && rest.length === 1 ? (rest[0]?.[0] ?? "") : `${others} others`;
    return left ? [...named, { name, shade: OTHERS, pods: left }] : named;
  }
}

/** A pod's workload as namespace/name, empty if nothing tells it. @param {MapPod} pod */
export function workloadOf(pod) {
  const { namespace, workload } = pod.template;
  return workload ? `${namespace}/${workload}` : "";
}

// --- textures ------------------------------------------------------------------------------------

/** Lines and dots of a tile of 8 by 8. */
const TEXTURES = ["", "M-1 9L9 -1M-1 1L1 -1M7 9L9 7", "M2 2h1.6v1.6h-1.6zM6 6h1.6v1.6h-1.6z", "M0 2H8M0 6H8", "M-1 -1L9 9M7 -1L9 1M-1 7L1 9", "M2 0V8M6 0V8", "M0 4H8M4 0V8"];
/** @type {Map<string, string | CanvasPattern>} */
const fills = new Map();

/** A colour with its texture, to fill large blocks with. @param {CanvasRenderingContext2D} context @param {Shade} shade @param {boolean} dark */
export function texturedFill(context, shade, dark) {
  const colour = dark ? shade.dark : shade.light;
  if (!shade.texture) return colour;
  const known = fills.get(`${colour} ${shade.texture}`);
  if (known) return known;
  const density = Math.max(1, Math.round(devicePixelRatio || 1));
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8 * density;
  const draw = tile.getContext("2d");
  if (!draw) return colour;
  draw.scale(density, density);
  draw.fillStyle = colour;
  draw.fillRect(0, 0, 8, 8);
  draw.strokeStyle = isLight(colour) ? "rgb(0 0 0 / .28)" : "rgb(255 255 255 / .32)";
  draw.lineWidth = 1;
  draw.stroke(new Path2D(TEXTURES[shade.texture] ?? ""));
  const fill = context.createPattern(tile, "repeat") ?? colour;
  if (fill instanceof CanvasPattern) fill.setTransform(new DOMMatrix().scale(1 / density));
  fills.set(`${colour} ${shade.texture}`, fill);
  return fill;
}

/** Whether black can be read on a colour better than white. @param {string} hex */
export function isLight(hex) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => (parseInt(hex.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}
