// The tab says how much waits for whoever looks: unread mail of their own, and requests for a person.
export function keepTitle() {
  const count = () => {
    const badges = document.querySelectorAll('#nav [href="/page/mail"] .badge, #nav [href="/page/connections"] .badge');
    const waiting = [...badges].reduce((sum, badge) => sum + (parseInt(badge.firstChild.textContent.replaceAll(",", ""), 10) || 0), 0);
    const bare = document.title.replace(/^\(\d+\) /, "");
    document.title = waiting ? `(${waiting}) ${bare}` : bare;
  };
  count();
  document.addEventListener("arrived", count);
  document.addEventListener("refreshed", count);
}
