// Keys: j and k move, Enter opens, r answers, g and a letter goes to a view, / searches, ? shows help.
import { travel } from "./travel.js";
import { showPalette } from "./palette.js";

let going = 0;

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]");
const items = () => [...document.querySelectorAll("[data-item]")].filter((item) => item.offsetParent);

export function choose(item) {
  document.querySelectorAll("[data-item][data-current]").forEach((other) => other.removeAttribute("data-current"));
  item.dataset.current = "";
  (item.matches("[tabindex]") ? item : item.querySelector("a") || item).focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
}

// After an act: choose the same row if it is still there, else the one that took its place.
export function goOn(key, index) {
  const all = items();
  const next = all.find((item) => item.dataset.key === key) || all[Math.min(index, all.length - 1)];
  if (next) choose(next);
}

export const indexOf = (item) => items().indexOf(item);

// What a key does to the chosen row.
function deed(key) {
  const item = document.activeElement?.closest("[data-item]") || document.querySelector("[data-item][data-current]");
  const near = [item, document.querySelector(".pane-own")].filter(Boolean);
  return near.flatMap((place) => [...place.querySelectorAll(`[data-act="${CSS.escape(key)}"]`)]).find((found) => found.checkVisibility());
}

function walk(by) {
  const all = items();
  if (!all.length) return;
  const at = all.findIndex((item) => "current" in item.dataset);
  const start = at >= 0 ? at : all.findIndex((item) => item.querySelector('[aria-current="true"]'));
  const next = all[Math.min(all.length - 1, Math.max(0, start < 0 ? 0 : start + by))];
  choose(next);
}

function act(event) {
  const { key } = event;
  if (going) {
    clearTimeout(going);
    going = 0;
    const link = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
    if (link) return travel(link.href);
  }
  const found = deed(key);
  if (found?.nodeName === "TEXTAREA") return found.focus() ?? true;
  if (found) return found.click() ?? true;
  switch (key) {
    case "j": return walk(1);
    case "k": return walk(-1);
    case "g": going = setTimeout(() => { going = 0; }, 1500); return true;
    case "r": return document.getElementById("answer")?.focus() ?? true;
    case "c": return travel("/page/compose");
    case "/": return location.pathname === "/page/search" ? document.getElementById("q").select() ?? true : travel("/page/search").then(() => document.getElementById("q")?.focus());
    case "?": return document.getElementById("help").showModal() ?? true;
    default: return undefined;
  }
}

export function hearKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // a key of an input method, which makes words of several
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      return showPalette();
    }
    if (event.key === "Escape" && typing(event.target)) return event.target.blur();
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog:modal")) return;
    if ("jkgrc/?".includes(event.key) || going || deed(event.key)) {
      event.preventDefault();
      act(event);
    }
  });
}
