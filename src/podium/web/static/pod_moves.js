// Who has just come or gone, for a moment: a ring around a pod that lands, an empty outline where
// one was. Whoever wants less motion sees neither; the line above the map says it in words.
// @ts-check
import { blockPlaces } from "./node_cell.js";
import { MOVE_MS } from "./pods_on_nodes.js";

/** @typedef {import("./node_cell.js").Cell} Cell */
/** @typedef {import("./node_cell.js").Colours} Colours */
/** @typedef {import("./node_cell.js").Content} Content */
/** @typedef {import("./pod_colours.js").Shade} Shade */
/** `was` is where its block has been, where it had one. @typedef {{node: number, key: string, at: number, came: boolean, shade: Shade, was: import("./treemap.js").Rectangle | null}} Moving */
/** @typedef {{moving: Moving[], drawn: (keys: string[]) => void}} Moves */

const FALL = 14;
const RISE = 26;

const wantsLess = matchMedia("(prefers-reduced-motion: reduce)");

/** Whether things may move. */
export function mayMove() {
  return !wantsLess.matches;
}

/**
 * Draw those that move; says whether another frame is needed.
 * @param {CanvasRenderingContext2D} context
 * @param {Moves} moves
 * @param {(node: number) => {cell: Cell, content: Content} | null} placeOf
 * @param {Colours} colours @param {boolean} dark
 */
export function drawMoves(context, moves, placeOf, colours, dark) {
  const now = performance.now();
  moves.moving = mayMove() ? moves.moving.filter((each) => now - each.at < MOVE_MS) : [];
  for (const each of moves.moving) {
    const found = placeOf(each.node);
    if (!found) continue;
    const part = Math.max(0, (now - each.at) / MOVE_MS);
    if (each.came) drawLanding(context, found, each, part, colours, dark);
    else drawLeaving(context, found, each, part, colours);
  }
  context.globalAlpha = 1;
  moves.drawn(moves.moving.map((each) => each.key));
  return moves.moving.length > 0;
}

/** @param {CanvasRenderingContext2D} context @param {{cell: Cell, content: Content}} found @param {Moving} move @param {number} part @param {Colours} colours @param {boolean} dark */
function drawLanding(context, { cell, content }, move, part, colours, dark) {
  const at = content.blocks.findIndex((block) => block.key === move.key);
  const place = at >= 0 ? blockPlaces(cell, content)?.[at] : null;
  const box = place ? { x: cell.x + place.x, y: cell.y + place.y, width: place.width, height: place.height } : cell;
  const grown = FALL * (1 - Math.min(1, part * 2)) ** 2;
  if (place && part < 0.4) {
    context.globalAlpha = 0.75 * (1 - part / 0.4);
    context.fillStyle = dark ? "#ffffff" : colours.back;
    context.fillRect(box.x, box.y, box.width, box.height);
  }
  context.globalAlpha = Math.min(1, 2 * (1 - part));
  context.strokeStyle = colours.accent;
  context.lineWidth = place ? 3 : 2;
  context.strokeRect(box.x - grown, box.y - grown, box.width + 2 * grown, box.height + 2 * grown);
}

/** @param {CanvasRenderingContext2D} context @param {{cell: Cell, content: Content}} found @param {Moving} move @param {number} part @param {Colours} colours */
function drawLeaving(context, { cell }, { was }, part, colours) {
  const box = was ? { x: cell.x + was.x, y: cell.y + was.y - RISE * part, width: was.width, height: was.height } : cell;
  context.globalAlpha = 1 - part;
  context.strokeStyle = colours.bad;
  context.lineWidth = 2;
  context.setLineDash([5, 4]);
  context.strokeRect(box.x + 1, box.y + 1, Math.max(1, box.width - 2), Math.max(1, box.height - 2));
  context.setLineDash([]);
  if (!was) return;
  context.beginPath();
  context.moveTo(box.x, box.y);
  context.lineTo(box.x + box.width, box.y + box.height);
  context.moveTo(box.x + box.width, box.y);
  context.lineTo(box.x, box.y + box.height);
  context.stroke();
}
