// Rectangles whose areas are in proportion to numbers: as square as can be, or in their order.
// @ts-check

// A block may be so many times as wide as it is high: it has a name to show.
const WIDER = 1.6;

/** @typedef {{x: number, y: number, width: number, height: number}} Rectangle */

/**
 * A squarified treemap (Bruls, Huizing, van Wijk 2000) that fills a rectangle; best with the
 * largest first.
 * @param {number[]} weights @param {Rectangle} space
 * @returns {Rectangle[]} in the order of the weights
 */
export function squarify(weights, space) {
  const sum = weights.reduce((total, each) => total + Math.max(0, each), 0);
  const even = sum <= 0 ? 1 : 0;
  const scale = (space.width * space.height) / (even ? weights.length : sum);
  const areas = weights.map((each) => (even || Math.max(0, each)) * scale);
  /** @type {Rectangle[]} */
  const found = [];
  let { x, y, width, height } = space;
  let first = 0;
  while (first < areas.length) {
    const side = Math.max(Math.min(width, height), 1e-6);
    let end = first + 1;
    let row = areas[first] ?? 0;
    while (end < areas.length && worst(areas, first, end + 1, row + (areas[end] ?? 0), side) <= worst(areas, first, end, row, side)) {
      row += areas[end] ?? 0;
      end += 1;
    }
    const thick = end === areas.length ? Math.max(width, height) : row / side;
    const across = width >= height;
    let along = 0;
    for (let at = first; at < end; at += 1) {
      const length = row > 0 ? ((areas[at] ?? 0) / row) * side : side / (end - first);
      found.push(across ? { x, y: y + along, width: thick, height: length } : { x: x + along, y, width: length, height: thick });
      along += length;
    }
    if (across) [x, width] = [x + thick, Math.max(0, width - thick)];
    else [y, height] = [y + thick, Math.max(0, height - thick)];
    first = end;
  }
  return found;
}

/** The longest of a row's rectangles, as side by side. @param {number[]} areas @param {number} first @param {number} end @param {number} row @param {number} side */
function worst(areas, first, end, row, side) {
  let [least, most] = [Infinity, 0];
  for (let at = first; at < end; at += 1) {
    least = Math.min(least, areas[at] ?? 0);
    most = Math.max(most, areas[at] ?? 0);
  }
  return least > 0 && row > 0 ? Math.max((side * side * most) / (row * row), (row * row) / (side * side * least)) : Infinity;
}

/**
 * A strip treemap that keeps the order and fills a vessel from its floor: the i-th takes the i-th
 * part of the space, what is left stays free above. Whoever comes last lies on top, so that nobody
 * else moves far.
 * @param {number[]} shares of the whole space; together at most 1
 * @param {Rectangle} space
 * @returns {Rectangle[]}
 */
export function fillInOrder(shares, space) {
  const whole = space.width * space.height;
  /** @type {Rectangle[]} */
  const found = [];
  let floor = space.y + space.height;
  let first = 0;
  while (first < shares.length) {
    let end = first + 1;
    let row = shares[first] ?? 0;
    while (end < shares.length && longest(shares, first, end + 1, row + (shares[end] ?? 0), space.width, whole) < longest(shares, first, end, row, space.width, whole)) {
      row += shares[end] ?? 0;
      end += 1;
    }
    const full = (row * whole) / space.width;
    // Nobody has come yet who would fill the last strip: its blocks are not stretched over it.
    const compact = Math.sqrt((row * whole) / (end - first) / WIDER);
    const height = end === shares.length ? Math.max(full, Math.min(compact, floor - space.y)) : full;
    const scale = height > 0 ? whole / height : 0;
    floor -= height;
    let x = space.x;
    for (let at = first; at < end; at += 1) {
      const width = (shares[at] ?? 0) * scale;
      found.push({ x, y: floor, width, height });
      x += width;
    }
    first = end;
  }
  return found;
}

/** The mean length of a row's rectangles. @param {number[]} shares @param {number} first @param {number} end @param {number} row @param {number} width @param {number} whole */
function longest(shares, first, end, row, width, whole) {
  const height = (row * whole) / width;
  let sum = 0;
  for (let at = first; at < end; at += 1) {
    const across = row > 0 ? ((shares[at] ?? 0) / row) * width : 0;
    sum += Math.max(height / Math.max(across, 1e-6), across / Math.max(height, 1e-6));
  }
  return sum / (end - first);
}
