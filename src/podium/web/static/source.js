// Where documents come from: the process that serves this page, or the report that it is.
// @ts-check

/** @typedef {any} Doc */

export class Refusal extends Error {
  /** @param {number} status @param {string} words */
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

/** @type {Record<string, Doc> | null} */
const EMBEDDED = (() => {
  const held = document.getElementById("report-data");
  return held ? JSON.parse(held.textContent ?? "{}") : null;
})();

/** Whether this is a file on its own. */
export const isReport = EMBEDDED !== null;

// The link has a token in it, which goes with every question. It is kept for this origin, which has
// this port, so that no other server of this machine gets to see it; a cookie would go to all.
const TOKEN_KEY = "podium-token";
const token = isReport ? null : takeToken();

/** @returns {string | null} */
function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  try {
    if (given) localStorage.setItem(TOKEN_KEY, given);
    return given ?? localStorage.getItem(TOKEN_KEY);
  } catch {
    return given; // a browser that keeps nothing
  }
}

/** Headers with what lets this page in. @param {Record<string, string>} headers @returns {Record<string, string>} */
export function withToken(headers) {
  return token ? { ...headers, Authorization: `Bearer ${token}` } : headers;
}

/**
 * A document by its path below `data/`.
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<Doc>}
 */
export async function getDocument(path, signal) {
  if (EMBEDDED) return fromReport(path);
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(`data/${path}`, { signal: signal ?? null, headers: withToken({ Accept: "application/json" }) });
  } catch (problem) {
    if (signal?.aborted) throw problem;
    throw new Refusal(0, "The process that serves this page does not answer.");
  }
  if (!answer.ok) throw new Refusal(answer.status, (await answer.text()).trim());
  return answer.json();
}

/** Whether a report holds a document. @param {string} path */
export function hasDocument(path) {
  return EMBEDDED !== null && Object.hasOwn(EMBEDDED, path);
}

/** What a metric is called, which the report says. @param {string} name */
export function metricWords(name) {
  return EMBEDDED?.["overview"]?.metricWords?.[name] ?? name;
}

/** @param {string} path @returns {Doc} */
function fromReport(path) {
  const [plain = "", query = ""] = path.split("?");
  if (plain === "pods") return findInReport(new URLSearchParams(query).get("q") ?? "");
  const key = plain.split("/").map(decodeURIComponent).join("/");
  if (!hasDocument(key)) throw new Refusal(404, "This report does not hold that; it keeps a limited number of pods and nodes.");
  return EMBEDDED?.[key];
}

/** @param {string} words @returns {Doc} */
function findInReport(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  /** @type {{pod: string, node: string | null}[]} */
  const all = EMBEDDED?.["pods"]?.pods ?? [];
  const found = all.filter((each) => wanted.every((word) => each.pod.includes(word)));
  return { count: found.length, pods: found.slice(0, 50) };
}

/** The path of a pod's document. @param {string} key */
export function podPath(key) {
  return `pods/${key.split("/").map(encodeURIComponent).join("/")}`;
}

/** The address of a pod's decision. @param {string} key */
export function podLink(key) {
  return `#/${podPath(key).replace("pods/", "pod/")}`;
}

/** The address of a pod's life. @param {string} key */
export function storyLink(key) {
  return `#/${podPath(key).replace("pods/", "story/")}`;
}

/** The address of a gang's life. @param {string} gang */
export function gangLink(gang) {
  return `#/story?gang=${encodeURIComponent(gang)}`;
}

/** The address of a node in the cluster. @param {string} name */
export function nodeLink(name) {
  return `#/cluster?node=${encodeURIComponent(name)}`;
}
