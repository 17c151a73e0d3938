// Shows the reader's place: scrolls the list of pages to the current page, and marks the current section in the list
// "On this page". Pages without this script lack only these marks.
"use strict";

const list = document.querySelector(".sidebar nav");
const here = list.querySelector("[aria-current]");
if (here) list.scrollTop = here.offsetTop - list.clientHeight / 2;

const links = [...document.querySelectorAll(".on-page a")];
const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
const sections = document.querySelector(".on-page");

// The current section is the last one whose heading is in the upper third of the window, or above it. At the end of
// the page it is the last one.
function mark() {
  const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const line = atEnd ? Infinity : innerHeight / 3;
  const current = headings.findLastIndex((heading) => heading.getBoundingClientRect().top <= line);
  links.forEach((link, number) => {
    if (number === current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
  const { offsetTop, offsetHeight } = links[current] ?? links[0];
  if (offsetTop < sections.scrollTop || offsetTop + offsetHeight > sections.scrollTop + sections.clientHeight) {
    sections.scrollTop = offsetTop - sections.clientHeight / 2;
  }
}

if (sections) {
  let isPending = false;
  addEventListener("scroll", () => {
    if (isPending) return;
    isPending = true;
    requestAnimationFrame(() => { isPending = false; mark(); });
  }, { passive: true });
  mark();
}
