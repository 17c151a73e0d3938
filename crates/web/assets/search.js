// Searches the documentation. Loads the index at the first use. Pages without this script have only the list of guides.
"use strict";

const search = document.querySelector(".search");
const field = search.querySelector("input");
const results = search.querySelector("ul");
const status = search.querySelector("[role=status]");
const nothing = search.querySelector(".nothing");
const LIMIT = 12;
let index;

function load() {
  index ??= fetch(search.dataset.index).then((response) => {
    if (!response.ok) throw new Error(`the search index has status ${response.status}`);
    return response.json();
  });
  return index;
}

// Returns the rank of an entry, or 0 if a word is missing. Headings count most, then synonyms, titles of pages, and text.
function rank(entry, words) {
  let sum = 0;
  for (const word of words) {
    const heading = entry.heading.toLowerCase();
    if (heading.startsWith(word)) sum += 8;
    else if (heading.includes(word)) sum += 5;
    else if (entry.words?.includes(word)) sum += 4;
    else if (entry.page.toLowerCase().includes(word)) sum += 2;
    else if (entry.text.toLowerCase().includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

function item(entry) {
  const link = document.createElement("a");
  link.href = entry.to;
  link.textContent = entry.heading;
  const where = document.createElement("span");
  where.className = "quiet";
  where.textContent = entry.page === entry.heading ? "" : `· ${entry.page}`;
  const text = document.createElement("p");
  text.textContent = entry.text;
  const element = document.createElement("li");
  element.append(link, " ", where, text);
  return element;
}

async function show() {
  const typed = field.value;
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  nothing.hidden = true;
  if (words.length === 0) return close();
  let entries;
  try {
    entries = await load();
  } catch {
    index = undefined;
    results.replaceChildren();
    status.textContent = "The search is not available. Try again, or use the list of pages.";
    search.classList.add("open");
    return;
  }
  // A later key press has started a newer search, or the reader has left the search.
  if (typed !== field.value || !search.contains(document.activeElement)) return;
  const found = entries.map((entry) => ({ entry, rank: rank(entry, words) })).filter((one) => one.rank > 0);
  found.sort((one, other) => other.rank - one.rank);
  results.replaceChildren(...found.slice(0, LIMIT).map((one) => item(one.entry)));
  nothing.hidden = found.length > 0;
  status.textContent = found.length === 0 ? "Nothing found."
    : found.length > LIMIT ? `The best ${LIMIT} of ${found.length} results`
    : found.length === 1 ? "1 result" : `${found.length} results`;
  search.classList.add("open");
}

function close() {
  results.replaceChildren();
  nothing.hidden = true;
  status.textContent = "";
  search.classList.remove("open");
}

field.addEventListener("focus", () => {
  load().catch(() => { index = undefined; });
  show();
});
field.addEventListener("input", show);
search.addEventListener("submit", (event) => {
  event.preventDefault();
  results.querySelector("a")?.click();
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    field.value = "";
    close();
    field.focus();
  }
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  event.preventDefault();
  field.focus();
});
results.addEventListener("click", ({ target }) => { if (target.closest("a")) close(); });
// Hides the results if the reader clicks or moves the focus elsewhere: they would cover the page. The focus shows them again.
for (const event of ["click", "focusin"]) {
  document.addEventListener(event, ({ target }) => {
    if (!search.contains(target)) search.classList.remove("open");
  });
}
search.hidden = false;
