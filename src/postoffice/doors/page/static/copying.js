// Buttons that copy the text beside them.
import { tell } from "./toast.js";

export function offerCopies() {
  const show = () => document.querySelectorAll("[data-copy]").forEach((button) => { button.hidden = !navigator.clipboard; });
  show();
  document.addEventListener("arrived", show);
  document.addEventListener("refreshed", show);
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      tell("Copied.");
    } catch {
      tell("The browser did not allow it; select the text and copy it by hand.", true);
    }
  });
}
