// Visits public pages in a real browser, in light and dark, wide and narrow: nothing is cut off, nothing comes from
// another origin, and axe finds no fault. Ends with status 0 only if all checks pass.
//
//   node public_pages.mjs BASE_URL CHROMIUM PATHS [FOLDER_FOR_SCREENSHOTS]
//
// PATHS are the paths of the pages, as a JSON array.
import assert from 'node:assert/strict';

import { launch, notTooWide, visitPages } from './browser.mjs';

const [base, executablePath, paths, shots] = process.argv.slice(2);

const browser = await launch(executablePath);
try {
  await visitPages(browser, base, JSON.parse(paths), { shots, loaded: isWhole, look });
} finally {
  await browser.close();
}

async function isWhole(page, response, path) {
  assert.equal(response.status(), 200, path);
  const empty = await page.evaluate(() => [...document.querySelectorAll('pre')].filter((pre) => /^\s*\n/.test(pre.innerText)).length);
  assert.equal(empty, 0, `${path} has a code box that begins with an empty line`);
}

async function look(page, form) {
  const swapped = await page.evaluate(examplesAfterErrors);
  assert.ok(!swapped, `${form} has the examples after the errors`);
  assert.deepEqual(await page.evaluate(hidden), [], form);
  await notTooWide(page, form);
}

// Returns the columns and pictures that a reader has to scroll to, and the buttons that only a pointer finds.
function hidden() {
  const cut = [...document.querySelectorAll('.table, picture')].filter((it) => it.scrollWidth > it.clientWidth);
  const buttons = [...document.querySelectorAll('.copy-button')].filter((it) => getComputedStyle(it).opacity !== '1');
  const covers = [...document.querySelectorAll('.code-frame')].filter(({ children: [code, button] }) => {
    const [a, b] = [code, button].map((it) => it.getBoundingClientRect());
    return a.right > b.left && a.bottom > b.top;
  });
  return [...cut, ...buttons, ...covers].map((it) => it.outerHTML.slice(0, 200));
}

// Returns true if the page of an operation shows its errors above its request.
function examplesAfterErrors() {
  const [examples, errors] = ['.examples', '.errors'].map((name) => document.querySelector(name)?.getBoundingClientRect());
  return examples !== undefined && errors !== undefined && examples.top > errors.top;
}
