// Saved searches: kept in this browser and shown with the views.
const place = () => `searches ${document.body.dataset.me}`;

function kept() {
  try {
    return JSON.parse(localStorage.getItem(place()) || "[]");
  } catch {
    return [];
  }
}

function keep(searches) {
  try {
    localStorage.setItem(place(), JSON.stringify(searches));
  } catch {
    // No room in the storage: the search is still in the address.
  }
  show();
}

const asked = () => {
  const query = new URLSearchParams(location.search);
  query.delete("cursor");
  return `?${query}`;
};

const named = (query) => {
  const found = new URLSearchParams(query);
  return [found.get("q"), ...[...found].filter(([name, value]) => name !== "q" && value).map(([name, value]) => `${name}: ${value}`)].filter(Boolean).join(", ").slice(0, 60);
};

function show() {
  const nav = document.getElementById("saved");
  const searches = kept();
  nav.hidden = !searches.length;
  nav.replaceChildren(
    ...searches.map((query) => {
      const link = Object.assign(document.createElement("a"), { href: `/page/search${query}`, title: named(query) });
      link.append(Object.assign(document.createElement("span"), { textContent: named(query) }));
      if (location.pathname === "/page/search" && asked() === query) link.setAttribute("aria-current", "page");
      return link;
    }),
  );
  const offer = document.querySelector("[data-save-search]");
  if (!offer) return;
  offer.hidden = false;
  offer.querySelector("button").textContent = searches.includes(asked()) ? "Forget this search" : "Keep this search";
}

export function keepSearches() {
  document.addEventListener("click", ({ target }) => {
    if (!target.closest?.("[data-save-search]")) return;
    const searches = kept();
    keep(searches.includes(asked()) ? searches.filter((query) => query !== asked()) : [...searches, asked()]);
  });
  document.addEventListener("arrived", show);
  show();
}
