// The stream of news: each event says what kind of thing happened, and the fragments that show it are loaded again.
import { morph } from "./morph.js";
import { parse } from "./markup.js";

const WORDS = { live: "Live", opening: "Connecting…", lost: "Connection lost: what you see may be old. Trying again…", asleep: "Asleep", over: "Your login is over" };
const HIDDEN_FOR = 60_000; // a tab nobody looks at gives its connection back after a while, if another one listens for all
const UNSEEN_PACE = 2000; // milliseconds between two looks at what waits, in a tab nobody looks at
const ASLEEP_PACE = 60_000;
const PACE = 400; // milliseconds between two looks at the same fragment, at least
const MOST_ROWS = 400;
const AGAIN = 3000; // milliseconds after which a look that failed is taken again
const WHILE_BUSY = 100; // milliseconds
let source = null;
let cursor = document.body.dataset.cursor;
let opened = false;
let told = 0; // when news came last
let retry = 0;
let sleeping = 0;
let keeper = false; // of all tabs of a browser one listens while nobody looks, and tells the others

function say(state) {
  const line = document.getElementById("line");
  if (!line || line.dataset.line === state) return;
  line.dataset.line = state;
  line.querySelector("[data-line-word]").textContent = WORDS[state];
}

const waiting = new Map(); // fragment → when it may be asked for
let asking = false;
let timer = 0;

function wanted(element, kinds) {
  if (kinds.includes("everything")) return true;
  return (element.dataset.on || "").split(" ").some((word) => word === "*" || kinds.some((kind) => kind.startsWith(word) && word));
}

function want(element) {
  const pace = document.hidden ? UNSEEN_PACE : Number(element.dataset.pace || 0) * 1000 || PACE;
  const last = Number(element.dataset.looked || 0);
  if (!waiting.has(element.dataset.fragment)) waiting.set(element.dataset.fragment, Math.max(Date.now(), last + pace));
  plan();
}

function look(kinds) {
  for (const element of document.querySelectorAll("[data-fragment][data-on]")) if (wanted(element, kinds)) want(element);
}

// In the background only the count of what waits matters, which is in the navigation.
const due = () => [...waiting].filter(([name]) => !document.hidden || name === "nav");

function plan() {
  if (asking || !due().length) return;
  clearTimeout(timer);
  timer = setTimeout(ask, Math.max(0, Math.min(...due().map(([, at]) => at)) - Date.now()));
}

// For rows that are here already, the office sends only the key.
function digests(names) {
  const rows = names.flatMap((name) => [...document.querySelectorAll(`[data-fragment="${CSS.escape(name)}"] [data-v]`)]);
  return rows.slice(0, MOST_ROWS).map((row) => row.dataset.v).join(",");
}

async function ask() {
  const now = Date.now();
  // While another page is loading, do not ask for a thread: it would count as a look, and mail just kept unread would become seen again.
  const busy = document.documentElement.hasAttribute("aria-busy");
  const names = due().filter(([name, at]) => at <= now && !(busy && name === "thread")).map(([name]) => name);
  if (!names.length && busy) {
    timer = setTimeout(ask, WHILE_BUSY);
    return;
  }
  if (!names.length) return plan();
  for (const name of names) waiting.delete(name);
  asking = true;
  const here = location.href;
  let failed = false;
  try {
    const answer = await fetch(here, { headers: { "X-Fragment": names.join(","), "X-Have": digests(names) } });
    const another = answer.ok && answer.headers.get("X-Visitor") !== document.body.dataset.me;
    if (answer.status === 401 || another) {
      // The login has ended, or another began in another window; but a text being written is not thrown away.
      const writing = [...document.querySelectorAll("main textarea")].some((field) => field.value);
      return writing ? say("over") : location.reload();
    }
    const text = await answer.text();
    failed = answer.status === 429 || answer.status >= 500;
    if (answer.ok && location.href === here) show(parse(text), names);
  } catch {
    failed = true;
  } finally {
    asking = false;
    // The stream may be live all the same, and would not repeat this news.
    if (failed) for (const name of names) waiting.set(name, Date.now() + AGAIN);
    plan();
  }
}

function show(page, names) {
  for (const name of names) {
    const [old, fresh] = [document, page].map((root) => root.querySelector(`[data-fragment="${CSS.escape(name)}"]`));
    if (!old || !fresh) continue;
    const scroller = old.closest(".pane");
    const atEnd = "stick" in old.dataset && scroller && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
    morph(old, fresh, true);
    old.dataset.looked = Date.now();
    if (atEnd) scroller.scrollTo(0, scroller.scrollHeight);
  }
  document.dispatchEvent(new CustomEvent("refreshed"));
}

function open() {
  source?.close();
  clearTimeout(sleeping);
  if (document.getElementById("line")?.dataset.line !== "lost") say("opening");
  source = new EventSource(`/page/news?after=${encodeURIComponent(cursor)}`);
  source.onopen = () => {
    retry = 0;
    say("live");
    if (opened) look(["everything"]); // no log tells what changed hands meanwhile
    opened = true;
  };
  source.addEventListener("news", (event) => {
    cursor = event.lastEventId || cursor;
    told = Date.now();
    look(JSON.parse(event.data).kinds);
  });
  source.onerror = () => {
    say("lost");
    // A browser connects again by itself, but not after a refusal: then we do, less and less often.
    if (source.readyState !== EventSource.CLOSED) return;
    want(document.getElementById("nav")); // if the login is over, the answer says so
    retry = Math.min((retry || 500) * 2, 15_000);
    setTimeout(() => (!document.hidden || keeper) && open(), retry);
  };
}

export function listen() {
  open();
  navigator.locks?.request(`postoffice line ${document.body.dataset.me}`, () => {
    keeper = true;
    if (document.hidden && source?.readyState === EventSource.CLOSED) open();
    return new Promise(() => {}); // until this tab is closed
  });
  setInterval(() => document.hidden && source?.readyState === EventSource.CLOSED && want(document.getElementById("nav")), ASLEEP_PACE);
  document.addEventListener("visibilitychange", () => {
    clearTimeout(sleeping);
    if (document.hidden) {
      sleeping = setTimeout(() => {
        if (keeper) return;
        source?.close();
        say("asleep");
      }, HIDDEN_FOR);
    } else if (!source || source.readyState !== EventSource.OPEN) open();
    else plan();
  });
  // News that came while this view was loading may be newer than the view.
  document.addEventListener("arrived", ({ detail: { begun } }) => told >= begun && look(["everything"]));
  // After a laptop's sleep the stream may be dead: when the page comes back, load it again.
  addEventListener("online", open);
  addEventListener("pageshow", (event) => event.persisted && open());
  let ticked = Date.now();
  setInterval(() => {
    const now = Date.now();
    if (now - ticked > 30_000 && !document.hidden) open();
    ticked = now;
    for (const element of document.querySelectorAll("[data-fragment][data-every]")) {
      if (now - Number(element.dataset.looked || (element.dataset.looked = now)) >= Number(element.dataset.every) * 1000) want(element);
    }
  }, 1000);
}
