// A link's code stands behind the #: it is taken from there, out of the address, and sent in a form.
function enter() {
  const form = document.querySelector("form[data-login]");
  const code = location.hash.slice(1);
  if (!form || !code) return;
  history.replaceState({}, "", location.pathname);
  form.elements.code.value = code;
  form.submit();
}

export function logIn() {
  enter();
  addEventListener("hashchange", enter); // another link, opened where this page is already
}
