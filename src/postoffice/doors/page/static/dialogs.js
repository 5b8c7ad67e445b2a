// Asks before something that cannot be undone.
export function openDialogs() {
  const upgrade = () => {
    // Without scripts another page asks; with them it is a modal dialog.
    for (const dialog of document.querySelectorAll("main dialog[open]:not(:modal)")) {
      dialog.close();
      dialog.showModal();
    }
  };
  upgrade();
  document.addEventListener("arrived", upgrade);
  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.("[data-dialog]");
    const closer = event.target.closest?.("[data-close]");
    const dialog = opener ? document.getElementById(opener.dataset.dialog) : closer?.closest("dialog");
    if (!dialog) return;
    event.preventDefault();
    if (opener) dialog.showModal();
    else dialog.close();
  }, true);
}
