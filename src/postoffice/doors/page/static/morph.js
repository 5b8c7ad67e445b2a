// Changes the page into what came, and keeps every element that is still in it, with its focus, scroll position, selection and open state.

const key = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id || "" : "");

function alike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && key(one) === key(other);
}

// A form keeps the reason of its refusal when news comes.
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

// An ordinary move would lose an element's focus and selection, and break an open dialog in it.
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
  // Never change a form that somebody is writing in, nor its id, which makes it one letter however often it is sent.
  if (old.hasAttribute("data-keep") && written(old.form || old)) return;
  setAttributes(old, fresh);
  // A field that somebody has touched no longer follows its attributes. For another view it is reset; for news it is left alone.
  if (!marking && old.nodeName === "INPUT") old.value = old.defaultValue;
  if (!marking && old.nodeName === "OPTION") old.selected = old.defaultSelected;
  if (old.nodeName === "TEXTAREA") return;
  morphChildren(old, fresh, marking);
}
