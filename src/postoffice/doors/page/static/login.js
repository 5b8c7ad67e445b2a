// Takes a link's code, which is behind the #, out of the address and sends it in a form.
function enter() {
  const form = document.querySelector("form[data-login]");
  const code = location.hash.slice(1);
  // Only on the page that links lead to: elsewhere it is an anchor in the page.
  if (!form || !code || location.pathname !== new URL(form.action).pathname) return;
  history.replaceState({}, "", location.pathname);
  form.elements.code.value = code;
  form.submit();
}

export function logIn() {
  enter();
  addEventListener("hashchange", enter); // another link, opened where this page is already
}
