// Shows how much waits for the visitor in the tab's title, icon and badge: exactly the number in *For you*.
let shown = -1;

function paint(count) {
  if (count === shown) return;
  shown = count;
  const icon = document.getElementById("favicon");
  icon.dataset.plain ||= icon.getAttribute("href");
  icon.setAttribute("href", count ? `/page/icon/${count}.svg` : icon.dataset.plain);
  if (count) navigator.setAppBadge?.(count).catch(() => {});
  else navigator.clearAppBadge?.().catch(() => {});
}

export function keepTitle() {
  const count = () => {
    const waiting = Number(document.getElementById("nav")?.dataset.count || 0);
    const bare = document.title.replace(/^\(\d+\) /, "");
    document.title = waiting ? `(${waiting}) ${bare}` : bare;
    paint(waiting);
  };
  count();
  document.addEventListener("arrived", count);
  document.addEventListener("refreshed", count);
}
