// Nodes as cells on a canvas: filled by their pods or coloured by a share, drawn as far as they can
// be seen, zoomed.
//
// The layout is worked out once for the whole table; a frame draws the cells that can be seen.
// Changed values only need a new frame, and whoever has just come or gone a few more.
// @ts-check
import { heatRamp, isDark } from "./format.js";
import { listenToKeys, listenToPointers } from "./heatmap_input.js";
import { HEAD_HEIGHT, HeatMapLayout } from "./heatmap_layout.js";
import { blockAt, blockPlaces, cutInTheMiddle, drawContent, drawGround, drawStates } from "./node_cell.js";
import { drawMoves } from "./pod_moves.js";

/** @typedef {import("./node_cell.js").Cell} Cell */
/** @typedef {import("./node_cell.js").Colours} Colours */
/** @typedef {import("./node_cell.js").Content} Content */
/** @typedef {import("./pod_moves.js").Moves} Moves */
/**
 * `share` is from 0 to 1 and more, NaN where a node has nothing of the resource; `dimmed` nodes do
 * not match the search. `label` and `lines` are what a cell says if it is large enough. With
 * `content` cells show their pods, else how full they are; with `weight` their size follows it.
 * @typedef {{
 *   groups: {name: string, members: number[]}[],
 *   share: (node: number) => number,
 *   dimmed: (node: number) => boolean,
 *   states: (node: number) => string[],
 *   label: (node: number) => string,
 *   figure: (node: number) => string,
 *   lines: (node: number) => string[],
 *   podLines?: (node: number, pod: number) => string[],
 *   content?: (node: number) => Content,
 *   weight?: (node: number) => number,
 *   moves?: Moves,
 * }} Picture
 */

const MAX_ZOOM = 40;

