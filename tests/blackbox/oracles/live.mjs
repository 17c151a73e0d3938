// Follows the event log of a key in a real browser: only new attempts appear, without a reload, and the page keeps check
// marks and earlier attempts. A further stream ends the oldest, and the end of the session ends the stream.
//
//   node live.mjs BASE_URL CHROMIUM IDENTITY [FOLDER_FOR_SCREENSHOTS]
//
// IDENTITY is JSON: account, login secret, session token, and an API key with a webhook and one event that was delivered
// at the third attempt. The account may open one stream.
import assert from 'node:assert/strict';

import { assertCount, checkAccessibility, launch, signIn } from './browser.mjs';

const [base, executablePath, known, shots] = process.argv.slice(2);
const { id, secret, key, token, hook, event } = JSON.parse(known);

const browser = await launch(executablePath);
try {
  await follow();
} finally {
  await browser.close();
}

async function follow() {
  const user = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  const page = await user.newPage();
  page.setDefaultTimeout(20_000);
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
  await signIn(page, base, id, secret);
  await page.goto(`${base}/dashboard/keys/${key}/events`);
  await assertCount(page.locator('table.log > tbody > tr'), 1);
  await lookAtStream(page, user);
  await page.check('[name=selected]');
  await page.click('text=2 earlier attempts');
  await page.click('text=Follow live');
  await says(page, 'Live: waiting for attempts.');
  await keepsEvent(page, 2);

  await sendAgain();
  await page.waitForSelector('text=3 earlier attempts');
  await says(page, 'Live: 1 new attempt.');
  await assertCount(page.locator('table.log > tbody > tr'), 1, 'the event is listed once');
  await keepsEvent(page, 3);

  const envelope = await send();
  await page.waitForSelector(`table.log > tbody > tr:first-child:has([title="${envelope}"])`);
  await says(page, 'Live: 2 new attempts.');
  await assertCount(page.locator('table.log > tbody > tr'), 2, 'an entry is listed once');
  await keepsEvent(page, 3);
  await checkAccessibility(page);
  if (shots) await page.screenshot({ path: `${shots}/live.png`, fullPage: true });

  const second = await user.newPage();
  await second.goto(`${base}/dashboard/keys/${key}/events`);
  await second.click('text=Follow live');
  await says(second, 'Live: waiting for attempts.');
  await says(page, 'Your account follows newer logs instead.');
  await second.close();
  await page.click('text=Follow live');
  await says(page, 'Live: waiting for attempts.');

  await endSessions();
  await says(page, 'The log cannot be read. The session may have ended.');
  assert.deepEqual(problems, []);
}

// The stream begins after the newest attempt of the page, or after the newest one that the browser got before.
async function lookAtStream(page, user) {
  const address = new URL(await page.getAttribute('[data-live]', 'data-live'), base);
  const cookie = (await user.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  assert.equal(await readStream(address, { cookie }, '\n\n'), 'retry: 3000\n\n', 'the page has all attempts');
  const text = await readStream(address, { cookie, 'last-event-id': '0' }, '</tbody>\n\n', 3);
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  assert.deepEqual(ids, ids.toSorted((one, other) => one - other));
  assert.equal(ids.length, 3, text);
  assert.equal(address.searchParams.get('after'), String(ids.at(-1)));
}

// Reads a stream until it has `end` as often as expected.
async function readStream(address, headers, end, times = 1) {
  const stop = new AbortController();
  const response = await fetch(address, { headers, signal: stop.signal });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.split(end).length > times) break;
  }
  stop.abort();
  return text;
}

async function keepsEvent(page, earlier) {
  const row = page.locator(`table.log > tbody[data-event="${event}"] > tr`);
  assert.ok(await row.locator('[name=selected]').isChecked(), 'the event is still selected');
  assert.equal(await row.locator('details[open] li').count(), earlier, 'the earlier attempts are still listed');
}

async function says(page, text) {
  await page.waitForFunction((wanted) => document.querySelector('[data-live] [role=status]').textContent === wanted, text);
}

async function send() {
  const { envelope_id: envelope } = await call('/v1/channel/send', { to: key, message: 'x' });
  return envelope;
}

async function sendAgain() {
  await call('/v1/webhooks', { action: 'redeliver', webhook_id: hook, envelope_id: event });
}

async function endSessions() {
  await call('/v1/auth/logout', { all: true });
}

async function call(path, body) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-did-api-key': key };
  const response = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.equal(response.status, 200, path);
  return response.json();
}
