// Where each node's cell is: groups side by side, cells that fill the page, equal or by capacity.
//
// Coordinates are the layout's own; whoever draws it adds zoom and position.
// @ts-check
import { squarify } from "./treemap.js";

/** @typedef {{name: string, members: number[]}} Group */

const GAP = 10;
const MIN_CELL = 3;
// A cell is at most so many times as wide as it is high, or as high as it is wide.
const MAX_ASPECT = 2.6;
// Text runs along the width: this much wider than high is as good as square.
const WIDER = 1.35;

/** Of the line with a group's name. */
export const HEAD_HEIGHT = 20;

export class HeatMapLayout {
  constructor() {
    /** @type {Float32Array} */
    this.x = new Float32Array(0);
    /** @type {Float32Array} */
    this.y = new Float32Array(0);
    /** @type {Float32Array} */
    this.width = new Float32Array(0);
    /** @type {Float32Array} */
    this.height = new Float32Array(0);
    /** Nodes as they follow each other. @type {number[]} */
    this.order = [];
    /** @type {{name: string, x: number, y: number, width: number, count: number}[]} */
    this.heads = [];
    /** How high everything is. */
    this.bottom = 0;
  }

  /**
   * Give every node its place; with `weight` a node's area is in proportion to it.
   * @param {Group[]} all @param {number} width @param {number} height
   * @param {((node: number) => number) | undefined} [weight]
   */
  arrange(all, width, height, weight) {
    const groups = all.filter((group) => group.members.length);
    const count = groups.reduce((most, group) => group.members.reduce((a, b) => Math.max(a, b), most), -1) + 1;
    this.x = new Float32Array(count);
    this.y = new Float32Array(count);
    this.width = new Float32Array(count);
    this.height = new Float32Array(count);
    this.order = [];
    this.heads = [];
    this.bottom = height;
    if (!groups.length) return;
    if (weight) this._placeByWeight(groups, width, height, weight);
    else this._placeEqual(groups, width, height);
  }

  // --- equal cells -------------------------------------------------------------------------------

  /** @param {Group[]} groups @param {number} width @param {number} height */
  _placeEqual(groups, width, height) {
    const { columns, across, ...cell } = largestCells(groups, width, height);
    const block = (width - GAP) / columns - GAP;
    const places = distribute(groups, height, columns, across);
    const tops = new Array(columns).fill(GAP);
    groups.forEach((group, at) => {
      const column = places[at] ?? 0;
      const [left, top] = [GAP + column * (block + GAP), tops[column]];
      this.heads.push({ name: group.name, x: left, y: top, width: block, count: group.members.length });
      group.members.forEach((node, place) => {
        const [x, y] = [left + (place % across) * cell.width, top + HEAD_HEIGHT + Math.floor(place / across) * cell.height];
        this._place(node, x, y, cell.width, cell.height);
      });
      tops[column] = top + HEAD_HEIGHT + Math.ceil(group.members.length / across) * cell.height + GAP;
    });
    this.bottom = Math.max(...tops);
  }

  // --- cells by weight ---------------------------------------------------------------------------

  /**
   * @param {Group[]} groups @param {number} width @param {number} height
   * @param {(node: number) => number} weight
   */
  _placeByWeight(groups, width, height, weight) {
    const sums = groups.map((group) => group.members.reduce((sum, node) => sum + weight(node), 0));
    const blocks = squarify(sums, { x: GAP / 2, y: GAP / 2, width: width - GAP, height: height - GAP });
    groups.forEach((group, at) => {
      const block = blocks[at];
      if (!block) return;
      const [x, y] = [block.x + GAP / 2, block.y + GAP / 2];
      const inside = { x, y: y + HEAD_HEIGHT, width: Math.max(1, block.width - GAP), height: Math.max(1, block.height - GAP - HEAD_HEIGHT) };
      this.heads.push({ name: group.name, x, y, width: inside.width, count: group.members.length });
      const members = [...group.members].sort((a, b) => weight(b) - weight(a) || a - b);
      squarify(members.map(weight), inside).forEach((cell, place) => {
        this._place(members[place] ?? 0, cell.x, cell.y, cell.width, cell.height);
      });
    });
  }

