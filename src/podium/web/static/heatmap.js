// Nodes as cells on a canvas: coloured by a share, drawn as far as they can be seen, zoomed.
//
// The layout is worked out once for the whole table; a frame draws the cells that can be seen.
// Changed values only need a new frame.
// @ts-check
import { heatRamp, isDark } from "./format.js";
import { listenToKeys, listenToPointers } from "./heatmap_input.js";
import { HEAD_HEIGHT, HeatMapLayout } from "./heatmap_layout.js";

/**
 * `share` is from 0 to 1 and more, NaN where a node has nothing of the resource; `dimmed` nodes do
 * not match the search. `label` and `lines` are what a cell says if it is large enough.
 * @typedef {{
 *   groups: {name: string, members: number[]}[],
 *   share: (node: number) => number,
 *   dimmed: (node: number) => boolean,
 *   marked: (node: number) => string,
 *   label: (node: number) => string,
 *   lines: (node: number) => string[],
 * }} Picture
 */

const MAX_ZOOM = 40;

export class HeatMap {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{onSelect: (node: number) => void, onHover: (node: number, x: number, y: number) => void}} listeners
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
    this.layout.arrange(this.picture.groups, width, height);
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
    const style = getComputedStyle(canvas);
    const colours = {
      back: style.getPropertyValue("background-color"),
      text: style.color,
      none: style.getPropertyValue("border-top-color"),
      accent: style.getPropertyValue("outline-color"),
    };
    context.setTransform(density, 0, 0, density, 0, 0);
    context.fillStyle = colours.back;
    context.fillRect(0, 0, width, height);
    const ramp = heatRamp(isDark());
    const size = this.layout.cell * this.scale;
    const inner = Math.max(size - (size > 6 ? (size > 60 ? 6 : 1) : 0), 1);
    const large = size >= 64;
    for (const node of this.layout.order) {
      const x = (/** @type {number} */ (this.layout.x[node]) - this.left) * this.scale;
      const y = (/** @type {number} */ (this.layout.y[node]) - this.top) * this.scale;
      if (x > width || y > height || x + size < 0 || y + size < 0) continue;
      const share = picture.share(node);
      const has = !Number.isNaN(share);
      const step = has ? Math.min(63, Math.max(0, Math.round(share * 63))) : 0;
      context.globalAlpha = picture.dimmed(node) ? 0.12 : 1;
      context.fillStyle = has ? /** @type {string} */ (ramp[step]) : colours.none;
      context.fillRect(x, y, inner, inner);
      if (size >= 8) this._mark(context, picture.marked(node), x, y, inner, share, colours);
      if (large) this._write(context, node, x, y, inner, step, colours);
    }
    context.globalAlpha = 1;
    this._drawHeads(context, width, colours);
    if (this.selected >= 0 && this.selected < this.layout.x.length) this._outline(context, size, inner, colours.accent);
  }

  /**
   * Signs beside the colour: a stroke through cordoned nodes, a corner for taints, a frame for
   * more than all.
   * @param {CanvasRenderingContext2D} context
   * @param {string} mark
   * @param {number} x @param {number} y @param {number} inner @param {number} share
   * @param {{text: string}} colours
   */
  _mark(context, mark, x, y, inner, share, colours) {
    context.strokeStyle = context.fillStyle = colours.text;
    context.lineWidth = 1;
    if (mark.includes("c")) {
      context.beginPath();
      context.moveTo(x, y + inner);
      context.lineTo(x + inner, y);
      context.stroke();
    }
    if (mark.includes("t")) {
      const corner = Math.min(inner / 3, 10);
      context.beginPath();
      context.moveTo(x + inner - corner, y);
      context.lineTo(x + inner, y);
      context.lineTo(x + inner, y + corner);
      context.fill();
    }
    if (share > 1) context.strokeRect(x + 0.5, y + 0.5, inner - 1, inner - 1);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} node
   * @param {number} x @param {number} y @param {number} inner @param {number} step
   * @param {{text: string, back: string}} colours
   */
  _write(context, node, x, y, inner, step, colours) {
    const picture = /** @type {Picture} */ (this.picture);
    const flips = isDark() ? step > 34 : step > 28;
    context.save();
    context.beginPath();
    context.rect(x, y, inner, inner);
    context.clip();
    context.fillStyle = flips ? colours.back : colours.text;
    context.textBaseline = "top";
    context.font = "600 12px system-ui, sans-serif";
    context.fillText(picture.label(node), x + 7, y + 7);
    context.font = "12px system-ui, sans-serif";
    picture.lines(node).forEach((line, at) => {
      if (26 + at * 16 < inner - 12) context.fillText(line, x + 7, y + 26 + at * 16);
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
      let text = `${each.name}  ·  ${each.count.toLocaleString("en-US")}`;
      while (text.length > 2 && context.measureText(text).width > room) text = `${text.slice(0, -3)}…`;
      context.fillText(text, x, y);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} size @param {number} inner @param {string} accent
   */
  _outline(context, size, inner, accent) {
    const x = (/** @type {number} */ (this.layout.x[this.selected]) - this.left) * this.scale;
    const y = (/** @type {number} */ (this.layout.y[this.selected]) - this.top) * this.scale;
    const grown = Math.max(0, 10 - size) / 2;
    context.strokeStyle = accent;
    context.lineWidth = 3;
    context.strokeRect(x - grown - 1, y - grown - 1, inner + 2 * grown + 2, inner + 2 * grown + 2);
  }

  // --- looking around ----------------------------------------------------------------------------

  clamp() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.left = Math.max(0, Math.min(this.left, width - width / this.scale));
    this.top = Math.max(0, Math.min(this.top, Math.max(0, this.layout.height - height / this.scale)));
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
  }

  fit() {
    this.scale = 1;
    this.left = this.top = 0;
    this.redraw();
  }

  /** @param {number} node */
  select(node) {
    this.selected = node;
    if (node >= 0 && node < this.layout.x.length) this._reveal(node);
    this.redraw();
  }

  /** @param {number} node */
  _reveal(node) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const x = /** @type {number} */ (this.layout.x[node]);
    const y = /** @type {number} */ (this.layout.y[node]);
    if (x < this.left || x + this.layout.cell > this.left + width / this.scale) this.left = x - width / this.scale / 2;
    if (y < this.top || y + this.layout.cell > this.top + height / this.scale) this.top = y - height / this.scale / 2;
    this.clamp();
  }

  /** The node at a point of the canvas, or -1. @param {number} x @param {number} y */
  nodeAt(x, y) {
    return this.layout.nodeAt(x / this.scale + this.left, y / this.scale + this.top);
  }
}
