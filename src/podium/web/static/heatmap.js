// Nodes as cells on a canvas: grouped, coloured by a share, with zoom, pan and keyboard.
//
// The layout is worked out once for the whole table, in coordinates of its own; a frame draws the
// cells that can be seen. Changed values only need a new frame.
// @ts-check
import { heatRamp, isDark } from "./format.js";

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

const HEAD = 20;
const GAP = 10;
const MAX_CELL = 150;
const MIN_CELL = 3;
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
    /** @type {Float32Array} */
    this.x = new Float32Array(0);
    /** @type {Float32Array} */
    this.y = new Float32Array(0);
    /** @type {number[]} */
    this.order = [];
    /** @type {{name: string, x: number, y: number, width: number, count: number}[]} */
    this.heads = [];
    this.cell = MAX_CELL;
    this.height = 0;
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.selected = -1;
    this.framesMs = /** @type {number[]} */ ([]);
    this._wanted = false;
    this._listen();
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

  /** Give every node its place: groups side by side, cells as large as fits. */
  arrange() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!this.picture || !width || !height) return;
    const groups = this.picture.groups.filter((group) => group.members.length);
    let columns = 1;
    let best = { cell: 0, columns: 1 };
    while (columns <= Math.max(1, groups.length)) {
      const cell = this._largestCell(groups, width, height, columns);
      if (cell >= best.cell) best = { cell, columns };
      columns += columns < 12 ? 1 : columns;
    }
    this.cell = Math.max(best.cell, MIN_CELL);
    this._place(groups, width, best.columns);
    this.clamp();
    this.redraw();
  }

  /**
   * @param {{members: number[]}[]} groups
   * @param {number} width @param {number} height @param {number} columns
   */
  _largestCell(groups, width, height, columns) {
    let [low, high] = [MIN_CELL, MAX_CELL];
    const block = (width - GAP) / columns - GAP;
    const fits = (/** @type {number} */ cell) => cell <= block && this._extent(groups, width, columns, cell) <= height;
    if (fits(high)) return high;
    if (!fits(low)) return low / (this._extent(groups, width, columns, low) / height);
    while (high - low > 0.5) {
      const middle = (low + high) / 2;
      if (fits(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /**
   * How high everything is with cells of a size.
   * @param {{members: number[]}[]} groups
   * @param {number} width @param {number} columns @param {number} cell
   */
  _extent(groups, width, columns, cell) {
    const block = (width - GAP) / columns - GAP;
    const across = Math.max(1, Math.floor(block / cell));
    const heights = new Array(columns).fill(GAP);
    for (const group of groups) {
      const at = heights.indexOf(Math.min(...heights));
      heights[at] += HEAD + Math.ceil(group.members.length / across) * cell + GAP;
    }
    return Math.max(...heights);
  }

  /**
   * @param {{name: string, members: number[]}[]} groups
   * @param {number} width @param {number} columns
   */
  _place(groups, width, columns) {
    const count = groups.reduce((most, group) => group.members.reduce((a, b) => Math.max(a, b), most), -1) + 1;
    this.x = new Float32Array(count);
    this.y = new Float32Array(count);
    this.order = [];
    this.heads = [];
    const block = (width - GAP) / columns - GAP;
    const across = Math.max(1, Math.floor(block / this.cell));
    const heights = new Array(columns).fill(GAP);
    for (const group of groups) {
      const column = heights.indexOf(Math.min(...heights));
      const left = GAP + column * (block + GAP);
      const top = heights[column];
      this.heads.push({ name: group.name, x: left, y: top, width: block, count: group.members.length });
      group.members.forEach((node, at) => {
        this.x[node] = left + (at % across) * this.cell;
        this.y[node] = top + HEAD + Math.floor(at / across) * this.cell;
        this.order.push(node);
      });
      heights[column] = top + HEAD + Math.ceil(group.members.length / across) * this.cell + GAP;
    }
    this.height = Math.max(...heights);
    this.across = across;
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
    const size = this.cell * this.scale;
    const inner = Math.max(size - (size > 6 ? (size > 60 ? 6 : 1) : 0), 1);
    const large = size >= 64;
    for (const node of this.order) {
      const x = (/** @type {number} */ (this.x[node]) - this.left) * this.scale;
      const y = (/** @type {number} */ (this.y[node]) - this.top) * this.scale;
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
    if (this.selected >= 0 && this.selected < this.x.length) this._outline(context, size, inner, colours.accent);
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
    if (HEAD * this.scale < 9) return;
    for (const each of this.heads) {
      const y = (each.y + HEAD / 2 - this.top) * this.scale;
      const x = Math.max((each.x - this.left) * this.scale, 4);
      const room = Math.min((each.x + each.width - this.left) * this.scale, width) - x;
      if (y < -HEAD || room < 24) continue;
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
    const x = (/** @type {number} */ (this.x[this.selected]) - this.left) * this.scale;
    const y = (/** @type {number} */ (this.y[this.selected]) - this.top) * this.scale;
    const grown = Math.max(0, 10 - size) / 2;
    context.strokeStyle = accent;
    context.lineWidth = 3;
    context.strokeRect(x - grown - 1, y - grown - 1, inner + 2 * grown + 2, inner + 2 * grown + 2);
  }

  // --- looking around ----------------------------------------------------------------------------

  clamp() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.left = Math.max(0, Math.min(this.left, width - width / this.scale));
    this.top = Math.max(0, Math.min(this.top, Math.max(0, this.height - height / this.scale)));
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
    if (node >= 0 && node < this.x.length) this._reveal(node);
    this.redraw();
  }

  /** @param {number} node */
  _reveal(node) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const x = /** @type {number} */ (this.x[node]);
    const y = /** @type {number} */ (this.y[node]);
    if (x < this.left || x + this.cell > this.left + width / this.scale) this.left = x - width / this.scale / 2;
    if (y < this.top || y + this.cell > this.top + height / this.scale) this.top = y - height / this.scale / 2;
    this.clamp();
  }

  /** The node at a point of the canvas, or -1. @param {number} x @param {number} y */
  nodeAt(x, y) {
    const [worldX, worldY] = [x / this.scale + this.left, y / this.scale + this.top];
    for (const node of this.order) {
      const [left, top] = [/** @type {number} */ (this.x[node]), /** @type {number} */ (this.y[node])];
      if (worldX >= left && worldX < left + this.cell && worldY >= top && worldY < top + this.cell) return node;
    }
    return -1;
  }

  _listen() {
    const { canvas } = this;
    /** @type {Map<number, {x: number, y: number}>} */
    const fingers = new Map();
    let moved = false;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.002), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      moved = false;
    });
    canvas.addEventListener("pointermove", (event) => {
      const held = fingers.get(event.pointerId);
      if (!held) {
        this.listeners.onHover(this.nodeAt(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
        return;
      }
      const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, finger]) => finger);
      const other = others[0];
      if (other) {
        const before = Math.hypot(held.x - other.x, held.y - other.y);
        const after = Math.hypot(event.offsetX - other.x, event.offsetY - other.y);
        if (before > 0) this.zoom(after / before, (event.offsetX + other.x) / 2, (event.offsetY + other.y) / 2);
        moved = true;
      } else if (moved || Math.hypot(event.offsetX - held.x, event.offsetY - held.y) > 4) {
        moved = true;
        this.left -= (event.offsetX - held.x) / this.scale;
        this.top -= (event.offsetY - held.y) / this.scale;
        this.clamp();
        this.redraw();
      }
      if (moved) fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    });
    const release = (/** @type {PointerEvent} */ event) => {
      if (fingers.delete(event.pointerId) && !moved && event.type === "pointerup") {
        const node = this.nodeAt(event.offsetX, event.offsetY);
        if (node >= 0) this.listeners.onSelect(node);
      }
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => this.listeners.onHover(-1, 0, 0));
    canvas.addEventListener("keydown", (event) => this._press(event));
  }

  /** @param {KeyboardEvent} event */
  _press(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.fit();
    else if (event.key === "Home") this._move(this.order[0] ?? -1);
    else if (event.key === "End") this._move(this.order[this.order.length - 1] ?? -1);
    else if (event.key === "Enter" && this.selected >= 0) this.listeners.onSelect(this.selected);
    else if (steps) this._move(this._neighbour(steps[0] ?? 0, steps[1] ?? 0));
    else return;
    event.preventDefault();
  }

  /** @param {number} node */
  _move(node) {
    if (node < 0) return;
    this.select(node);
    const x = (/** @type {number} */ (this.x[node]) - this.left) * this.scale;
    const y = (/** @type {number} */ (this.y[node]) - this.top) * this.scale;
    this.listeners.onHover(node, x + 8, y + 8);
  }

  /** The nearest node in a direction. @param {number} stepX @param {number} stepY */
  _neighbour(stepX, stepY) {
    if (this.selected < 0) return this.order[0] ?? -1;
    const [x, y] = [/** @type {number} */ (this.x[this.selected]), /** @type {number} */ (this.y[this.selected])];
    let [found, nearest] = [this.selected, Infinity];
    for (const node of this.order) {
      const [right, down] = [/** @type {number} */ (this.x[node]) - x, /** @type {number} */ (this.y[node]) - y];
      const along = right * stepX + down * stepY;
      if (along <= 0.5) continue;
      const distance = along + 4 * Math.abs(right * stepY) + 4 * Math.abs(down * stepX);
      if (distance < nearest) [found, nearest] = [node, distance];
    }
    return found;
  }
}
