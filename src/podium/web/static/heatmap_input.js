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
      map.listeners.onHover(map.nodeAt(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
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
    if (fingers.delete(event.pointerId) && !moved && event.type === "pointerup") {
      const node = map.nodeAt(event.offsetX, event.offsetY);
      if (node >= 0) map.listeners.onSelect(node);
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => map.listeners.onHover(-1, 0, 0));
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
    else if (event.key === "Enter" && map.selected >= 0) map.listeners.onSelect(map.selected);
    else if (steps) move(map, map.layout.neighbour(map.selected, steps[0] ?? 0, steps[1] ?? 0));
    else return;
    event.preventDefault();
  });
}

/** @param {HeatMap} map @param {number} node */
function move(map, node) {
  const place = map.layout.place(node);
  if (!place) return;
  map.select(node);
  map.listeners.onHover(node, (place.x - map.left) * map.scale + 8, (place.y - map.top) * map.scale + 8);
}

