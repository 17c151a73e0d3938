// What the programs with a browser share: Chromium, the sign-in, and the checks of a page in all its forms.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

export function launch(executablePath) {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

// Signs in to the dashboard with a login secret.
export async function signIn(page, base, id, secret) {
  await page.goto(`${base}/dashboard/sign-in`);
  await page.fill('#account_id', id);
  await page.fill('#login_secret', secret);
  await page.click('button.main');
}

// Waits until as many elements match as expected. A browser moves the focus, and scripts add elements, only after a page
// is loaded.
export async function assertCount(elements, expected, reason) {
  await elements.page().waitForLoadState();
  let count = await elements.count();
  for (const deadline = Date.now() + 5_000; count !== expected && Date.now() < deadline;) {
    await new Promise((done) => setTimeout(done, 20));
    count = await elements.count();
  }
  assert.equal(count, expected, reason);
}

// Visits each path, and then looks at it wide and narrow, and also in dark at its greatest width: light and dark differ
// only in colours. `loaded` is called with the page and the response, `look` with the page and the name of the form.
// Fails on an error in the console and on a request to another origin. Writes screenshots of all forms into `shots` if
// it is given. axe takes most of the time, and most of that for the contrast of colours. So it looks at the light page
// at its greatest and least width, and at the colours once in light and once in dark. At the least width it looks only
// at the colours of the first page, because all pages share its frame. With `isLayoutOnly`, looks at the light pages
// without axe.
export async function visitPages(browser, base, paths, options) {
  const { storageState, shots, widths = [1280, 390], loaded = () => {}, look = notTooWide, isLayoutOnly = false } = options;
  const context = await browser.newContext({ storageState, bypassCSP: true });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('status of 404')) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(base)) complaints.push(`asks elsewhere: ${request.url()}`);
  });
  for (const path of paths) {
    await loaded(page, await page.goto(base + path), path);
    if (!isLayoutOnly) await page.evaluate(axe);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const isDarkToo = !isLayoutOnly && (shots || width === widths[0]);
      for (const colorScheme of isDarkToo ? ['light', 'dark'] : ['light']) {
        await page.emulateMedia({ colorScheme });
        if (shots) {
          const name = `${colorScheme}-${width}${path.replaceAll(/[/?=]/g, '-')}`;
          await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
        }
        const form = `${path} in ${colorScheme} at ${width}`;
        await look(page, form);
        assert.deepEqual(await page.evaluate(disorderly, width), [], `${form} has a disorderly row of buttons`);
        if (width >= 1280) assert.deepEqual(await page.evaluate(brokenWords), [], `${form} breaks a word in a table`);
        if (isLayoutOnly) continue;
        if (width === widths[0]) await noFaults(page, form, colorScheme === 'light' ? {} : { runOnly: ['color-contrast'] });
        else if (width === widths.at(-1) && colorScheme === 'light') await noFaults(page, form, path === paths[0] ? {} : NO_CONTRAST);
      }
    }
  }
  assert.deepEqual(complaints, []);
  await context.close();
}

const NO_CONTRAST = { rules: { 'color-contrast': { enabled: false } } };

// Returns the rows of buttons with a red button before another, or with unequal widths in a narrow window.
function disorderly(width) {
  const rows = [...document.querySelectorAll('.actions')].filter((row) => row.checkVisibility());
  const isRed = (item) => item.matches('.danger') || item.querySelector(':scope > button.danger') !== null;
  const faulty = rows.filter(({ children }) => {
    const items = [...children];
    const reds = items.map(isRed);
    const widths = new Set(items.filter((item) => !item.open).map((item) => Math.round(item.offsetWidth)));
    return reds.indexOf(true) !== -1 && reds.lastIndexOf(false) > reds.indexOf(true) || width < 640 && widths.size > 1;
  });
  return faulty.map((row) => row.innerText);
}

// Returns the short words in tables that continue in a second line.
function brokenWords() {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const word = text.data.trim();
    if (word === '' || word.length > 24 || /\s/.test(word) || text.parentElement.closest('table.log td') === null) continue;
    const range = document.createRange();
    range.selectNode(text);
    if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
  }
  return broken;
}

export async function notTooWide(page, form) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${form} is ${overflow} px too wide`);
}

// Fails if axe finds a fault. `axe` must be in the page.
async function noFaults(page, form, options) {
  const violations = await page.evaluate(
    async (options) => (await window.axe.run(document, { resultTypes: ['violations'], ...options })).violations, options);
  const faults = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
  assert.deepEqual(faults, [], form);
}

// Fails if axe finds a fault in the page as it is.
export async function checkAccessibility(page) {
  await page.evaluate(axe);
  await noFaults(page, page.url(), {});
}
