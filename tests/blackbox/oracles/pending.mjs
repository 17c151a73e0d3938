// Looks at an account whose only webhook never responds: its figures, its page, and its events, wide and narrow. Ends with
// status 0 only if all checks pass.
//
//   node pending.mjs BASE_URL CHROMIUM KNOWN
//
// KNOWN is JSON: an account, its login secret, its key, the key's webhook, and the number of its pending deliveries.
import assert from 'node:assert/strict';

import { assertCount, launch, signIn } from './browser.mjs';

const [base, executablePath, known] = process.argv.slice(2);
const { id, secret, key, hook, pending } = JSON.parse(known);
const identity = `${base}/dashboard/keys/${key}`;

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
  await countPending(page);
  await lookAtWebhook(page);
  await filterEvents(page);
  await lookAtNarrowPages(page);
}

// One word for deliveries, another for envelopes without a webhook.
async function countPending(page) {
  await has(page, 'dl.figures', 'Envelopes without a webhook\n0');
  await has(page, '.attention', 'failing for');
  await page.goto(identity);
  await has(page, 'main', `${pending} deliveries are pending`);
  await page.click('text=deliveries are pending');
  await assertCount(page.locator('.log tbody tr'), pending);
}

// Nothing is measured without a response. The first button is the main one; the last deletes.
async function lookAtWebhook(page) {
  await page.goto(`${identity}/webhooks/${hook}`);
  await has(page, '.problem', 'has been failing for');
  await has(page, '[aria-labelledby=days-head]', 'has not responded');
  await assertCount(page.locator('svg.chart'), 0);
  assert.ok(!(await page.innerText('main')).includes('95 %'), 'a share of no responses is shown');
  const buttons = await page.locator('.actions').evaluate((actions) => [...actions.querySelectorAll('button, .button, summary')]
    .filter((it) => it.checkVisibility()).map((it) => [it.innerText, it.classList.contains('main'), getComputedStyle(it).color]));
  assert.deepEqual(buttons.filter(([, isMain]) => isMain).map(([text]) => text), ['Send a test event']);
  assert.equal(buttons[0][0], 'Send a test event');
  assert.equal(buttons.at(-1)[0], 'Delete…');
  const bad = await page.locator('.problem').evaluate((it) => getComputedStyle(it).borderLeftColor);
  assert.deepEqual(buttons.filter(([, , colour]) => colour === bad).map(([text]) => text), ['Delete…'], 'only the last is red');
  await page.click('button:has-text("Send a test event")');
  assert.match(await page.innerText('.problem[role=status]'), /^The test event failed:/);
}

// The address has the filter, so a reload keeps it and a link shares it.
async function filterEvents(page) {
  await page.goto(`${base}/dashboard/events`);
  await page.selectOption('#state', 'failed');
  await page.fill('#before', '2099-01-31T12:00');
  await page.click('button:has-text("Filter")');
  await page.waitForURL((url) => url.searchParams.get('state') === 'failed');
  await page.reload();
  const shared = await page.context().newPage();
  await shared.goto(page.url());
  for (const view of [page, shared]) {
    assert.deepEqual([await view.inputValue('#state'), await view.inputValue('#before')], ['failed', '2099-01-31T12:00']);
  }
  await page.click('text=Clear');
  await page.waitForURL((url) => url.search === '');
}

async function lookAtNarrowPages(page) {
  await page.setViewportSize({ width: 390, height: 800 });
  const heights = await page.locator('.log tbody tr').evaluateAll((rows) => rows.map((row) => row.offsetHeight));
  assert.ok(Math.max(...heights) <= 210, `cards of events are ${heights} px high`);
  assert.ok(await page.locator('#before').evaluate((it) => it.offsetWidth) >= 240, 'the time is cut off');
  assert.equal(await isInSight(page, '.foot button'), false, 'the log is longer than the window');
  await page.check('.log tbody tr:first-child input');
  assert.equal(await isInSight(page, '.foot button'), true, 'the button stays in sight while an event is selected');
  await page.goto(`${base}/dashboard`);
  const places = await page.locator('.figures > div').evaluateAll((figures) => figures.map((it) => it.offsetLeft));
  assert.deepEqual(places, [places[0], places[1], places[0], places[1]], 'the figures stand two by two');
}

async function isInSight(page, selector) {
  await page.evaluate(() => scrollTo(0, 0));
  const { y, height } = await page.locator(selector).boundingBox();
  return y + height <= 800;
}

async function has(page, place, text) {
  const seen = await page.locator(place).first().innerText();
  assert.ok(seen.includes(text), `${place} of ${page.url()} lacks ${text}: ${seen}`);
}
