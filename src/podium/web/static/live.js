// What changes while one looks: one connection for the whole page, told to whoever listens.
// @ts-check
import { getDocument, isReport } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */

/** @type {Set<(change: Doc) => void>} */
const listeners = new Set();
/** @type {Set<(linked: boolean) => void>} */
const linkListeners = new Set();
let linked = isReport;
// An answer that took a second is asked for again after so many.
const PATIENCE = 20;

/** @param {(change: Doc) => void} listener @returns {() => void} stops it */
export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {(linked: boolean) => void} listener */
export function onLink(listener) {
  linkListeners.add(listener);
  listener(linked);
}

/** @param {boolean} now */
function setLinked(now) {
  if (now === linked) return;
  linked = now;
  for (const listener of linkListeners) listener(linked);
}

/** Begin to follow; the browser comes back by itself after a cut and says where it was. */
export function follow() {
  if (isReport) return;
  const stream = new EventSource("data/events");
  stream.addEventListener("open", () => setLinked(true));
  stream.addEventListener("message", (event) => {
    setLinked(true);
    const change = JSON.parse(event.data);
    for (const listener of listeners) listener(change);
  });
  stream.addEventListener("error", () => {
    setLinked(false);
    if (stream.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
  });
}

/**
 * Call with a document now, and again when something has changed, no more often than every
 * `everyMs`, and less often where the answer takes long; failures go to `onError`.
 * @param {() => string} path
 * @param {(found: Doc) => void} use
 * @param {(problem: Error) => void} onError
 * @param {number} [everyMs]
 * @returns {() => void} stops it
 */
export function keepFresh(path, use, onError, everyMs = 1000) {
  const control = new AbortController();
  let busy = false;
  let wanted = false;
  let last = 0;
  let pause = everyMs;
  const read = async () => {
    if (busy) {
      wanted = true;
      return;
    }
    busy = true;
    const begun = performance.now();
    try {
      const found = await getDocument(path(), control.signal);
      if (!control.signal.aborted) use(found);
    } catch (problem) {
      if (!control.signal.aborted) onError(/** @type {Error} */ (problem));
    }
    busy = false;
    last = performance.now();
    pause = Math.max(everyMs, (last - begun) * PATIENCE);
    if (wanted && !control.signal.aborted) {
      wanted = false;
      setTimeout(read, pause);
    }
  };
  let timer = 0;
  const stop = onChange(() => {
    const due = last + pause - performance.now();
    if (due <= 0) void read();
    else if (!timer) {
      timer = setTimeout(() => {
        timer = 0;
        void read();
      }, due);
    }
  });
  void read();
  return () => {
    control.abort();
    clearTimeout(timer);
    stop();
  };
}
