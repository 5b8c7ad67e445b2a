// Nothing written is lost: a form's text is kept in this browser until it is sent, even if other pages are opened meanwhile.
const FIELDS = "textarea, select, input:not([type=hidden], [type=checkbox], [type=radio]), input[data-to]";

const store = () => {
  try {
    return globalThis.localStorage;
  } catch {
    return null; // a browser that keeps nothing
  }
};
const mine = () => `draft ${document.body.dataset.me} `;
const place = (form) => mine() + form.dataset.draft;
const fields = (form) => [...form.querySelectorAll(FIELDS)].filter((field) => field.name);

function read(form) {
  try {
    return JSON.parse(store()?.getItem(place(form)) || "null");
  } catch {
    return null;
  }
}

function keep(form) {
  const written = [...form.querySelectorAll("textarea")].some((field) => field.value.trim()) || form.querySelector("[data-to]")?.value;
  const values = Object.fromEntries(fields(form).map((field) => [field.name, field.value]));
  try {
    if (written) store()?.setItem(place(form), JSON.stringify(values));
    else store()?.removeItem(place(form));
  } catch {
    // No room in the storage: the text is still in the window.
  }
  mark();
}

function restore() {
  for (const form of document.querySelectorAll("form[data-draft]")) {
    const values = read(form);
    if (!values) continue;
    for (const field of fields(form)) {
      const kept = values[field.name];
      // A recipient in the address goes before a draft to somebody else.
      if (!kept || (field.nodeName !== "SELECT" && field.value)) continue;
      if (field.nodeName === "SELECT" && ![...field.options].some((option) => option.value === kept)) continue;
      field.value = kept;
      field.dispatchEvent(new Event("restored", { bubbles: true }));
    }
  }
  mark();
}

// Lists show which conversations have a draft.
function mark() {
  for (const row of document.querySelectorAll("[data-thread]")) {
    row.toggleAttribute("data-drafted", Boolean(store()?.getItem(`${mine()}thread-${row.dataset.thread}`)));
  }
}

export function sent(form) {
  if (form.dataset.draft) keep(form);
}

export function keepDrafts() {
  document.addEventListener("input", ({ target }) => target.form?.dataset.draft && keep(target.form));
  document.addEventListener("change", ({ target }) => target.form?.dataset.draft && keep(target.form));
  document.addEventListener("arrived", restore);
  document.addEventListener("refreshed", mark);
  // A person who logs out removes their drafts.
  document.addEventListener("submit", ({ target }) => {
    if (!target.hasAttribute("data-leave")) return;
    for (const key of Object.keys(store() || {})) if (key.startsWith(mine())) store().removeItem(key);
  });
  restore();
}
