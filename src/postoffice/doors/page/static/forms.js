// Sends forms without leaving the page, so that the text is still there if the answer is a refusal.
import { sent } from "./drafts.js";
import { goOn, indexOf } from "./keys.js";
import { travel } from "./travel.js";
import { tell } from "./toast.js";

const SHOWN = 8000; // milliseconds that a good word stays

// A sent letter is removed from the form, and the next one gets a new id; but text written since the sending is kept.
function begin(form, heard) {
  const { content, once } = form.elements;
  if (content && content.value !== heard) return;
  form.reset();
  if (once) once.value += "+";
  sent(form);
}

// A refusal is shown where it belongs: at its field, or at the button that was pressed.
function refuse(form, { problem, doubt }) {
  form.querySelectorAll("[data-doubt], .problem").forEach((old) => old.remove());
  if (doubt) {
    const field = form.elements.to.closest(".field");
    field.append(document.importNode(doubt, true));
    field.querySelector("[data-doubt] input")?.focus();
    return;
  }
  if (!form.isConnected || form.closest("dialog, .need")) return void tell(problem, true);
  const told = Object.assign(document.createElement("p"), { className: "problem", textContent: problem });
  told.setAttribute("role", "alert");
  told.dataset.told = "";
  form.append(told);
}

// With several rows, the next row is counted from the first.
const picked = (form) => form.id === "many" && document.querySelector(".pick:checked")?.closest("[data-item]");

export function submitForms() {
  for (const button of document.querySelectorAll("[data-nojs]")) button.hidden = true;
  document.addEventListener("arrived", () => {
    for (const button of document.querySelectorAll("[data-nojs]")) button.hidden = true;
    const said = document.querySelector(".said");
    setTimeout(() => said?.remove(), SHOWN);
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest?.("form[data-auto]");
    if (form) form.requestSubmit();
  });
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method === "dialog") return;
    const fields = new URLSearchParams(new FormData(form, event.submitter));
    event.preventDefault();
    // A time is by the reader's clock, even if summer time ends before it.
    for (const { name, value } of form.querySelectorAll("[type=datetime-local]")) if (value) fields.set(name, new Date(value).toISOString());
    if (form.dataset.zone === "name") fields.set("zone", Intl.DateTimeFormat().resolvedOptions().timeZone);
    else if ("zone" in form.dataset) fields.set("zone", -new Date().getTimezoneOffset()); // tomorrow is the reader's
    if (form.method === "get") {
      for (const [name, value] of [...fields]) if (!value) fields.delete(name);
      await travel(`${form.getAttribute("action")}?${fields}`);
      return;
    }
    const button = event.submitter || form.querySelector("button");
    if (button?.getAttribute("aria-busy") === "true") return;
    button?.setAttribute("aria-busy", "true");
    const item = form.closest("[data-item]") || picked(form) || (form.closest(".pane-own") && document.querySelector('.list [data-item]:has([aria-current="true"])'));
    const index = item ? indexOf(item) : -1;
    const outcome = await travel(form.action, { body: fields, heard: () => begin(form, fields.get("content")) });
    button?.removeAttribute("aria-busy");
    if (outcome) (button || form).closest("dialog")?.close(); // nothing is heard or seen behind one
    if (outcome?.problem) refuse(form, outcome);
    else form.querySelectorAll("[data-doubt], .problem").forEach((old) => old.remove());
    if (item && outcome && !outcome.problem) goOn(item.dataset.key, index);
  });
  // Ctrl-Enter sends the form.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.nodeName === "TEXTAREA") event.target.form?.requestSubmit();
  });
}
