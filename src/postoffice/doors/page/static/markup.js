// The only place where text from the server becomes elements. It comes from this page's own addresses and nowhere else.
const policy = globalThis.trustedTypes?.createPolicy("postoffice", { createHTML: (text) => text });
const parser = new DOMParser();

export function parse(text) {
  return parser.parseFromString(policy ? policy.createHTML(text) : text, "text/html");
}
