// Make what is shown like what came, keeping every element that is still there: with it focus, scroll, selection and what is open.

const key = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id || "" : "");

function alike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && key(one) === key(other);
}

// Why a form was refused stays with it, whatever news comes meanwhile.
const isTold = (node) => node.nodeType === Node.ELEMENT_NODE && ("told" in node.dataset || "doubt" in node.dataset);

const written = (form) => [...form.elements].some((field) => field.nodeName === "TEXTAREA" && field.value);

function setAttributes(old, fresh) {
  // What a person opened or closed stays so.
  const theirs = old.nodeName === "DETAILS" || old.nodeName === "DIALOG" ? ["open"] : [];
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !theirs.includes(name) && name !== "data-current") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (!theirs.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

// Moved in the ordinary way, an element loses focus and selection, and a dialog in it stands open for nobody.
const move = (parent, child, place) => (parent.moveBefore ? parent.moveBefore(child, place) : parent.insertBefore(child, place));

function morphChildren(old, fresh, marking) {
  const known = new Map();
  const wantedKeys = new Set([...fresh.childNodes].map(key));
  for (const child of [...old.childNodes]) {
    if (!key(child)) continue;
    if (wantedKeys.has(key(child))) known.set(key(child), child);
    else child.remove(); // what is gone first: then what stays need not move around it
  }
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const name = key(wanted);
    let match = name ? known.get(name) : place;
    if (!name) while (match && key(match) && !alike(match, wanted)) match = match.nextSibling;
    if (match && alike(match, wanted)) {
      if (match === place) place = place.nextSibling;
      else move(old, match, place);
      morph(match, wanted, marking);
      known.delete(name);
    } else {
      const added = document.importNode(wanted, true);
      old.insertBefore(added, place);
      if (marking && added.nodeType === Node.ELEMENT_NODE && added.dataset.key) added.classList.add("fresh");
    }
  }
  while (place) {
    const next = place.nextSibling;
    if (!(marking && isTold(place))) place.remove();
    place = next;
  }
}

export function morph(old, fresh, marking = false) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if ("same" in fresh.dataset) return; // the office knows that it is here already
  if (old.isEqualNode(fresh)) return;
  // What somebody is writing is theirs, with what goes along: the id by which it is one letter however often it is sent.
  if (old.hasAttribute("data-keep") && written(old.form || old)) return;
  setAttributes(old, fresh);
  // A field that somebody touched no longer follows its attributes. On another view it does; for news it is theirs.
  if (!marking && old.nodeName === "INPUT") old.value = old.defaultValue;
  if (!marking && old.nodeName === "OPTION") old.selected = old.defaultSelected;
  if (old.nodeName === "TEXTAREA") return;
  morphChildren(old, fresh, marking);
}
