// Decision: one pod, why there and not elsewhere, or why nowhere and what would have to change.
// @ts-check
import { commandLine, h, replaceChildren, stateLine, table } from "./dom.js";
import { formatAmount, formatCount, formatTime, pluginChip, pluginColour, plural, shellWord } from "./format.js";
import { keepFresh } from "./live.js";
import { getDocument, isReport, nodeLink, podLink, podPath, storyLink } from "./source.js";

/** @typedef {import("./source.js").Doc} Doc */
/** @typedef {import("./main.js").View} View */

const MAX_BARS = 10;
const PLACES = {
  bound: "runs on",
  binding: "is being bound",
  active: "is about to be tried",
  backoff: "waits out its backoff",
  unschedulable: "has no node",
  gated: "is held back",
  waiting: "waits at Permit",
  gone: "is gone",
};

/** @param {View} view @returns {() => void} */
export function showDecision(view) {
  const [namespace, name] = view.path;
  if (!namespace || !name) return choosePod(view);
  const key = `${namespace}/${name}`;
  const page = new DecisionPage(view, key);
  return () => page.end();
}

/** @param {View} view */
function choosePod(view) {
  const body = h("div", {}, stateLine("Reading the pods…"));
  replaceChildren(view.root, h("h1", {}, "Decision"), h("p", { class: "soft" }, "Choose a pod, or find one with the box above ( / )."), body);
  view.command(isReport ? "podium explain NAMESPACE/POD {input}" : "podium explain NAMESPACE/POD --recorded");
  return keepFresh(
    () => "pods?q=",
    (found) =>
      replaceChildren(
        body,
        found.pods.length
          ? table("Pods", ["Pod", "Node"], found.pods.map((/** @type {Doc} */ each) => [h("a", { href: podLink(each.pod) }, each.pod), each.node ? h("a", { href: nodeLink(each.node) }, each.node) : h("span", { class: "bad" }, "none")]))
          : stateLine("There are no pods yet. Create one with kubectl, and it is here at once."),
        found.count > found.pods.length && h("p", { class: "soft" }, `and ${formatCount(found.count - found.pods.length)} more`),
      ),
    (problem) => replaceChildren(body, stateLine(problem.message, "bad")),
    2000,
  );
}

/** Whether a pod still waits, or still has its node. @param {Doc} before @param {Doc} after */
function sameStage(before, after) {
  const waits = ["active", "backoff", "unschedulable"];
  return before.place === after.place || (waits.includes(before.place) && waits.includes(after.place));
}

class DecisionPage {
  /** @param {View} view @param {string} key */
  constructor(view, key) {
    this.view = view;
    this.key = key;
    this.numbers = view.params.get("scores") ?? "weighted";
    /** @type {Doc} */
    this.pod = null;
    /** @type {Doc} */
    this.analysis = null;
    this.control = new AbortController();
    this.title = h("h1", {}, key);
    this.facts = h("div", {});
    this.why = h("div", { "aria-live": "polite" });
    this.best = h("div", {});
    this.grid = h("div", {});
    this.out = h("div", {});
    replaceChildren(view.root, this.title, this.facts, this.why, this.best, this.grid, this.out);
    replaceChildren(this.facts, stateLine("Reading the decision…"));
    view.command(isReport ? `podium explain ${shellWord(key)} {input}` : `podium explain ${shellWord(key)} --recorded`);
    this.stop = keepFresh(
      () => podPath(key),
      (found) => this.show(found),
      (problem) => replaceChildren(this.facts, stateLine(problem.message, "bad")),
    );
  }

  end() {
    this.stop();
    this.control.abort();
  }

  /** @param {Doc} pod */
  show(pod) {
    const before = this.pod;
    this.pod = pod;
    this.showFacts();
    // An analysis is work: one more attempt that failed for the same reason asks for no other.
    if (before && before.decision?.message === pod.decision?.message && sameStage(before, pod)) return;
    const places = pod.place === "bound" || pod.place === "binding" || pod.place === "waiting";
    if (places) {
      this.analysis = null;
      this.showPlaced();
    } else void this.analyse();
    this.showMatrix();
  }

