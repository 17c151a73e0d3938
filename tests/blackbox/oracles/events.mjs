// Looks at the events and webhooks of an account in a real browser: each event stands together with its deliveries, wide and
// narrow, and a disabled webhook says that it gets no attempt. Ends with status 0 only if all checks pass.
//
//   node events.mjs BASE_URL CHROMIUM KNOWN
//
// KNOWN is JSON: an account, its login secret, its key, and a key that sent a message. The first key only receives. It has
// two events and three webhooks: `good` with a description, `long` that fails, and `gone` that was disabled by the first event.
import assert from 'node:assert/strict';

import { assertCount, launch, signIn } from './browser.mjs';

const [base, executablePath, known] = process.argv.slice(2);
const { id, secret, key, sender, good, long, gone } = JSON.parse(known);
const identity = `${base}/dashboard/keys/${key}`;
const TIME = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/;

const browser = await launch(executablePath);
try {
  await walk();
} finally {
  await browser.close();
}

async function walk() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await signIn(page, base, id, secret);
  await lookAtLog(page);
  await lookAtEvent(page);
  await lookAtWebhooks(page);
  await lookAtIdentities(page);
  await lookAtErrors(page);
}

async function lookAtLog(page) {
  await page.goto(`${base}/dashboard/events?state=`);
  assert.deepEqual(await countRows(page), [3, 3], 'each event has its three deliveries');
  await assertCount(page.locator('.log .kind'), 2, 'each event is named once');
  const disabled = page.locator(`tr[data-webhook="${gone}"]`);
  for (const row of await disabled.all()) {
    const text = await row.innerText();
    assert.equal(text.includes('no attempt while the webhook is disabled'), !text.includes('exhausted'), text);
    await assertCount(row.locator('input'), 0, 'a disabled webhook gets no event again');
  }
  assert.ok((await disabled.first().innerText()).includes('no attempt'), 'the newest event is first');
  assert.deepEqual(await page.evaluate(cutSelects), []);
  await page.selectOption('#state', 'failed');
  await page.click('button:has-text("Filter")');
  const [filter, clear] = [await page.locator('text="Filter"').boundingBox(), await page.locator('text="Clear"').boundingBox()];
  assert.deepEqual([filter.y, filter.height], [clear.y, clear.height], 'both buttons are aligned');
  await page.click('text="Clear"');
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    assert.deepEqual(await page.evaluate(brokenWords), [], `${width}`);
  }
  const cards = await page.locator('.log tbody').evaluateAll((events) => events.map((event) => getComputedStyle(event).borderTopWidth));
  assert.deepEqual(cards, ['1px', '1px'], 'an event is a card');
  await page.setViewportSize({ width: 1280, height: 800 });
}

function countRows(page) {
  return page.locator('.log tbody').evaluateAll((events) => events.map((event) => event.rows.length));
}

// Returns the choices that are wider than their field.
function cutSelects() {
  const context = document.createElement('canvas').getContext('2d');
  return [...document.querySelectorAll('select:not(#webhook)')].flatMap((select) => {
    const { font, paddingLeft } = getComputedStyle(select);
    context.font = font;
    const room = select.clientWidth - 2 * parseFloat(paddingLeft) - 20;
    return [...select.options].map((option) => option.text).filter((text) => context.measureText(text).width > room);
  });
}

// Returns the parts of URLs in the log that are broken although a line has room for them.
function brokenWords() {
  const parts = [...document.querySelectorAll('[data-label="Webhook"] a')].flatMap((link) => [...link.childNodes]);
  return parts.filter((part) => part.nodeType === Node.TEXT_NODE && part.data.length < 24 && !part.data.includes(' ')).filter((part) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return range.getClientRects().length > 1;
  }).map((part) => part.data);
}