  /** @param {number} node @param {number} x @param {number} y @param {number} width @param {number} height */
  _place(node, x, y, width, height) {
    this.x[node] = x;
    this.y[node] = y;
    this.width[node] = width;
    this.height[node] = height;
    this.order.push(node);
  }

  // --- where things are --------------------------------------------------------------------------

  /** A node's place, null without one. @param {number} node */
  place(node) {
    const [x, y, width, height] = [this.x[node], this.y[node], this.width[node], this.height[node]];
    return x === undefined || y === undefined || !width || !height ? null : { x, y, width, height };
  }

  /** The node at a point, or -1. @param {number} x @param {number} y */
  nodeAt(x, y) {
    for (const node of this.order) {
      const [left, top] = [/** @type {number} */ (this.x[node]), /** @type {number} */ (this.y[node])];
      if (x >= left && x < left + /** @type {number} */ (this.width[node]) && y >= top && y < top + /** @type {number} */ (this.height[node])) return node;
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
    const [startX, startY] = [start.x + start.width / 2, start.y + start.height / 2];
    let [found, nearest] = [from, Infinity];
    for (const node of this.order) {
      const right = /** @type {number} */ (this.x[node]) + /** @type {number} */ (this.width[node]) / 2 - startX;
      const down = /** @type {number} */ (this.y[node]) + /** @type {number} */ (this.height[node]) / 2 - startY;
      const along = right * stepX + down * stepY;
      if (along <= 0.5) continue;
      const distance = along + 4 * Math.abs(right * stepY) + 4 * Math.abs(down * stepX);
      if (distance < nearest) [found, nearest] = [node, distance];
    }
    return found;
  }
}

/**
 * The grid whose cells are largest and not too long: by columns of groups and cells across each.
 * @param {Group[]} groups @param {number} width @param {number} height
 */
function largestCells(groups, width, height) {
  let best = { columns: 1, across: 1, width: 0, height: 0, score: -1 };
  for (let columns = 1; columns <= groups.length; columns += columns < 12 ? 1 : columns) {
    const block = (width - GAP) / columns - GAP;
    if (block < MIN_CELL && columns > 1) break;
    const most = Math.min(Math.max(1, Math.floor(block / MIN_CELL)), Math.max(...groups.map((group) => group.members.length)));
    for (let across = 1; across <= most; across += across < 40 ? 1 : Math.ceil(across / 40)) {
      const cell = { width: block / across, height: cellHeight(groups, height, columns, across) };
      cell.width = Math.min(cell.width, Math.max(cell.height, MIN_CELL) * MAX_ASPECT);
      cell.height = Math.min(cell.height, cell.width * MAX_ASPECT);
      const score = Math.min(cell.width, cell.height * WIDER);
      if (score > best.score) best = { columns, across, ...cell, score };
    }
  }
  return { ...best, width: Math.max(best.width, MIN_CELL), height: Math.max(best.height, MIN_CELL) };
}

/**
 * The column of each group: each goes where most room is left.
 * @param {Group[]} groups @param {number} height @param {number} columns @param {number} across
 */
function distribute(groups, height, columns, across) {
  const counts = groups.map((group) => Math.ceil(group.members.length / across));
  const room = columns * height - groups.length * (HEAD_HEIGHT + GAP);
  const cell = Math.max(MIN_CELL, room / counts.reduce((sum, count) => sum + count, 0));
  const filled = new Array(columns).fill(0);
  return counts.map((count) => {
    const column = filled.indexOf(Math.min(...filled));
    filled[column] += count * cell + HEAD_HEIGHT + GAP;
    return column;
  });
}

/**
 * How high cells can be so that every column fits.
 * @param {Group[]} groups @param {number} height @param {number} columns @param {number} across
 */
function cellHeight(groups, height, columns, across) {
  const rows = new Array(columns).fill(0);
  const heads = new Array(columns).fill(0);
  distribute(groups, height, columns, across).forEach((column, at) => {
    rows[column] += Math.ceil((groups[at]?.members.length ?? 0) / across);
    heads[column] += 1;
  });
  return Math.min(...rows.map((count, at) => (count ? (height - GAP - heads[at] * (HEAD_HEIGHT + GAP)) / count : Infinity)));
}
