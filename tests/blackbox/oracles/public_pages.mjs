// Visits public pages in a real browser, dark on a wide screen and light on a narrow screen: nothing is cut off, nothing
// comes from another origin, and axe finds no fault. Ends with status 0 only if all checks pass.
//
//   node public_pages.mjs BASE_URL CHROMIUM PATHS [FOLDER_FOR_SCREENSHOTS]
//
// PATHS are the paths of the pages, as a JSON array.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const [base, executablePath, paths, shots] = process.argv.slice(2);
const FORMS = [['dark', 1280], ['light', 390]];

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
try {
  for (const [colorScheme, width] of FORMS) await visitAll(colorScheme, width);
} finally {
  await browser.close();
}

async function visitAll(colorScheme, width) {
  const context = await browser.newContext({ colorScheme, bypassCSP: true, viewport: { width, height: 800 } });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(base)) complaints.push(`asks elsewhere: ${request.url()}`);
  });
  for (const path of JSON.parse(paths)) {
    const form = `${path} in ${colorScheme} at ${width}`;
    const response = await page.goto(base + path);
    assert.equal(response.status(), 200, form);
    if (shots) {
      const name = `${colorScheme}-${width}${path.replaceAll('/', '-')}`;
      await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
    }
    const swapped = await page.evaluate(examplesAfterErrors);
    assert.ok(!swapped, `${form} has the examples after the errors`);
    const empty = await page.evaluate(() => [...document.querySelectorAll('pre')].filter((pre) => /^\s*\n/.test(pre.innerText)).length);
    assert.equal(empty, 0, `${form} has a code box that begins with an empty line`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${form} is ${overflow} px too wide`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    const faults = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
    assert.deepEqual(faults, [], form);
  }
  assert.deepEqual(complaints, []);
  await context.close();
}

// Returns true if the page of an operation shows its errors above its request.
function examplesAfterErrors() {
  const [examples, errors] = ['.examples', '.errors'].map((name) => document.querySelector(name)?.getBoundingClientRect());
  return examples !== undefined && errors !== undefined && examples.top > errors.top;
}
