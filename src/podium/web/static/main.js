// The frame of the page: which view, its address, the search, the theme, the numbers on top.
// @ts-check
import { showCluster } from "./cluster.js";
import { showConfiguration } from "./configuration.js";
import { showDecision } from "./decision.js";
import { commandLine, h, replaceChildren, stateLine } from "./dom.js";
import { formatCount, formatTime } from "./format.js";
import { follow, onChange, onLink } from "./live.js";
import { showQueue } from "./queue.js";
import { REPORT_VIEWS } from "./report_views.js";
import { getDocument, hasDocument, isReport, podLink } from "./source.js";
import { showStory } from "./story.js";
import { showThroughput } from "./throughput.js";

/** @typedef {import("./source.js").Doc} Doc */
/**
 * What a view is given. `path` is what stands behind the view's name, `params` the rest of the
 * address; `go` changes the latter without leaving the view, `command` says what gives the same in
 * a terminal.
 * @typedef {{
 *   root: HTMLElement,
 *   path: string[],
 *   params: URLSearchParams,
 *   overview: Doc,
 *   go: (changes: Record<string, string | null>) => void,
 *   command: (text: string) => void,
 * }} View
 */
/** @typedef {(view: View) => (() => void)} Show */

/** @type {Record<string, {title: string, show: Show, inReport: boolean}>} */
const VIEWS = {
  cluster: { title: "Cluster", show: showCluster, inReport: true },
  queue: { title: "Queue", show: showQueue, inReport: true },
  pod: { title: "Decision", show: showDecision, inReport: true },
  story: { title: "Story", show: showStory, inReport: true },
  throughput: { title: "Throughput", show: showThroughput, inReport: false },
  configuration: { title: "Configuration", show: showConfiguration, inReport: true },
  play: { title: "Play", show: showPlay, inReport: false },
};

/** The document that a view stands on, where its name is another. @type {Record<string, string>} */
const NEEDS = { pod: "pods", story: "pods" };
/** What can be looked at here: a report has what it holds documents for. */
const SHOWN = Object.fromEntries(
  Object.entries({ ...REPORT_VIEWS, ...VIEWS }).filter(
    ([name, view]) => !isReport || name in REPORT_VIEWS || (view.inReport && hasDocument(NEEDS[name] ?? name)),
  ),
);
const HOME = Object.keys(SHOWN)[0] ?? "cluster";

const head = /** @type {HTMLElement} */ (document.getElementById("head"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const foot = /** @type {HTMLElement} */ (document.getElementById("foot"));
const numbers = h("div", { class: "numbers" });
const THEMES = ["", "light", "dark"];
const theme = themeButton();
const linkState = h("span", { class: "link", role: "status" });
const navigation = h("nav", { "aria-label": "Views" });
/** @type {() => void} */
let leave = () => {};
/** @type {Doc} */
let overview = null;
/** @type {string | null} */
let shownAddress = null;
let linked = isReport;
/** Seconds since the state that is shown, of a scheduler that does not answer. @type {number | null} */
let stale = null;

// --- theme ---------------------------------------------------------------------------------------

/** @param {string} theme */
function setTheme(theme) {
  if (theme) document.documentElement.dataset["theme"] = theme;
  else delete document.documentElement.dataset["theme"];
  dispatchEvent(new Event("themechange"));
}

function themeButton() {
  let theme = "";
  try {
    theme = localStorage.getItem("podium-theme") ?? "";
  } catch {
    // a browser that keeps nothing
  }
  setTheme(THEMES.includes(theme) ? theme : "");
  const words = () => `Theme: ${theme || "system"}`;
  const button = h("button", { type: "button", id: "theme", title: words(), "aria-label": words() }, "◐");
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "";
    try {
      localStorage.setItem("podium-theme", theme);
    } catch {
      // as above
    }
    setTheme(theme);
    button.title = words();
    button.setAttribute("aria-label", words());
  });
  return button;
}

// --- search --------------------------------------------------------------------------------------

function searchBox() {
  const input = /** @type {HTMLInputElement} */ (
    h("input", { type: "search", id: "find", placeholder: "Find a pod   /", "aria-label": "Find a pod", autocomplete: "off" })
  );
  const list = h("ul", { class: "found hidden", "aria-label": "Pods that were found" });
  let turn = 0;
  const look = async () => {
    const words = input.value.trim();
    const mine = ++turn;
    if (!words) {
      list.classList.add("hidden");
      return;
    }
    try {
      const found = await getDocument(`pods?q=${encodeURIComponent(words)}`);
      if (mine !== turn) return;
      const entries = found.pods.map((/** @type {Doc} */ each) =>
        h("li", {}, h("a", { href: podLink(each.pod) }, h("span", {}, each.pod), h("span", { class: each.node ? "soft" : "bad" }, each.node ?? "no node"))),
      );
      replaceChildren(
        list,
        entries.length ? entries : h("li", { class: "soft" }, "no pod has that in its name"),
        isOffered("cluster") && h("li", {}, h("a", { href: `#/cluster?q=${encodeURIComponent(words)}` }, h("span", {}, "Nodes, pods and workloads on the map"), h("span", { class: "soft" }, "→"))),
      );
      list.classList.remove("hidden");
    } catch {
      list.classList.add("hidden");
    }
  };
  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") {
      const first = /** @type {HTMLElement | null} */ (list.querySelector("a"));
      if (event.key === "Enter") first?.click();
      else first?.focus();
      event.preventDefault();
    }
  });
  list.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement)) + step;
    (at < 0 ? input : links[at])?.focus();
    event.preventDefault();
  });
  const box = h("div", { class: "search", role: "search" }, input, list);
  addEventListener("keydown", (event) => {
    const typing = [HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement].some((kind) => event.target instanceof kind);
    if (event.key === "/" && !typing) {
      const own = /** @type {HTMLElement | null} */ (main.querySelector("input[type=search]"));
      (input.isConnected ? input : own)?.focus();
      event.preventDefault();
    }
    if (event.key === "Escape") list.classList.add("hidden");
  });
  addEventListener("hashchange", () => {
    list.classList.add("hidden");
    input.value = "";
  });
  document.addEventListener("click", (event) => {
    if (!box.contains(/** @type {Node} */ (event.target))) list.classList.add("hidden");
  });
  return box;
}

