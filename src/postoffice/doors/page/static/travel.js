// Follows links inside the page: what is the same on the next view stays, with its scroll position.
import { morph } from "./morph.js";
import { parse } from "./markup.js";

const OVER = "Your login is over. Nothing was sent: come in again in another tab, then send this.";
const SILENT = "The office does not answer; it may have heard you or not. Try again when it does: a letter sent twice is one letter.";
let travelling = 0;

export const ours = (url) => url.origin === location.origin && (url.pathname === "/" || url.pathname.startsWith("/page/"));

export async function travel(href, { push = true, body = null, heard = null, top = null } = {}) {
  const trip = ++travelling;
  const begun = Date.now();
  const url = new URL(href, location.href);
  document.documentElement.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(url, body ? { method: "POST", body, redirect: "follow" } : {});
    if (!(answer.headers.get("content-type") || "").startsWith("text/html")) throw new Error("no page");
    const text = await answer.text();
    if (answer.status === 401 && (!body || answer.redirected)) {
      if (trip === travelling) location.assign(answer.url); // the login is over: the whole page is another
      return null;
    }
    // If the person has gone on meanwhile, do not take them back, but still show a refusal.
    if (body && !answer.ok) {
      const told = parse(text);
      const problem = told.querySelector("[data-error]")?.textContent || (answer.status === 401 ? OVER : answer.statusText);
      return { problem, doubt: told.querySelector("[data-doubt]") };
    }
    heard?.();
    if (trip !== travelling) return null;
    const there = new URL(answer.url);
    there.hash = there.hash || url.hash;
    if (push) {
      history.replaceState({ top: scrollY }, ""); // where to come back to
      history.pushState({}, "", there);
    }
    arrive(parse(text), there, begun, top);
    return {};
  } catch (error) {
    if (body) return { problem: SILENT };
    if (trip === travelling) location.assign(url);
    return null;
  } finally {
    if (trip === travelling) document.documentElement.removeAttribute("aria-busy");
  }
}

// On a phone the navigation is a row that scrolls: scroll the present view into sight.
function showView() {
  document.querySelector("#nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

function arrive(page, there, begun, top) {
  const before = document.getElementById("pane")?.dataset.key;
  document.title = page.title;
  if (page.documentElement.dataset.theme) document.documentElement.dataset.theme = page.documentElement.dataset.theme;
  else delete document.documentElement.dataset.theme;
  document.body.dataset.cursor = document.body.dataset.cursor || page.body.dataset.cursor;
  const [main, fresh] = [document.querySelector("main"), page.querySelector("main")];
  const [nav, freshNav] = [document.getElementById("nav"), page.getElementById("nav")];
  if (document.body.dataset.me !== page.body.dataset.me) return location.reload(); // a login began or ended: everything is another
  document.dispatchEvent(new CustomEvent("leaving"));
  if (nav) morph(nav, freshNav);
  morph(main, fresh);
  const said = new URL(there);
  if (said.searchParams.has("said")) {
    said.searchParams.delete("said");
    history.replaceState({}, "", said);
  }
  document.dispatchEvent(new CustomEvent("arrived", { detail: { begun } }));
  showView();
  const target = there.hash && document.getElementById(decodeURIComponent(there.hash.slice(1)));
  const pane = document.getElementById("pane");
  if (target) target.scrollIntoView(); // as browsers do: the latest, which stands last, with all that is below it
  else if (pane && pane.dataset.key !== before) pane.scrollTo(0, 0);
  if (top !== null) scrollTo(0, top);
  else if (!pane) scrollTo(0, 0);
  if (!main.contains(document.activeElement)) (pane || main).focus({ preventScroll: true });
}

export function follow() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href, location.href);
    if (link.target || link.hasAttribute("download") || !ours(url) || url.pathname.endsWith("/text")) return;
    if (url.pathname === location.pathname && url.search === location.search && url.hash) return;
    event.preventDefault();
    travel(url);
  });
  addEventListener("popstate", ({ state }) => travel(location.href, { push: false, top: state?.top ?? null }));
  history.replaceState(history.state || {}, "");
  showView();
}