  showFacts() {
    const { pod } = this;
    const place = /** @type {Record<string, string>} */ (PLACES)[pod.place] ?? pod.place;
    const node = pod.node ?? pod.decision?.node ?? pod.waiting?.node;
    replaceChildren(this.title, this.key, " ", h("span", { class: node ? "good" : "bad" }, place), node && " ", node && h("a", { href: nodeLink(node) }, node));
    const requests = Object.entries(pod.requests ?? {}).filter(([, amount]) => amount);
    replaceChildren(
      this.facts,
      h("p", { class: "soft" },
        [
          requests.length ? `asks for ${requests.map(([name, amount]) => `${formatAmount(name, Number(amount))} ${name}`).join(", ")}` : "",
          pod.priority ? `priority ${formatCount(pod.priority)}` : "",
          pod.decision ? `attempt ${pod.decision.attempt} at ${formatTime(pod.decision.at)}` : "not tried yet",
          pod.decision ? `${plural(pod.decision.examinedNodes, "node")} looked at, ${formatCount(pod.decision.feasibleNodes)} fit` : "",
        ].filter(Boolean).join(" · "), " · ", h("a", { href: storyLink(this.key) }, "its story")),
    );
  }

  // --- placed --------------------------------------------------------------------------------------

  showPlaced() {
    const details = this.pod.decision?.details;
    const node = this.pod.decision?.node;
    if (!details) {
      replaceChildren(this.why, h("div", { class: "panel" }, h("p", {}, "What plugins said about each node is no longer kept; the scheduler has decided about many pods since. "), this.anewButton()));
      return;
    }
    const words = details.score === null
      ? this.pod.decision.feasibleNodes === 1 ? "It was the only node that fits." : "There was nothing to compare."
      : details.runnerUp
        ? [`It scored ${formatCount(details.score)}, ${formatCount(details.lead)} more than `, h("a", { href: nodeLink(details.runnerUp) }, details.runnerUp), details.decidedBy ? [" — what made the difference: ", pluginChip(details.decidedBy)] : ""].flat()
        : details.tiedNodes > 1 ? `All ${formatCount(details.tiedNodes)} nodes that fit were equally good; one was picked at random.` : "No other node fits.";
    const tied = details.runnerUp && details.tiedNodes > 1 ? ` ${formatCount(details.tiedNodes)} nodes shared the first place.` : "";
    replaceChildren(
      this.why,
      h("div", { class: "panel done" }, h("b", {}, node ? `Why ${node}? ` : "Why? "), words, tied,
        details.evicts.length > 0 && h("p", { class: "warn" }, `It had to evict ${details.evicts.join(", ")}.`)),
    );
  }

  anewButton() {
    return h("button", { type: "button", onclick: () => this.analyse() }, "Decide it anew");
  }

  // --- no node -------------------------------------------------------------------------------------

  async analyse() {
    const message = this.pod.decision?.message ?? "";
    replaceChildren(this.why, h("div", { class: "panel alert" }, message && h("p", {}, message), h("p", { class: "soft", role: "status" }, "Working out what would have to change…")));
    try {
      this.analysis = await getDocument(`${podPath(this.key)}/analysis`, this.control.signal);
    } catch (problem) {
      if (this.control.signal.aborted) return;
      replaceChildren(this.why, h("div", { class: "panel alert" }, message && h("p", {}, message), stateLine(/** @type {Error} */ (problem).message, "bad"), this.anewButton()));
      return;
    }
    this.showAnalysis(message);
    this.showMatrix();
    this.view.command(isReport ? `podium why ${shellWord(this.key)} {input}` : `podium why ${shellWord(this.key)} --alone`);
  }