// --- the frame -----------------------------------------------------------------------------------

/** Whether there is such a view here: only the page of `podium up` can be played with. @param {string} name */
function isOffered(name) {
  return Object.hasOwn(SHOWN, name) && (name !== "play" || Boolean(overview?.play));
}

/** Play is loaded where there is one. @type {Show} */
function showPlay(view) {
  let ended = false;
  let leave = () => {};
  replaceChildren(view.root, h("h1", { class: "only-read" }, "Play"), stateLine("Loading…"));
  import("./play.js").then(
    (found) => {
      if (!ended) leave = found.showPlay(view);
    },
    () => ended || replaceChildren(view.root, stateLine("The process that serves this page does not answer.", "bad")),
  );
  return () => {
    ended = true;
    leave();
  };
}

/** @param {string} current */
function showNavigation(current) {
  const entries = Object.entries(SHOWN).filter(([name]) => isOffered(name));
  replaceChildren(
    navigation,
    entries.map(([name, view]) => h("a", { href: `#/${name}`, "aria-current": name === current ? "page" : null }, view.title)),
  );
}

/** Whether what is seen is of now. */
function showLink() {
  const busy = stale !== null && `the scheduler is busy: state of ${formatCount(stale)} s ago`;
  linkState.classList.toggle("cut", !linked || Boolean(busy));
  linkState.textContent = isReport ? "report" : !linked ? "cut off, trying again" : busy || "live";
}

/** @param {Doc} told */
function showNumbers(told) {
  stale = told.stale ? told.ageSeconds : null;
  showLink();
  if (told.facts) {
    replaceChildren(numbers, told.facts.map((/** @type {Doc} */ fact) => h("span", { class: fact.bad ? "bad" : null }, h("b", {}, fact.value), ` ${fact.label}`)), linkState, theme);
    return;
  }
  const queue = told.queue;
  const pending = queue.active + queue.backoff + queue.unschedulable + queue.gated + queue.waiting;
  replaceChildren(
    numbers,
    h("span", {}, h("b", {}, formatCount(told.nodes)), " nodes"),
    h("span", {}, h("b", {}, formatCount(told.pods)), " pods placed"),
    h("span", { class: queue.unschedulable ? "bad" : null }, h("b", {}, formatCount(pending)), " waiting"),
    h("span", { class: "soft", title: "The scheduler's clock" }, formatTime(told.at)),
    linkState,
    theme,
  );
}

/** @param {string} text */
function showCommand(text) {
  const asked = isReport ? "" : overview?.terminal ?? "";
  const shown = text.replace("{command}", overview?.command ?? "").replace("{input}", overview?.input ?? "").replace("{url}", overview?.url || "https://SCHEDULER:10259").trim();
  replaceChildren(foot, h("span", {}, "The same in a terminal:"), commandLine(asked ? `${asked} ${shown}` : shown));
}

function address() {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name = "", ...rest] = path.split("/").map(decode);
  return { name: isOffered(name) ? name : HOME, rest, params: new URLSearchParams(query) };
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {Record<string, string | null>} changes */
function go(changes) {
  const [path = "", query = ""] = (location.hash || `#/${HOME}`).split("?");
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") params.delete(name);
    else params.set(name, value);
  }
  const told = params.toString();
  const next = told ? `${path}?${told}` : path;
  if (next === location.hash) return;
  history.replaceState(null, "", next);
  shownAddress = location.hash;
}

function show() {
  if (shownAddress !== null && location.hash === shownAddress) return;
  shownAddress = location.hash;
  const { name, rest, params } = address();
  const view = SHOWN[name];
  if (!view) return;
  leave();
  showNavigation(name);
  document.title = `${view.title} – Podium`;
  const root = h("div", { class: "view", "data-view": name, style: { display: "flex", flexDirection: "column", flex: "1", minWidth: "0", minHeight: name === "cluster" ? "0" : "auto" } });
  replaceChildren(main, root);
  leave = view.show({ root, path: rest, params, overview, go, command: showCommand });
}

async function start() {
  try {
    overview = await getDocument("overview");
  } catch (problem) {
    replaceChildren(main, stateLine(/** @type {Error} */ (problem).message, "bad"));
    setTimeout(start, 3000);
    return;
  }
  showNumbers(overview);
  onChange(showNumbers);
  onLink((now) => {
    linked = now;
    showLink();
  });
  follow();
  addEventListener("hashchange", show);
  show();
}

// The token has done its work: it is kept (source.js), and the address can be shown to others.
if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname + location.hash);
const search = searchBox();
replaceChildren(head, h("a", { class: "brand", href: `#/${HOME}` }, "Podium"), navigation, (!isReport || hasDocument("pods")) && search, numbers);
replaceChildren(numbers, theme);
showNavigation(address().name);
void start();
