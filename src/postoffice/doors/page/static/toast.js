// A short message that disappears by itself.
let shown = null;

export function tell(text, bad = false) {
  shown?.remove();
  shown = document.createElement("p");
  shown.className = bad ? "toast bad" : "toast";
  shown.setAttribute("role", bad ? "alert" : "status");
  shown.textContent = text;
  document.body.append(shown);
  const mine = shown;
  setTimeout(() => mine.remove(), bad ? 12000 : 4000);
}
