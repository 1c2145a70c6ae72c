// Where each node's cell is: groups side by side, cells as large as fits.
//
// Coordinates are the layout's own; whoever draws it adds zoom and position.
// @ts-check

/** @typedef {{name: string, members: number[]}} Group */

const GAP = 10;
const MAX_CELL = 150;
const MIN_CELL = 3;

/** Of the line with a group's name. */
export const HEAD_HEIGHT = 20;

export class HeatMapLayout {
  constructor() {
    /** @type {Float32Array} */
    this.x = new Float32Array(0);
    /** @type {Float32Array} */
    this.y = new Float32Array(0);
    /** Nodes as they follow each other. @type {number[]} */
    this.order = [];
    /** @type {{name: string, x: number, y: number, width: number, count: number}[]} */
    this.heads = [];
    this.cell = MAX_CELL;
    this.height = 0;
  }

  /**
   * Give every node its place.
   * @param {Group[]} all @param {number} width @param {number} height
   */
  arrange(all, width, height) {
    const groups = all.filter((group) => group.members.length);
    let columns = 1;
    let best = { cell: 0, columns: 1 };
    while (columns <= Math.max(1, groups.length)) {
      const cell = this._largestCell(groups, width, height, columns);
      if (cell >= best.cell) best = { cell, columns };
      columns += columns < 12 ? 1 : columns;
    }
    this.cell = Math.max(best.cell, MIN_CELL);
    this._place(groups, width, best.columns);
  }

  /**
   * @param {Group[]} groups
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
   * @param {Group[]} groups
   * @param {number} width @param {number} columns @param {number} cell
   */
  _extent(groups, width, columns, cell) {
    const block = (width - GAP) / columns - GAP;
    const across = Math.max(1, Math.floor(block / cell));
    const heights = new Array(columns).fill(GAP);
    for (const group of groups) {
      const at = heights.indexOf(Math.min(...heights));
      heights[at] += HEAD_HEIGHT + Math.ceil(group.members.length / across) * cell + GAP;
    }
    return Math.max(...heights);
  }

  /**
   * @param {Group[]} groups
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
        this.y[node] = top + HEAD_HEIGHT + Math.floor(at / across) * this.cell;
        this.order.push(node);
      });
      heights[column] = top + HEAD_HEIGHT + Math.ceil(group.members.length / across) * this.cell + GAP;
    }
    this.height = Math.max(...heights);
  }

  /** A node's place, null without one. @param {number} node */
  place(node) {
    const [x, y] = [this.x[node], this.y[node]];
    return x === undefined || y === undefined ? null : { x, y };
  }

  /** The node at a point, or -1. @param {number} x @param {number} y */
  nodeAt(x, y) {
    for (const node of this.order) {
      const [left, top] = [/** @type {number} */ (this.x[node]), /** @type {number} */ (this.y[node])];
      if (x >= left && x < left + this.cell && y >= top && y < top + this.cell) return node;
    }
    return -1;
  }

  /**
   * The nearest node in a direction.
   * @param {number} from @param {number} stepX @param {number} stepY
   */
  neighbour(from, stepX, stepY) {
    const start = this.place(from);
    if (!start) return this.order[0] ?? -1;
    let [found, nearest] = [from, Infinity];
    for (const node of this.order) {
      const [right, down] = [/** @type {number} */ (this.x[node]) - start.x, /** @type {number} */ (this.y[node]) - start.y];
      const along = right * stepX + down * stepY;
      if (along <= 0.5) continue;
      const distance = along + 4 * Math.abs(right * stepY) + 4 * Math.abs(down * stepX);
      if (distance < nearest) [found, nearest] = [node, distance];
    }
    return found;
  }
}