export class HeatMap {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{onSelect: (node: number, pod: number) => void, onHover: (node: number, x: number, y: number, pod: number) => void, onView?: () => void}} listeners
   */
  constructor(canvas, listeners) {
    this.canvas = canvas;
    this.listeners = listeners;
    /** @type {Picture | null} */
    this.picture = null;
    this.layout = new HeatMapLayout();
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.selected = -1;
    /** Its pod, wherever its block is by now. */
    this.selectedKey = "";
    this.framesMs = /** @type {number[]} */ ([]);
    this._wanted = false;
    listenToPointers(this);
    listenToKeys(this);
    this._resizing = new ResizeObserver(() => this.arrange());
    this._resizing.observe(canvas);
  }

  end() {
    this._resizing.disconnect();
  }

  /** @param {Picture} picture */
  show(picture) {
    this.picture = picture;
    this.arrange();
  }

  arrange() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!this.picture || !width || !height) return;
    this.layout.arrange(this.picture.groups, width, height, this.picture.weight);
    this.clamp();
    this.redraw();
  }

  // --- drawing -----------------------------------------------------------------------------------

  redraw() {
    if (this._wanted) return;
    this._wanted = true;
    requestAnimationFrame(() => {
      this._wanted = false;
      const begun = performance.now();
      this._draw();
      this.framesMs.push(performance.now() - begun);
      if (this.framesMs.length > 300) this.framesMs.shift();
    });
  }

  _draw() {
    const { canvas, picture } = this;
    const context = canvas.getContext("2d", { alpha: false });
    if (!context || !picture) return;
    const density = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    const [pixelsX, pixelsY] = [Math.round(width * density), Math.round(height * density)];
    if (canvas.width !== pixelsX || canvas.height !== pixelsY) {
      canvas.width = pixelsX;
      canvas.height = pixelsY;
    }
    const colours = readColours(canvas);
    context.setTransform(density, 0, 0, density, 0, 0);
    context.fillStyle = colours.back;
    context.fillRect(0, 0, width, height);
    const dark = isDark();
    const ramp = heatRamp(dark);
    const visible = this.visibleNodes();
    /** @type {[number, Cell][]} */
    const marked = [];
    if (picture.content) drawGround(context, visible.map(([, cell]) => cell), colours);
    for (const [node, cell] of visible) {
      const states = picture.states(node);
      const isLarge = cell.width >= 64 && cell.height >= 42;
      const content = picture.content?.(node);
      context.globalAlpha = picture.dimmed(node) ? 0.12 : 1;
      if (content) drawContent(context, cell, content, colours, dark);
      else {
        this._drawShare(context, node, cell, ramp, colours);
        if (isLarge) this._write(context, node, cell, ramp, colours);
      }
      if (states.length || (content && isLarge)) marked.push([node, cell]);
    }
    // Signs of tiny nodes are larger than these: they come on top of all.
    for (const [node, cell] of marked) {
      context.globalAlpha = picture.dimmed(node) ? 0.12 : 1;
      drawStates(context, cell, picture.states(node), colours, picture.content ? { name: picture.label(node), figure: picture.figure(node) } : null);
    }
    context.globalAlpha = 1;
    this._drawHeads(context, width, colours);
    if (picture.moves && drawMoves(context, picture.moves, (node) => this.placeOf(node), colours, dark)) this.redraw();
    const chosen = this.layout.place(this.selected);
    if (chosen) this._outline(context, this.cell(this.selected), colours.accent);
  }

  /** A node's cell on the canvas. @param {number} node @returns {Cell} */
  cell(node) {
    const { layout, scale } = this;
    const width = /** @type {number} */ (layout.width[node]) * scale;
    const height = /** @type {number} */ (layout.height[node]) * scale;
    const side = Math.min(width, height);
    const gap = side > 60 ? 6 : side > 24 ? 3 : side > 5 ? 1 : 0;
    return {
      x: (/** @type {number} */ (layout.x[node]) - this.left) * scale,
      y: (/** @type {number} */ (layout.y[node]) - this.top) * scale,
      width: Math.max(width - gap, 1),
      height: Math.max(height - gap, 1),
    };
  }

  /** A node's cell with what is in it, null where it cannot be seen. @param {number} node */
  placeOf(node) {
    const content = this.layout.place(node) && this.picture?.content?.(node);
    return content ? { cell: this.cell(node), content } : null;
  }

  /** Nodes that can be seen, with their cells. */
  visibleNodes() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    /** @type {[number, Cell][]} */
    const found = [];
    for (const node of this.layout.order) {
      const cell = this.cell(node);
      if (cell.x <= width && cell.y <= height && cell.x + cell.width >= 0 && cell.y + cell.height >= 0) found.push([node, cell]);
    }
    return found;
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number} node @param {Cell} cell
   * @param {string[]} ramp @param {Colours} colours
   */
  _drawShare(context, node, cell, ramp, colours) {
    const share = /** @type {Picture} */ (this.picture).share(node);
    const step = Math.min(63, Math.max(0, Math.round(share * 63)));
    context.fillStyle = Number.isNaN(share) ? colours.none : /** @type {string} */ (ramp[step]);
    context.fillRect(cell.x, cell.y, cell.width, cell.height);
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number} node @param {Cell} cell
   * @param {string[]} ramp @param {Colours} colours
   */
  _write(context, node, cell, ramp, colours) {
    const picture = /** @type {Picture} */ (this.picture);
    const share = picture.share(node);
    const flips = Math.round((share || 0) * (ramp.length - 1)) > (isDark() ? 34 : 28);
    context.save();
    context.beginPath();
    context.rect(cell.x, cell.y, cell.width, cell.height);
    context.clip();
    context.fillStyle = flips ? colours.back : colours.text;
    context.textBaseline = "top";
    context.font = "600 12px system-ui, sans-serif";
    context.fillText(picture.label(node), cell.x + 7, cell.y + 7);
    context.font = "12px system-ui, sans-serif";
    picture.lines(node).forEach((line, at) => {
      if (26 + at * 16 < cell.height - 12) context.fillText(line, cell.x + 7, cell.y + 26 + at * 16);
    });
    context.restore();
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number} width
   * @param {{text: string}} colours
   */
  _drawHeads(context, width, colours) {
    context.fillStyle = colours.text;
    context.textBaseline = "middle";
    context.font = "600 12px system-ui, sans-serif";
    if (HEAD_HEIGHT * this.scale < 9) return;
    for (const each of this.layout.heads) {
      const y = (each.y + HEAD_HEIGHT / 2 - this.top) * this.scale;
      const x = Math.max((each.x - this.left) * this.scale, 4);
      const room = Math.min((each.x + each.width - this.left) * this.scale, width) - x;
      if (y < -HEAD_HEIGHT || room < 24) continue;
      const text = `${each.name}  ·  ${each.count.toLocaleString("en-US")}`;
      const fits = context.measureText(text).width <= room;
      context.fillText(fits ? text : cutInTheMiddle(each.name, Math.max(2, Math.floor(room / 7))), x, y, room);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Cell} cell @param {string} accent */
  _outline(context, cell, accent) {
    const grown = Math.max(0, 10 - Math.min(cell.width, cell.height)) / 2;
    context.strokeStyle = accent;
    context.lineWidth = 3;
    context.strokeRect(cell.x - grown - 1, cell.y - grown - 1, cell.width + 2 * grown + 2, cell.height + 2 * grown + 2);
    const pod = this.podPlace(this.selected, this.selectedPod);
    if (!pod) return;
    context.strokeRect(pod.x - 1, pod.y - 1, pod.width + 1, pod.height + 1);
  }

  /** Where a pod's block is on the canvas, null if it has none. @param {number} node @param {number} pod */
  podPlace(node, pod) {
    const found = pod >= 0 ? this.placeOf(node) : null;
    const place = found && blockPlaces(found.cell, found.content)?.[pod];
    return place ? { x: found.cell.x + place.x, y: found.cell.y + place.y, width: place.width, height: place.height } : null;
  }

  // --- looking around ----------------------------------------------------------------------------

  clamp() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.left = Math.max(0, Math.min(this.left, width - width / this.scale));
    this.top = Math.max(0, Math.min(this.top, Math.max(0, this.layout.bottom - height / this.scale)));
  }

  /**
   * Zoom by a factor around a point of the canvas.
   * @param {number} factor @param {number} [x] @param {number} [y]
   */
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const next = Math.max(1, Math.min(MAX_ZOOM, this.scale * factor));
    this.left += x / this.scale - x / next;
    this.top += y / this.scale - y / next;
    this.scale = next;
    this.clamp();
    this.redraw();
    this.listeners.onView?.();
  }

  fit() {
    this.scale = 1;
    this.left = this.top = 0;
    this.redraw();
    this.listeners.onView?.();
  }

  /** @param {number} node @param {number} [pod] */
  select(node, pod = -1) {
    this.selected = node;
    this.selectedKey = (pod >= 0 && this.placeOf(node)?.content.blocks[pod]?.key) || "";
    const place = this.layout.place(node);
    if (place) this._reveal(place);
    this.redraw();
  }

  /** Where the selected pod is among those of its node, -1 without one. */
  get selectedPod() {
    return this.selectedKey ? (this.placeOf(this.selected)?.content.blocks.findIndex((block) => block.key === this.selectedKey) ?? -1) : -1;
  }

  /** @param {import("./treemap.js").Rectangle} place */
  _reveal(place) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (place.x < this.left || place.x + place.width > this.left + width / this.scale) this.left = place.x + place.width / 2 - width / this.scale / 2;
    if (place.y < this.top || place.y + place.height > this.top + height / this.scale) this.top = place.y + place.height / 2 - height / this.scale / 2;
    this.clamp();
  }

  /** The node at a point of the canvas, or -1. @param {number} x @param {number} y */
  nodeAt(x, y) {
    return this.layout.nodeAt(x / this.scale + this.left, y / this.scale + this.top);
  }

  /** The pod at a point of the canvas within a node, or -1. @param {number} node @param {number} x @param {number} y */
  podAt(node, x, y) {
    const found = this.placeOf(node);
    return found ? blockAt(found.cell, found.content, x - found.cell.x, y - found.cell.y) : -1;
  }
}

/** @param {HTMLElement} element @returns {Colours} */
function readColours(element) {
  const style = getComputedStyle(element);
    return {
    back: style.backgroundColor,
    text: style.color,
    none: style.borderTopColor,
    accent: style.outlineColor,
    bad: style.borderRightColor,
    warn: style.borderBottomColor,
    soft: style.columnRuleColor,
  };
}
