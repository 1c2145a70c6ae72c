// What changes while one looks: one connection for the whole page, told to whoever listens.
// @ts-check
import { getDocument, isReport, withToken } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */

/** @type {Set<(change: Doc) => void>} */
const listeners = new Set();
/** @type {Set<(linked: boolean) => void>} */
const linkListeners = new Set();
let linked = isReport;
// An answer that took a second is asked for again after so many.
const PATIENCE = 20;
const RETRY_MS = 1000;
const REFUSED_MS = 3000;

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

/** Begin to follow, and again after each cut, from where it was. */
export function follow() {
  if (!isReport) void followOn("");
}

/** @param {string} mark up to which is known @returns {Promise<void>} */
async function followOn(mark) {
  let pause = RETRY_MS;
  try {
    // Not an EventSource, which cannot send the token.
    const headers = withToken({ Accept: "text/event-stream", ...(mark ? { "Last-Event-ID": mark } : {}) });
    const answer = await fetch("data/events", { headers, cache: "no-store" });
    if (answer.ok && answer.body) {
      setLinked(true);
      await readEvents(answer.body.getReader(), (id, data) => {
        mark = id;
        setLinked(true);
        const change = JSON.parse(data);
        for (const listener of listeners) listener(change);
      });
    } else pause = REFUSED_MS;
  } catch {
    // cut off, or nobody there
  }
  setLinked(false);
  setTimeout(() => void followOn(mark), pause);
}

/**
 * Server-sent events until their end.
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 * @param {(id: string, data: string) => void} use
 */
async function readEvents(reader, use) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      let id = "";
      let data = "";
      for (const line of event.split("\n")) {
        if (line.startsWith("id: ")) id = line.slice(4);
        if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data) use(id, data);
    }
  }
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
