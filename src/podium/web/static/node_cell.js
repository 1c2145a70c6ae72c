// One node as it is drawn: its pods as blocks that fill it like a vessel, its cards, its states.
//
// How much is drawn depends on the pixels that a node has. From the smallest up: how full it is in
// the colour of most of its pods; its largest groups of pods on top of each other; each pod as a
// block; name, texture, cards and names of pods.
// @ts-check
import { drawSign } from "./node_states.js";
import { isLight, texturedFill } from "./pod_colours.js";
import { fillInOrder } from "./treemap.js";

/** @typedef {import("./pod_colours.js").Shade} Shade */
/** @typedef {import("./treemap.js").Rectangle} Rectangle */
/**
 * A pod: `share` is its part of the node; `dimmed` ones do not match the search, `leaving` ones are
 * about to go. It is called by its name where that fits, else by its workload.
 * @typedef {{key: string, label: string, short: string, detail: string, share: number, shade: Shade, dimmed: boolean, leaving: boolean}} Block
 */
/** What is on a card, bottom up. @typedef {{healthy: boolean, label: string, shares: {key: string, share: number, shade: Shade}[]}} CardBlock */
/**
 * What is in a node. `bands` are its pods by their shade, `whole` is what they take together, `most`
 * is the shade of those that take most; `places` are those of the blocks in the
 * node's corner, and for which size they are.
 * @typedef {{
 *   blocks: Block[],
 *   bands: {shade: Shade, share: number}[],
 *   whole: number,
 *   most: Shade,
 *   cards: CardBlock[],
 *   places?: Rectangle[],
 *   placedIn?: string,
 * }} Content
 */
/** @typedef {{back: string, text: string, none: string, accent: string, bad: string, warn: string, soft: string}} Colours */
/** @typedef {{x: number, y: number, width: number, height: number}} Cell */

// The least pixels of a block, and of a node that shows any.
const MIN_BLOCK_AREA = 70;
const MIN_BLOCKS_SIDE = 24;
const MIN_BANDS_SIDE = 12;
const MIN_HATCHED_SIDE = 14;
// A dead node is seen as one however small it is.
const MIN_SIGN = 6;
const GRAVE = new Set(["dead", "pressure", "cordoned"]);
const HEAD = 19;
const MAX_CARD_HEIGHT = 30;
const PADDING = 3;
const MAX_CARDS = 16;

/** Whether a node of a size shows its name. @param {Cell} cell */
function hasHead(cell) {
  return cell.width >= 64 && cell.height >= 42;
}

/** Whether a node of a size shows its cards. @param {Cell} cell */
export function showsCards(cell) {
  return cell.width >= 84 && cell.height >= 66;
}

/** @param {Cell} cell */
function cardHeight(cell) {
  return Math.min(MAX_CARD_HEIGHT, cell.height * 0.26);
}

/** The part of a node in which its pods are. @param {Cell} cell @param {Content} content @returns {Rectangle} */
function podSpace(cell, content) {
  if (!hasHead(cell)) return { x: 0, y: 0, width: cell.width, height: cell.height };
  const cards = content.cards.length && showsCards(cell) ? cardHeight(cell) + PADDING : 0;
  return { x: PADDING, y: HEAD, width: cell.width - 2 * PADDING, height: cell.height - HEAD - PADDING - cards };
}

/** @param {Cell} cell @param {Content} content */
function showsBlocks(cell, content) {
  return Math.min(cell.width, cell.height) >= MIN_BLOCKS_SIDE && (cell.width * cell.height) / Math.max(1, content.blocks.length) >= MIN_BLOCK_AREA;
}

/** Where the blocks of a node are, null if it is too small for them. @param {Cell} cell @param {Content} content @returns {Rectangle[] | null} */
export function blockPlaces(cell, content) {
  if (!showsBlocks(cell, content)) return null;
  const size = `${cell.width} ${cell.height}`;
  if (content.placedIn !== size || !content.places) {
    const whole = Math.max(1, content.blocks.reduce((sum, block) => sum + block.share, 0));
    content.places = fillInOrder(content.blocks.map((block) => block.share / whole), podSpace(cell, content));
    content.placedIn = size;
  }
  return content.places;
}

/**
 * The ground of nodes that are too small to have one each: a strip for those that follow each other.
 * @param {CanvasRenderingContext2D} context @param {Cell[]} cells in their order @param {Colours} colours
 */
export function drawGround(context, cells, colours) {
  context.fillStyle = colours.none;
  /** @type {Cell | null} */
  let strip = null;
  const paint = () => strip && context.fillRect(strip.x, strip.y, strip.width, strip.height);
  for (const cell of cells) {
    if (Math.min(cell.width, cell.height) >= MIN_BANDS_SIDE) continue;
    const gap = strip ? cell.x - strip.x - strip.width : -1;
    if (strip && strip.y === cell.y && strip.height === cell.height && gap >= 0 && gap < 2) strip.width = cell.x + cell.width - strip.x;
    else {
      paint();
      strip = { ...cell };
    }
  }
  paint();
}

