// Hands on a heat map: wheel, pointers, two fingers and keys.
// @ts-check

/** @typedef {import("./heatmap.js").HeatMap} HeatMap */

/** @param {HeatMap} map */
export function listenToPointers(map) {
  const { canvas } = map;
  /** @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  let moved = false;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    map.zoom(Math.exp(-event.deltaY * 0.002), event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    moved = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    const held = fingers.get(event.pointerId);
    if (!held) {
      const node = map.nodeAt(event.offsetX, event.offsetY);
      map.listeners.onHover(node, event.offsetX, event.offsetY, map.podAt(node, event.offsetX, event.offsetY));
      return;
    }
    const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, finger]) => finger);
    const other = others[0];
    if (other) {
      const before = Math.hypot(held.x - other.x, held.y - other.y);
      const after = Math.hypot(event.offsetX - other.x, event.offsetY - other.y);
      if (before > 0) map.zoom(after / before, (event.offsetX + other.x) / 2, (event.offsetY + other.y) / 2);
      moved = true;
    } else if (moved || Math.hypot(event.offsetX - held.x, event.offsetY - held.y) > 4) {
      moved = true;
      map.left -= (event.offsetX - held.x) / map.scale;
      map.top -= (event.offsetY - held.y) / map.scale;
      map.clamp();
      map.redraw();
    }
    if (moved) fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  });
  const release = (/** @type {PointerEvent} */ event) => {
    if (moved) map.listeners.onView?.();
    if (fingers.delete(event.pointerId) && !moved && event.type === "pointerup") {
      const node = map.nodeAt(event.offsetX, event.offsetY);
      if (node >= 0) map.listeners.onSelect(node, map.podAt(node, event.offsetX, event.offsetY));
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => map.listeners.onHover(-1, 0, 0, -1));
}

/** @param {HeatMap} map */
export function listenToKeys(map) {
  map.canvas.addEventListener("keydown", (event) => {
    const { order } = map.layout;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "+" || event.key === "=") map.zoom(1.4);
    else if (event.key === "-") map.zoom(1 / 1.4);
    else if (event.key === "0") map.fit();
    else if (event.key === "Home") move(map, order[0] ?? -1);
    else if (event.key === "End") move(map, order[order.length - 1] ?? -1);
    else if (event.key === "Enter" && map.selected >= 0) map.listeners.onSelect(map.selected, map.selectedPod);
    else if (event.key === "." || event.key === ",") moveToPod(map, event.key === "." ? 1 : -1);
    else if (steps) move(map, map.layout.neighbour(map.selected, steps[0] ?? 0, steps[1] ?? 0));
    else return;
    event.preventDefault();
  });
}

/** @param {HeatMap} map @param {number} node */
function move(map, node) {
  if (!map.layout.place(node)) return;
  map.select(node);
  const cell = map.cell(node);
  map.listeners.onHover(node, cell.x + 8, cell.y + 8, -1);
}

/** To the next pod of the node, in the order of its blocks, and round again. @param {HeatMap} map @param {number} step */
function moveToPod(map, step) {
  const count = map.placeOf(map.selected)?.content.blocks.length ?? 0;
  if (!count) return;
  const from = map.selectedPod < 0 && step < 0 ? 0 : map.selectedPod;
  map.select(map.selected, (from + step + count) % count);
  const place = map.podPlace(map.selected, map.selectedPod) ?? map.cell(map.selected);
  map.listeners.onHover(map.selected, place.x + place.width / 2, place.y + place.height / 2, map.selectedPod);
}