async function lookAtEvent(page) {
  await page.click('.log tbody:last-of-type a >> nth=0');
  const deliveries = page.locator('article.delivery');
  await assertCount(deliveries, 3);
  const attempts = await deliveries.evaluateAll((all) => all.map((it) => it.querySelectorAll('.attempts > li').length));
  assert.deepEqual(attempts.toSorted(), [1, 1, 3], 'a pending delivery and two attempts at the failing webhook');
  const places = await page.locator('.attempts dd').evaluateAll((all) => all.map((it) => it.getBoundingClientRect().left));
  assert.equal(new Set(places).size, 1, `the columns are aligned: ${places}`);
  await assertCount(deliveries.locator('button'), 2, 'a disabled webhook gets no event again');
  for (const button of await deliveries.locator('button').all()) {
    assert.equal(await button.innerText(), 'Send again');
    assert.ok((await button.boundingBox()).height <= 32, 'the button is small');
  }
  assert.match(await page.innerText('dl.facts'), TIME);
  assert.match(await page.innerText('.attempts'), TIME);
  await page.click('dl.facts code.copyable + .copy-button');
  const copied = page.locator('.copy-button[aria-live]:is([aria-label="Copied Event id"], [aria-label="Selected Event id"])');
  await assertCount(copied, 1, 'a screen reader announces that the id is copied');
}

async function lookAtWebhooks(page) {
  await page.goto(`${base}/dashboard/webhooks`);
  const inList = await states(page, 'tbody tr');
  await page.goto(`${identity}/webhooks`);
  assert.deepEqual(await states(page, '.cards > li'), inList, 'both lists have the same states');
  for (const state of ['enabled', 'failing', 'disabled']) assert.ok(Object.values(inList).includes(state), state);
  await page.goto(`${base}/dashboard`);
  const attention = await page.innerText('.attention');
  assert.equal(attention.match(/failing for/g).length, 1, attention);
  for (const [webhook, name] of [[good, 'Orders of the shop'], [long, /^127\.0\.0\.1:\d+$/]]) {
    await page.goto(`${identity}/webhooks/${webhook}`);
    const shown = (await page.innerText('h1')).replaceAll('\u200b', '');
    assert.ok(name instanceof RegExp ? name.test(shown) : shown === name, shown);
  }
  for (const webhook of [good, long, gone]) {
    await page.goto(`${identity}/webhooks/${webhook}`);
    assert.equal(await rowsOf(page), 1, 'the actions stand in one row');
  }
  await page.goto(`${identity}/webhooks/${good}`);
  await page.click('button:has-text("Pause")');
  assert.equal(await rowsOf(page), 1, 'also those of a paused webhook');
  await page.setViewportSize({ width: 390, height: 800 });
  const names = await page.locator('.scale span').evaluateAll((all) => all.filter((it) => it.checkVisibility({ visibilityProperty: true })).map((it) => {
    const range = document.createRange();
    range.selectNodeContents(it);
    return range.getBoundingClientRect();
  }).filter(({ width }) => width > 0).map(({ left, right }) => [left, right]));
  assert.ok(names.length >= 3 && names.slice(1).every(([left], index) => left > names[index][1] + 8), `the days have room: ${names}`);
  await page.setViewportSize({ width: 1280, height: 800 });
}

// Returns the state of each webhook, by the address of its page.
async function states(page, rows) {
  return Object.fromEntries(await page.locator(rows).evaluateAll((all) => all.map((row) =>
    [row.querySelector('a[href*="/wh_"]').pathname, row.querySelector('.badge').innerText])));
}

function rowsOf(page) {
  return page.locator('.actions > *').evaluateAll((all) => new Set(all.map((it) => it.getBoundingClientRect().top)).size);
}

async function lookAtIdentities(page) {
  await page.goto(identity);
  const bars = await page.locator('svg.chart rect').evaluateAll((all) => all.filter((bar) => Number(bar.getAttribute('height')) > 0).length);
  assert.equal(bars, 1, 'the received messages have a bar');
  await page.goto(`${base}/dashboard/keys/${sender}`);
  await assertCount(page.locator('meter'), 3);
  const colour = await page.locator('meter').last().evaluate((it) => getComputedStyle(it).appearance);
  assert.equal(colour, 'none', 'meters have the colours of the design');
  await page.goto(`${base}/dashboard/keys/${sender}/revoke`);
  await page.fill('#typed', sender);
  await page.click('button.danger');
  await assertCount(page.locator('meter'), 0, 'a revoked identity uses nothing');
}

// A page for an error keeps the frame of the dashboard.
async function lookAtErrors(page) {
  for (const path of ['tokens/nothing', 'nowhere', 'keys/nothing']) {
    await page.goto(`${base}/dashboard/${path}`);
    assert.equal(await page.innerText('h1'), 'Not found');
    await assertCount(page.locator('nav.side'), 1, path);
  }
  await page.goto(`${base}/dashboard/account/secrets`);
  assert.equal(await page.innerText('h1'), 'No secrets to show');
}
