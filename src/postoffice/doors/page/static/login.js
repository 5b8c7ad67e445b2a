// A link's code stands behind the #: it is taken from there, out of the address, and sent in a form.
function enter() {
  const form = document.querySelector("form[data-login]");
  const code = location.hash.slice(1);
  // Only where links lead: elsewhere what stands there is a place in the page that somebody wanted to see.
  if (!form || !code || location.pathname !== new URL(form.action).pathname) return;
  history.replaceState({}, "", location.pathname);
  form.elements.code.value = code;
  form.submit();
}

export function logIn() {
  enter();
  addEventListener("hashchange", enter); // another link, opened where this page is already
}
