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
  await visitPages(browser, base, JSON.parse(paths), { shots, widths: [1280, 1000, 390], loaded: isWhole, look });
} finally {
  await browser.close();
}

async function isWhole(page, response, path) {
  assert.equal(response.status(), 200, path);
  const empty = await page.evaluate(() => [...document.querySelectorAll('pre')].filter((pre) => /^\s*\n/.test(pre.innerText)).length);
  assert.equal(empty, 0, `${path} has a code box that begins with an empty line`);
  await page.emulateMedia({ forcedColors: 'active' });
  const lines = await page.locator('.top nav a').evaluateAll((links) => links.map((link) => getComputedStyle(link).borderBottomWidth));
  assert.ok(lines.filter((line) => line !== '0px').length <= 1, `${path} marks several links as current with the colours of the system`);
  await page.emulateMedia({ forcedColors: 'none' });
}

async function look(page, form) {
  const swapped = await page.evaluate(examplesAfterFields);
  assert.ok(!swapped, `${form} has the examples after the fields`);
  assert.deepEqual(await page.evaluate(hidden), [], form);
  assert.deepEqual(await page.evaluate(cutCode, form.includes('1280')), [], form);
  await notTooWide(page, form);
}

// Returns the columns and pictures that a reader has to scroll to, and the buttons that only a pointer finds.
function hidden() {
  const cut = [...document.querySelectorAll('.table, picture')].filter((it) => it.scrollWidth > it.clientWidth);
  const buttons = [...document.querySelectorAll('.copy-button')].filter((it) => getComputedStyle(it).opacity !== '1');
  return [...cut, ...buttons].map((it) => it.outerHTML.slice(0, 200));
}

// Returns the blocks of code that are narrower than their frame, covered by their button, or hide the end of a line.
// Looks at all tabs. Programs keep their lines. In a narrow window they may scroll: `all` is false there.
function cutCode(all) {
  const panels = [...document.querySelectorAll('.panel')];
  for (const panel of panels) panel.style.display = 'block';
  const frames = [...document.querySelectorAll('.code-frame')].filter((frame) => frame.checkVisibility());
  const narrow = frames.filter((frame) => frame.querySelector('pre').offsetWidth < frame.clientWidth);
  const covered = frames.filter((frame) => {
    const [code, button] = ['pre', '.copy-button'].map((name) => frame.querySelector(name).getBoundingClientRect());
    return button.bottom > code.top;
  });
  const code = [...document.querySelectorAll(all ? 'pre' : 'pre.wrap')].filter((pre) => pre.scrollWidth > pre.clientWidth);
  for (const panel of panels) panel.style.display = '';
  return [...narrow, ...covered, ...code].map((it) => it.outerHTML.slice(0, 200));
}

// Returns true if the page of an operation shows its fields above its request.
function examplesAfterFields() {
  const [examples, fields] = ['.examples', '.details'].map((name) => document.querySelector(name)?.getBoundingClientRect());
  return examples !== undefined && examples.top > fields.top;
}