  /** @param {string} message */
  showAnalysis(message) {
    const { analysis } = this;
    if (analysis.fits) {
      replaceChildren(this.why, h("div", { class: "panel done" },
        h("p", {}, "Decided anew it gets ", h("a", { href: nodeLink(analysis.node) }, analysis.node), analysis.victims.length ? `, after ${analysis.victims.join(", ")} have left.` : "."),
        h("p", { class: "soft" }, analysis.premise)));
      return;
    }
    const told = analysis.causes.length ? analysis.causes.map((/** @type {Doc} */ cause) => cause.sentence) : [message || analysis.message];
    replaceChildren(
      this.why,
      h("section", { class: "panel alert" }, h("h2", {}, "Why it has no node"),
        told.map((/** @type {string} */ sentence, /** @type {number} */ at) => h("p", { class: at ? null : "cause" }, at ? sentence : h("b", {}, sentence))),
        message && h("p", { class: "soft wrap" }, message)),
      h("section", { class: "panel", id: "proposals" }, h("h2", {}, "What would have to change"),
        analysis.proposals.length
          ? [h("p", { class: "soft" }, `Each was tried on a copy of the cluster, with all pods of the workload. Those that disturb the least come first.${analysis.complete ? "" : " The search was cut short; there may be more."}`),
             h("ol", { class: "proposals" }, analysis.proposals.map((/** @type {Doc} */ each) => h("li", {}, h("b", {}, each.sentence), each.nodes > 1 ? h("span", { class: "soft" }, ` — then ${plural(each.nodes, "node")} fit`) : each.node && h("span", { class: "soft" }, ` — then it goes to ${each.node}`), each.pods.wanted > 1 && h("span", { class: "soft" }, `; ${each.pods.after} of ${plural(each.pods.wanted, "pod")} get a node, ${each.pods.before} now`), each.disruptions.map((/** @type {string} */ text) => h("p", { class: "disruption" }, text)), each.commands.map((/** @type {string} */ command) => (command.startsWith("#") ? h("p", { class: "soft" }, command.slice(1)) : commandLine(command))))))]
          : h("p", {}, analysis.like ? ["The same as for ", h("a", { href: podLink(analysis.like) }, analysis.like), ", which waits for the same reason."] : analysis.complete ? "Nothing that was tried helps." : "Not looked for in this report; the command below does.")),
    );
  }

  // --- plugins by nodes ----------------------------------------------------------------------------

  showMatrix() {
    const matrix = this.analysis?.matrix ?? this.pod.matrix;
    if (!matrix) {
      for (const part of [this.best, this.grid, this.out]) replaceChildren(part);
      return;
    }
    this.showBars(matrix);
    this.showGrid(matrix);
    this.showRejected(matrix);
  }

  /** @param {Doc} matrix */
  showBars(matrix) {
    const scored = matrix.nodes.filter((/** @type {Doc} */ node) => node.total !== null).slice(0, MAX_BARS);
    if (!scored.length) {
      replaceChildren(this.best);
      return;
    }
    const most = Math.max(...scored.map((/** @type {Doc} */ node) => node.total), 1);
    const used = matrix.scorers.filter((/** @type {Doc} */ each) => scored.some((/** @type {Doc} */ node) => (node.scores[each.plugin]?.weighted ?? 0) > 0));
    replaceChildren(
      this.best,
      h("h2", {}, "The best nodes"),
      h("p", {}, used.map((/** @type {Doc} */ each) => pluginChip(each.plugin, each.weight === 1 ? "" : `×${each.weight}`))),
      h("div", { class: "bars" },
        scored.flatMap((/** @type {Doc} */ node) => [
          h("span", {}, h("a", { href: nodeLink(node.name) }, node.name), node.name === matrix.chosen && h("b", { class: "good" }, " ✓ chosen")),
          h("span", { class: "stack", role: "img", "aria-label": `${node.name}: ${used.map((/** @type {Doc} */ each) => `${each.plugin} ${node.scores[each.plugin]?.weighted ?? 0}`).join(", ")}` },
            used.map((/** @type {Doc} */ each) => h("i", { title: `${each.plugin}: ${node.scores[each.plugin]?.weighted ?? 0}`, style: { width: `${((node.scores[each.plugin]?.weighted ?? 0) / most) * 100}%`, background: pluginColour(each.plugin) } }))),
          h("span", { class: "num" }, formatCount(node.total)),
        ])),
    );
  }