/** The block at a point of a node, or -1. @param {Cell} cell @param {Content} content @param {number} x @param {number} y */
export function blockAt(cell, content, x, y) {
  const places = blockPlaces(cell, content) ?? [];
  return places.findIndex((place) => x >= place.x && x < place.x + place.width && y >= place.y && y < place.y + place.height);
}

/**
 * Draw what is in a node; what is the matter with it comes on top.
 * @param {CanvasRenderingContext2D} context
 * @param {Cell} cell @param {Content} content @param {Colours} colours @param {boolean} dark
 */
export function drawContent(context, cell, content, colours, dark) {
  if (Math.min(cell.width, cell.height) >= MIN_BANDS_SIDE) {
    context.fillStyle = colours.none;
    context.fillRect(cell.x, cell.y, cell.width, cell.height);
  }
  const places = blockPlaces(cell, content);
  if (places) drawBlocks(context, cell, content.blocks, places, dark);
  else drawBands(context, cell, content, dark);
  if (content.cards.length && showsCards(cell)) drawCards(context, cell, content.cards, colours, dark);
}

/** @param {CanvasRenderingContext2D} context @param {Cell} cell @param {Content} content @param {boolean} dark */
function drawBands(context, cell, { bands, most, whole }, dark) {
  if (Math.min(cell.width, cell.height) < MIN_BANDS_SIDE) {
    const height = Math.min(1, whole) * cell.height;
    context.fillStyle = dark ? most.dark : most.light;
    context.fillRect(cell.x, cell.y + cell.height - height, cell.width, height);
    return;
  }
  let floor = cell.y + cell.height;
  for (const band of bands) {
    const height = (band.share / Math.max(1, whole)) * cell.height;
    context.fillStyle = dark ? band.shade.dark : band.shade.light;
    context.fillRect(cell.x, floor - height, cell.width, height);
    floor -= height;
  }
}

/** @param {CanvasRenderingContext2D} context @param {Cell} cell @param {Block[]} blocks @param {Rectangle[]} places @param {boolean} dark */
function drawBlocks(context, cell, blocks, places, dark) {
  const alpha = context.globalAlpha;
  const textured = Math.min(cell.width, cell.height) >= 64;
  context.textBaseline = "middle";
  context.font = "11px system-ui, sans-serif";
  blocks.forEach((block, at) => {
    const place = places[at];
    if (!place) return;
    const edge = Math.min(1, place.width / 6, place.height / 6);
    const [x, y, width, height] = [cell.x + place.x, cell.y + place.y, place.width - edge, place.height - edge];
    const colour = dark ? block.shade.dark : block.shade.light;
    context.globalAlpha = alpha * (block.dimmed ? 0.15 : 1);
    context.fillStyle = textured ? texturedFill(context, block.shade, dark) : colour;
    context.fillRect(x, y, width, height);
    if (block.leaving) strikeOut(context, x, y, width, height, isLight(colour) ? "#000" : "#fff");
    const letters = Math.floor((width - 6) / 6.2);
    if (!textured || letters < 4 || height < 13) return;
    const text = block.label.length <= letters ? block.label : cutAtTheEnd(block.short || block.label, letters);
    const lines = height >= 34 && block.detail.length <= letters ? [text, block.detail] : [text];
    const top = y + height / 2 - 7 * lines.length;
    if (block.shade.texture) {
      context.fillStyle = colour;
      context.fillRect(x + 2, top, Math.min(width - 4, Math.max(...lines.map((line) => line.length)) * 6.2 + 5), 14 * lines.length);
    }
    context.fillStyle = isLight(colour) ? "#000" : "#fff";
    lines.forEach((line, row) => context.fillText(line, x + 4, top + 14 * row + 7.5, width - 6));
  });
  context.globalAlpha = alpha;
}

/** @param {string} text @param {number} letters */
function cutAtTheEnd(text, letters) {
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

/** Nodes of one kind differ at the end of their names. @param {string} text @param {number} letters */
export function cutInTheMiddle(text, letters) {
  if (text.length <= letters) return text;
  const end = Math.min(5, Math.floor(letters / 2));
  return `${text.slice(0, letters - end - 1)}…${text.slice(-end)}`;
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} width @param {number} height @param {string} colour */
function strikeOut(context, x, y, width, height, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, y + height);
  context.lineTo(x + width, y);
  context.moveTo(x, y);
  context.lineTo(x + width, y + height);
  context.stroke();
}

/** Cards side by side, each filled by its shares. @param {CanvasRenderingContext2D} context @param {Cell} cell @param {CardBlock[]} cards @param {Colours} colours @param {boolean} dark */
function drawCards(context, cell, cards, colours, dark) {
  const shown = cards.slice(0, MAX_CARDS);
  const width = Math.min(60, (cell.width - 2 * PADDING + 2) / shown.length);
  const high = cardHeight(cell);
  const top = cell.y + cell.height - PADDING - high;
  shown.forEach((card, at) => {
    const x = cell.x + PADDING + at * width;
    context.fillStyle = colours.back;
    context.fillRect(x, top, width - 2, high);
    let floor = top + high;
    for (const share of card.shares) {
      const height = Math.min(share.share * high, floor - top);
      context.fillStyle = width > 8 ? texturedFill(context, share.shade, dark) : dark ? share.shade.dark : share.shade.light;
      context.fillRect(x, floor - height, width - 2, Math.max(1, height - 1));
      floor -= height;
    }
    context.strokeStyle = card.healthy ? colours.soft : colours.bad;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, top + 0.5, width - 3, high - 1);
    if (!card.healthy) strikeOut(context, x, top, width - 2, high, colours.bad);
  });
}

