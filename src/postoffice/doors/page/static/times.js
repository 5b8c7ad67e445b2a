// Keeps ages up to date, and shows times by the reader's clock.
const UNITS = [[86_400, "d", 3_600], [3_600, "h", 60], [60, "m", 1], [1, "s", 1]]; // seconds, sign, and the next smaller one

function span(seconds) {
  const [size, unit] = UNITS.find(([size, , smaller]) => seconds >= size * 2 - smaller / 2) || UNITS[3];
  return `${Math.round(seconds / size)} ${unit}`;
}

function show(element) {
  const at = new Date(element.dateTime);
  const past = (Date.now() - at) / 1000;
  const text = "clock" in element.dataset ? at.toLocaleTimeString() : "age" in element.dataset ? span(Math.max(past, 0)) : Math.abs(past) < 5 ? "now" : past > 0 ? `${span(past)} ago` : `in ${span(-past)}`;
  if (element.textContent !== text) element.textContent = text;
  const exact = at.toLocaleString();
  if (element.title !== exact) element.title = exact;
}

export function keepTimes() {
  const all = () => document.querySelectorAll("time").forEach(show);
  all();
  setInterval(() => document.hidden || all(), 5000);
  document.addEventListener("arrived", all);
  document.addEventListener("refreshed", all);
}
