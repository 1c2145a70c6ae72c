"""What a page must have so that everybody can use it, looked at in the browser itself.

The rules are those that can be checked without a person: names for all that can be operated,
labels for fields and pictures, headers of tables, one main heading, identifiers that are unique,
and contrast of text as WCAG 2 AA asks for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

_CHECK = r"""
() => {
  const problems = [];
  const name = (e) => (e.getAttribute("aria-label") || e.labels?.[0]?.textContent ||
    e.textContent || e.title || "").trim();
  const told = (e) => `${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""}.${e.className}`;
  const seen = (e) => e.getClientRects().length > 0;
  if (!document.documentElement.lang) problems.push("no language");
  if (!document.title) problems.push("no title");
  if (document.querySelectorAll("h1").length !== 1) problems.push("not one h1");
  for (const tag of ["main", "header", "nav", "footer"])
    if (document.querySelectorAll(tag).length !== 1) problems.push(`not one ${tag}`);
  for (const e of document.querySelectorAll("a, button, input, select, summary, [tabindex='0']"))
    if (seen(e) && !name(e)) problems.push(`no name: ${told(e)}`);
  for (const e of document.querySelectorAll("[role=img], [role=application], canvas, aside"))
    if (!e.getAttribute("aria-label")) problems.push(`no label: ${told(e)}`);
  for (const e of document.querySelectorAll("table")) {
    if (!e.caption) problems.push(`no caption: ${told(e)}`);
    if (!e.querySelector("th[scope]")) problems.push(`no header: ${told(e)}`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at)))
    problems.push(`twice: #${id}`);

  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const linear = (c) => ((c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r, g, b].map(linear);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return rgba("Canvas");
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const poor = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !seen(e)) continue;
    if (e.closest(".only-read, noscript, svg")) continue;
    const [front, back] = [light(rgba(getComputedStyle(e).color)), light(behind(e))];
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    const words = `${told(e)} ${e.textContent.slice(0, 30)}`;
    if (contrast < 4.5) poor.add(`contrast ${contrast.toFixed(2)}: ${words}`);
  }
  return [...problems, ...poor];
}
"""


def accessibility_problems(page: "Page") -> list[str]:
    found: list[str] = page.evaluate(_CHECK)
    return found
