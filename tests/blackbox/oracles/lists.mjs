// Uses the lists of the dashboard in a real browser without JavaScript: sent envelopes, events and webhooks of one
// identity and of the account, and the form that changes a webhook. Then checks each page in light and dark, wide and
// narrow: nothing is cut off, and axe finds no fault.
//
//   node lists.mjs BASE_URL CHROMIUM KNOWN [FOLDER_FOR_SCREENSHOTS]
//
// KNOWN is JSON: an account, its login secret, and its key with a webhook, one sent and one received envelope.
import assert from 'node:assert/strict';

import { assertCount, launch, signIn, visitPages } from './browser.mjs';

const [base, executablePath, known, shots] = process.argv.slice(2);
const { id, secret, key } = JSON.parse(known);
const SIDEBAR = ['Overview', 'Identities', 'Sent', 'Events', 'Webhooks', 'API tokens', 'Activity', 'Account'];

const browser = await launch(executablePath);
try {
  await walk();
} finally {
  await browser.close();
}

async function walk() {
  const person = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
  const page = await person.newPage();
  page.setDefaultTimeout(20_000);
  await signIn(page, base, id, secret);
  const pages = [await useSidebar(page), await followSent(page), await followEvents(page), await changeWebhook(page)].flat();
  await visitPages(browser, base, pages, { storageState: await person.storageState(), shots, look: nothingCutOff });
}

// Each item leads to its page, which marks it.
async function useSidebar(page) {
  const items = page.locator('nav.side a');
  assert.deepEqual((await items.allInnerTexts()).map((text) => text.trim()), SIDEBAR);
  const paths = [];
  for (const item of SIDEBAR) {
    await page.click(`nav.side >> text="${item}"`);
    assert.equal(await page.innerText('h1'), item);
    assert.equal(await page.innerText('nav.side [aria-current]'), item);
    paths.push(pathOf(page));
  }
  return paths;
}

async function followSent(page) {
  await page.goto(`${base}/dashboard/keys/${key}`);
  await page.click('nav.tabbar >> text=Sent');
  await has(page, 'tbody', '@bob');
  await has(page, 'tbody', 'order.created');
  await page.fill('#recipient', 'nobody-at-all');
  await page.click('button:has-text("Filter")');
  await assertCount(page.locator('[role=alert]:focus'), 1, 'the error has the focus');
  assert.equal(await page.getAttribute('#recipient', 'aria-invalid'), 'true');
  await page.click('text=Clear');
  await page.click('tbody >> text=orders');
  assert.equal(await page.inputValue('#thread'), 'orders');
  const list = pathOf(page);
  await page.click('tbody a >> nth=0');
  await has(page, 'h1', 'Receipt of env_');
  await has(page, '.tag', 'waiting');
  await has(page, 'dl.facts', 'orders');
  return [list, pathOf(page)];
}

async function followEvents(page) {
  await page.goto(`${base}/dashboard/events`);
  await has(page, 'nav.filters', 'envelope.received 1');
  await page.goto(`${base}/dashboard/events?kind=usage.threshold`);
  await has(page, 'main', 'No event matches the filter.');
  await page.click('nav.filters >> text=envelope.received');
  await has(page, '.log tbody', '@bob');
  await page.click('.log tbody a >> nth=0');
  await has(page, 'h1', 'envelope.received');
  await page.click('summary:has-text("Block")');
  await has(page, 'details[open]', 'This sender can then no longer send');
  return [pathOf(page)];
}

async function changeWebhook(page) {
  await page.goto(`${base}/dashboard/webhooks`);
  await page.click('tbody a >> nth=0');
  const webhook = pathOf(page);
  await page.click('text=Change…');
  const change = pathOf(page);
  await page.fill('#url', 'http://10.0.0.1/hook');
  await page.fill('#description', 'orders of the shop');
  await page.click('button:has-text("Save")');
  assert.equal(await page.getAttribute('#url', 'aria-invalid'), 'true');
  assert.equal(await page.inputValue('#description'), 'orders of the shop', 'typed text is kept');
  await page.goto(base + change);
  await page.fill('#description', 'orders of the shop');
  await page.click('button:has-text("Save")');
  await has(page, '[role=status]', 'The webhook is changed.');
  await page.click('button:has-text("Pause")');
  await has(page, '[role=status]', 'The webhook is paused.');
  await page.goto(`${base}/dashboard/webhooks`);
  await has(page, 'tbody', 'orders of the shop');
  await has(page, 'tbody', 'paused');
  return [webhook, change];
}

async function nothingCutOff(page, form) {
  assert.deepEqual(await page.evaluate(cutOff), [], form);
}

// Returns the elements that are not wholly visible: outside the window, or inside a part that scrolls sideways.
function cutOff() {
  const hidden = [];
  for (const element of document.querySelectorAll('main a, main button, main td, main input:not([type=hidden]), main select')) {
    if (!element.checkVisibility()) continue;
    const { left, right } = element.getBoundingClientRect();
    if (left < 0 || right > document.documentElement.clientWidth) hidden.push(element.outerHTML.slice(0, 90));
  }
  return hidden;
}

function pathOf(page) {
  const { pathname, search } = new URL(page.url());
  return pathname + search;
}

async function has(page, place, text) {
  const seen = await page.locator(place).first().innerText();
  assert.ok(seen.includes(text), `${place} of ${page.url()} lacks ${text}: ${seen}`);
}
