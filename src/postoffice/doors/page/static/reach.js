// Reaches a person who does not look at the page: other tabs get the count, and the browser shows the notifications they chose.
import { travel } from "./travel.js";

const WORDS = { question: "asks you", task: "asks you for work", mail: "wrote to you", consent: "asks for consent", stuck: "has something stuck" };
const KEPT = 500;
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("postoffice") : null;
const me = () => document.body.dataset.me;
const nav = () => document.getElementById("nav");
let last = null;

function kept(what) {
  try {
    return JSON.parse(localStorage.getItem(`${what} ${me()}`) || "[]");
  } catch {
    return [];
  }
}

function keep(what, values) {
  try {
    localStorage.setItem(`${what} ${me()}`, JSON.stringify(values.slice(-KEPT)));
  } catch {
    // No room in the storage: something may be shown twice.
  }
}

async function waiting() {
  const answer = await fetch("/page/waiting");
  return answer.ok ? (await answer.json()).waiting : [];
}

// One tab notifies for all: the first to get the lock shows what is new, and the others find it done.
async function tell() {
  const kinds = kept("kinds");
  if (!kinds.length || globalThis.Notification?.permission !== "granted") return;
  const look = async () => {
    const told = new Set(kept("told"));
    const found = await waiting().catch(() => []);
    for (const { key, kind, who, href } of found) {
      if (told.has(key)) continue;
      told.add(key);
      if (!kinds.includes(kind) || (!document.hidden && document.hasFocus())) continue;
      const shown = new Notification(`${who} ${WORDS[kind]}`, { tag: key, icon: document.getElementById("favicon").href });
      shown.onclick = () => {
        globalThis.focus();
        travel(href);
        shown.close();
      };
    }
    keep("told", [...told]);
  };
  if (navigator.locks) await navigator.locks.request(`postoffice told ${me()}`, look);
  else await look();
}

function changed() {
  const count = nav()?.dataset.count;
  if (count === last) return;
  const first = last === null;
  last = count;
  if (first) return;
  channel?.postMessage({ me: me(), count });
  tell();
}

function say(box) {
  const state = box.querySelector("[data-notify-state]");
  const kinds = box.querySelector(".kinds");
  kinds.hidden = false;
  for (const input of kinds.querySelectorAll("input")) input.checked = kept("kinds").includes(input.dataset.kind);
  const can = "Notification" in globalThis;
  state.textContent = !can
    ? "This browser tells nothing by itself."
    : Notification.permission === "denied"
      ? "The browser does not allow it; its own settings for this page can."
      : "The browser asks once whether it may.";
  kinds.disabled = !can || Notification.permission === "denied";
}

function offer() {
  const box = document.querySelector("[data-notify]");
  if (box) say(box);
}

export function reach() {
  channel?.addEventListener("message", ({ data }) => {
    if (data.me !== me() || !nav() || !document.hidden) return;
    last = nav().dataset.count = data.count;
    document.dispatchEvent(new CustomEvent("refreshed"));
  });
  document.addEventListener("refreshed", changed);
  document.addEventListener("arrived", changed);
  document.addEventListener("arrived", offer);
  document.addEventListener("change", async ({ target }) => {
    const box = target.closest?.("[data-notify]");
    if (!box) return;
    if (target.checked && Notification.permission === "default") await Notification.requestPermission();
    const granted = Notification.permission === "granted";
    if (!kept("kinds").length && granted) keep("told", (await waiting().catch(() => [])).map(({ key }) => key)); // what is known is no news
    keep("kinds", granted ? [...box.querySelectorAll("input:checked")].map((input) => input.dataset.kind) : []);
    say(box);
  });
  changed();
  offer();
}