// --- states and names ----------------------------------------------------------------------------

/**
 * What is the matter with a node: hatching, an edge, signs; and its name with a figure, where there
 * is room.
 * @param {CanvasRenderingContext2D} context
 * @param {Cell} cell @param {string[]} states @param {Colours} colours
 * @param {{name: string, figure: string} | null} head
 */
export function drawStates(context, cell, states, colours, head) {
  const side = Math.min(cell.width, cell.height);
  if (side < MIN_HATCHED_SIDE) {
    drawSmallState(context, cell, states[0] ?? "", colours);
    return;
  }
  const isDead = states[0] === "dead";
  if (isDead || states.includes("cordoned")) hatch(context, cell, isDead ? colours.bad : colours.soft, isDead);
  if (head && hasHead(cell)) {
    drawHead(context, cell, head, states.length, colours);
    states.forEach((state, at) => drawSign(context, state, cell.x + cell.width - 16 * (at + 1), cell.y + 3.5, 12, colours));
  } else {
    const size = Math.min(Math.max(side * 0.45, 6), 12);
    const fits = Math.max(1, Math.floor((cell.width - 2) / (size + 3)));
    states.slice(0, fits).forEach((state, at) => drawSign(context, state, cell.x + cell.width - (size + 2) * (at + 1), cell.y + 2, size, colours));
  }
  if (!isDead) return;
  context.strokeStyle = colours.bad;
  context.lineWidth = side >= 40 ? 2.5 : 1.5;
  context.strokeRect(cell.x + 1, cell.y + 1, cell.width - 2, cell.height - 2);
}

/**
 * Of a node with few pixels: the gravest alone, and only what keeps new pods away for long.
 * @param {CanvasRenderingContext2D} context
 * @param {Cell} cell @param {string} state @param {Colours} colours
 */
function drawSmallState(context, cell, state, colours) {
  if (!GRAVE.has(state)) return;
  const side = Math.min(cell.width, cell.height);
  const isDead = state === "dead";
  if (side < 5 && !isDead) return;
  const size = Math.max(side - 1, isDead ? MIN_SIGN : 0);
  const [x, y] = [cell.x + (cell.width - size) / 2, cell.y + (cell.height - size) / 2];
  context.fillStyle = isDead ? colours.bad : colours.back;
  context.fillRect(Math.min(cell.x, x - 0.5), Math.min(cell.y, y - 0.5), Math.max(cell.width, size + 1), Math.max(cell.height, size + 1));
  drawSign(context, state, x, y, size, isDead ? { ...colours, bad: colours.back, back: colours.bad } : colours);
}

/** @param {CanvasRenderingContext2D} context @param {Cell} cell @param {string} colour @param {boolean} both directions */
function hatch(context, cell, colour, both) {
  const step = Math.max(6, Math.min(14, Math.min(cell.width, cell.height) / 4));
  context.save();
  context.beginPath();
  context.rect(cell.x, cell.y, cell.width, cell.height);
  context.clip();
  context.strokeStyle = colour;
  context.globalAlpha *= 0.6;
  context.lineWidth = step > 8 ? 1.5 : 1;
  context.beginPath();
  for (let at = -cell.height; at < cell.width; at += step) {
    context.moveTo(cell.x + at, cell.y + cell.height);
    context.lineTo(cell.x + at + cell.height, cell.y);
    if (!both) continue;
    context.moveTo(cell.x + at, cell.y);
    context.lineTo(cell.x + at + cell.height, cell.y + cell.height);
  }
  context.stroke();
  context.restore();
}

/** @param {CanvasRenderingContext2D} context @param {Cell} cell @param {{name: string, figure: string}} head @param {number} signs to the right of it @param {Colours} colours */
function drawHead(context, cell, { name, figure }, signs, colours) {
  context.fillStyle = colours.none;
  context.fillRect(cell.x, cell.y, cell.width, HEAD - 1);
  context.fillStyle = colours.text;
  context.textBaseline = "middle";
  context.font = "600 12px system-ui, sans-serif";
  const room = cell.width - 9 - signs * 16;
  const text = cutInTheMiddle(name, Math.floor(room / 7));
  context.fillText(text, cell.x + 5, cell.y + HEAD / 2, room);
  const taken = Math.min(room, context.measureText(text).width);
  context.font = "12px system-ui, sans-serif";
  if (room - taken < context.measureText(figure).width + 6) return;
  context.fillStyle = colours.soft;
  context.textAlign = "right";
  context.fillText(figure, cell.x + cell.width - 4 - signs * 16, cell.y + HEAD / 2);
  context.textAlign = "left";
}