  /** @param {Doc} matrix */
  showGrid(matrix) {
    /** @type {{name: string, total: number | null, scores: Doc, objections: Doc, first: string, reasons: string[]}[]} */
    const rows = matrix.nodes.map((/** @type {Doc} */ node) => ({ ...node, objections: null, first: "", reasons: [] }));
    for (const group of matrix.rejected) {
      for (const name of group.nodes.slice(0, 6)) rows.push({ name, total: null, scores: {}, objections: group.objections?.[name] ?? null, first: group.plugin, reasons: group.reasons });
    }
    if (!rows.length) {
      replaceChildren(this.grid);
      return;
    }
    const kinds = ["raw", "normalized", "weighted"];
    const choose = (/** @type {string} */ kind) => () => {
      this.numbers = kind;
      this.view.go({ scores: kind === "weighted" ? null : kind });
      this.showGrid(matrix);
    };
    const head = (/** @type {string} */ plugin, /** @type {string} */ more) =>
      h("th", { scope: "col", class: "plugin" }, h("span", {}, h("i", { class: "dot", style: { background: pluginColour(plugin) } }), ` ${plugin}${more}`));
    replaceChildren(
      this.grid,
      h("h2", {}, "Every plugin, node by node"),
      h("div", { class: "bar" },
        h("span", { class: "soft" }, matrix.skipped.length ? `${plural(matrix.skipped.length, "filter")} had nothing to say about this pod` : ""),
        matrix.scorers.length > 0 && h("span", { role: "group", "aria-label": "Scores as" }, kinds.flatMap((kind) => [h("button", { type: "button", "data-scores": kind, "aria-pressed": String(kind === this.numbers), onclick: choose(kind) }, kind), " "]))),
      h("div", { class: "scroll" },
        h("table", { class: "matrix" },
          h("caption", { class: "only-read" }, "Plugins by nodes"),
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Node"), matrix.filters.map((/** @type {string} */ plugin) => head(plugin, "")), matrix.scorers.map((/** @type {Doc} */ each) => head(each.plugin, this.numbers === "weighted" && each.weight !== 1 ? ` ×${each.weight}` : "")), matrix.scorers.length > 0 && h("th", { scope: "col", class: "num" }, "Total"))),
          h("tbody", {}, rows.map((row) => this.gridRow(matrix, row))))),
    );
  }

  /** @param {Doc} matrix @param {Doc} row */
  gridRow(matrix, row) {
    const fits = !row.first && !row.objections;
    let stopped = false;
    const cells = matrix.filters.map((/** @type {string} */ plugin) => {
      if (fits) return h("td", { class: "cell yes", title: `${plugin}: fits` }, "✓");
      const said = row.objections ? row.objections[plugin] : plugin === row.first ? row.reasons : null;
      if (said) {
        stopped = true;
        const words = said.join("; ");
        return h("td", { class: "cell no", title: `${plugin}: ${words}` }, "✗", h("span", { class: "only-read" }, ` ${words}`));
      }
      if (row.objections || !stopped) return h("td", { class: "cell yes", title: `${plugin}: fits` }, "✓");
      return h("td", { class: "cell unasked", title: `${plugin}: not asked, another had said no` }, "·", h("span", { class: "only-read" }, " not asked"));
    });
    const scores = matrix.scorers.map((/** @type {Doc} */ each) => {
      const score = row.scores[each.plugin];
      return h("td", { class: "cell", title: score ? `${each.plugin}: raw ${score.raw}, normalized ${score.normalized}, weighted ${score.weighted}` : null }, score ? formatCount(score[this.numbers]) : "");
    });
    return h("tr", { class: row.name === matrix.chosen ? "chosen" : null }, h("th", { scope: "row" }, h("a", { href: nodeLink(row.name) }, row.name)), cells, scores, matrix.scorers.length > 0 && h("td", { class: "cell" }, row.total === null ? "" : h("b", {}, formatCount(row.total))));
  }

  /** @param {Doc} matrix */
  showRejected(matrix) {
    if (!matrix.rejected.length) {
      replaceChildren(this.out);
      return;
    }
    replaceChildren(
      this.out,
      h("h2", {}, "Nodes that do not fit, by reason"),
      h("div", { class: "scroll" }, table("Rejected nodes by reason", [{ text: "Nodes", num: true }, "Reason", "Plugin", "Which"],
        matrix.rejected.map((/** @type {Doc} */ group) => [
          formatCount(group.count),
          group.reasons.join("; "),
          group.plugin ? pluginChip(group.plugin) : "",
          h("span", {}, group.nodes.slice(0, 6).flatMap((/** @type {string} */ name, /** @type {number} */ at) => [at ? ", " : "", h("a", { href: nodeLink(name) }, name)]), group.count > 6 && ", …"),
        ]))),
    );
  }
}
