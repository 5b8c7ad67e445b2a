// Forms: sent without leaving the page, so that what was written is still there when the answer is no.
import { travel } from "./travel.js";
import { tell } from "./toast.js";

const SHOWN = 8000; // milliseconds that a good word stays

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
    if (form.method === "get") {
      for (const [name, value] of [...fields]) if (!value) fields.delete(name);
      await travel(`${form.getAttribute("action")}?${fields}`);
      return;
    }
    const button = event.submitter || form.querySelector("button");
    if (button?.getAttribute("aria-busy") === "true") return;
    button?.setAttribute("aria-busy", "true");
    // What was heard is not being written any more: the next one is a new letter.
    const outcome = await travel(form.action, { body: fields, heard: () => form.reset() });
    button?.removeAttribute("aria-busy");
    if (outcome?.problem) tell(outcome.problem, true);
    else if (outcome) for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  });
  // Ctrl-Enter sends what is being written.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.nodeName === "TEXTAREA") event.target.form?.requestSubmit();
  });
}
