// A letter's recipients as chips. Each name is checked while the letter is written, and for a mistyped one the right name is offered.
import { parse } from "./markup.js";

const element = (name, className, text = "") => Object.assign(document.createElement(name), { className, textContent: text });

async function check(chip, name) {
  try {
    const answer = await fetch(`/page/names?q=${encodeURIComponent(name)}`);
    const found = parse(await answer.text()).querySelector("[data-known]");
    if (!answer.ok || !found || chip.dataset.name !== name) return;
    chip.dataset.known = found.dataset.known;
    if (found.dataset.known === "yes") {
      chip.querySelector(".chip-name").textContent = found.dataset.name;
      chip.dataset.name = found.dataset.name;
    } else if (found.dataset.near) {
      const cure = element("button", "chip-near", `did you mean ${found.dataset.near}?`);
      cure.type = "button";
      cure.dataset.near = found.dataset.near;
      chip.append(cure);
    } else chip.append(element("span", "chip-near", found.dataset.why));
    chip.closest(".chips").dispatchEvent(new Event("chips"));
  } catch {
    // The office will say so when the letter is sent.
  }
}

function dress(input) {
  const box = element("div", "chips");
  const field = element("input", "");
  field.setAttribute("list", input.getAttribute("list"));
  Object.assign(field, { autocomplete: "off", spellcheck: false, id: `${input.id}-more` });
  const label = document.querySelector(`label[for="${input.id}"]`);
  label.setAttribute("for", field.id);
  input.hidden = true;
  input.required = false;
  input.after(box);
  box.append(field);
  const gone = new AbortController();
  const { signal } = gone;
  // Before another view comes, the field is put back as the server made it: our additions would disturb the comparison.
  document.addEventListener("leaving", () => {
    gone.abort();
    box.remove();
    input.hidden = false;
    label.setAttribute("for", input.id);
  }, { signal });
  const chips = () => [...box.querySelectorAll(".chip")];
  const write = () => {
    const rest = field.value.trim();
    input.value = [...chips().map((chip) => chip.dataset.name), ...(rest ? [rest] : [])].join(", ");
    field.required = !chips().length;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const add = (name) => {
    if (!name || chips().some((chip) => chip.dataset.name.toLowerCase() === name.toLowerCase())) return;
    const chip = element("span", "chip to-chip");
    const out = element("button", "chip-gone", "×");
    Object.assign(out, { type: "button" });
    out.setAttribute("aria-label", `Leave out ${name}`);
    chip.dataset.name = name;
    chip.append(element("span", "chip-name", name), out);
    field.before(chip);
    check(chip, name);
  };
  const take = () => {
    const parts = field.value.split(",").map((part) => part.trim()).filter(Boolean);
    if (!parts.length) return;
    field.value = "";
    parts.forEach(add);
    write();
  };
  const fill = () => {
    for (const chip of chips()) chip.remove();
    field.value = input.value;
    take();
    write();
  };
  field.addEventListener("input", () => {
    const chosen = [...(field.list?.options || [])].some((option) => option.value === field.value);
    if (field.value.includes(",") || chosen) take();
    else write();
  });
  field.addEventListener("blur", take);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && field.value.trim()) {
      event.preventDefault();
      take();
    } else if (event.key === "Backspace" && !field.value) {
      chips().at(-1)?.remove();
      write();
    }
  });
  box.addEventListener("click", ({ target }) => {
    const chip = target.closest(".chip");
    if (target.matches("[data-near]")) {
      target.closest(".chip").remove();
      add(target.dataset.near);
    } else if (target.matches(".chip-gone")) chip.remove();
    else return void (target === box && field.focus());
    write();
    field.focus();
  });
  box.addEventListener("chips", write);
  input.addEventListener("restored", fill, { signal });
  input.form.addEventListener("reset", () => setTimeout(fill), { signal });
  input.form.addEventListener("submit", take, { capture: true, signal });
  fill();
}

export function offerChips() {
  const all = () => document.querySelectorAll("input[data-to]:not([hidden])").forEach(dress);
  all();
  document.addEventListener("arrived", all);
}
