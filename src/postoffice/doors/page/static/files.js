// Files for a letter: brought as soon as they are chosen; the form then names them.
import { tell } from "./toast.js";

async function bring(field, file) {
  const query = new URLSearchParams({ name: file.name });
  const answer = await fetch(`/page/attachments?${query}`, { method: "POST", body: file });
  if (!answer.ok) throw new Error(file.name);
  const brought = await answer.json();
  const named = document.createElement("input");
  named.type = "hidden";
  named.name = "attachment";
  named.value = brought.digest;
  const line = document.createElement("li");
  line.textContent = brought.name;
  line.append(named);
  field.querySelector("[data-brought]").append(line);
}

export function bringFiles() {
  const show = () => document.querySelectorAll("[data-files]").forEach((field) => { field.hidden = false; });
  show();
  document.addEventListener("arrived", show);
  document.addEventListener("change", async (event) => {
    const field = event.target.closest?.("[data-files]");
    if (!field) return;
    const submit = field.closest("form").querySelector("[type=submit]");
    submit.disabled = true;
    try {
      for (const file of event.target.files) await bring(field, file);
    } catch (failure) {
      tell(`${failure.message} was not taken; see whether its name and size are allowed.`, true);
    } finally {
      event.target.value = "";
      submit.disabled = false;
    }
  });
}
