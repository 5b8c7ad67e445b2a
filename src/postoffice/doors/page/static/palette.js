// The command palette: views, agents and a search, one keystroke away.
import { parse } from "./markup.js";
import { travel } from "./travel.js";

const dialog = () => document.getElementById("palette");
const field = () => document.getElementById("palette-input");
const list = () => document.getElementById("palette-list");
let asked = 0;
let chosen = 0;

function places(typed) {
  const views = [...document.querySelectorAll("#nav a")].map((link) => ({ text: link.querySelector("span").textContent, href: link.href, kind: "view" }));
  const commands = [...document.querySelectorAll("[data-command]")].map((item) => ({ text: item.textContent, href: item.dataset.command, kind: "command" }));
  return [...views, ...commands].filter(({ text }) => text.toLowerCase().includes(typed.toLowerCase()));
}

function show(found) {
  list().replaceChildren(
    ...found.map(({ text, href, kind }, index) => {
      const item = document.createElement("li");
      item.id = `place-${index}`;
      item.setAttribute("role", "option");
      item.dataset.href = href;
      const small = document.createElement("small");
      small.textContent = kind;
      item.append(text, small);
      return item;
    }),
  );
  choose(0);
}

function choose(index) {
  const all = [...list().children];
  if (!all.length) return;
  chosen = (index + all.length) % all.length;
  all.forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
  field().setAttribute("aria-activedescendant", all[chosen].id);
  all[chosen].scrollIntoView({ block: "nearest" });
}

async function look() {
  const typed = field().value.trim();
  const mine = ++asked;
  const search = typed ? [{ text: `Search for “${typed}”`, href: `/page/search?q=${encodeURIComponent(typed)}`, kind: "search" }] : [];
  show([...places(typed), ...search]);
  try {
    const answer = await fetch(`/page/palette?q=${encodeURIComponent(typed)}`);
    const text = await answer.text();
    if (!answer.ok || mine !== asked) return; // somebody has typed on meanwhile
    const agents = [...parse(text).querySelectorAll("a")].map((link) => ({ text: link.textContent, href: link.getAttribute("href"), kind: "agent" }));
    show([...places(typed), ...agents, ...search]);
  } catch {
    // Without an answer the views are still there.
  }
}

function go() {
  const item = list().children[chosen];
  dialog().close();
  if (!item) return;
  const { href } = item.dataset;
  if (href === "#help") document.getElementById("help").showModal();
  else travel(href);
}

export function showPalette() {
  field().value = "";
  dialog().showModal();
  look();
}

export function openPalette() {
  const button = document.querySelector("[data-palette]");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", showPalette);
  }
  field().addEventListener("input", look);
  field().addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") go();
    else return;
    event.preventDefault();
  });
  list().addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (item) {
      chosen = [...list().children].indexOf(item);
      go();
    }
  });
}
