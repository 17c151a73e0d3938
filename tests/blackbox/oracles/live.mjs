// Follows the event log of a key in a real browser: new attempts appear without a reload, a further stream ends the
// oldest, and the end of the session ends the stream.
//
//   node live.mjs BASE_URL CHROMIUM IDENTITY [FOLDER_FOR_SCREENSHOTS]
//
// IDENTITY is JSON: account, login secret, session token, and an API key with a webhook and one delivered event. The
// account may open one stream.
import assert from 'node:assert/strict';

import { assertCount, checkAccessibility, launch, signIn } from './browser.mjs';

const [base, executablePath, known, shots] = process.argv.slice(2);
const { id, secret, key, token } = JSON.parse(known);

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
  await page.click('text=Follow live');
  await says(page, 'Live: waiting for attempts.');

  const envelope = await send();
  await page.waitForSelector(`table.log > tbody > tr:first-child:has([title="${envelope}"])`);
  await says(page, 'Live: 1 new attempt.');
  await assertCount(page.locator('table.log > tbody > tr'), 2, 'an entry is listed once');
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

async function says(page, text) {
  await page.waitForFunction((wanted) => document.querySelector('[data-live] [role=status]').textContent === wanted, text);
}

async function send() {
  const { envelope_id: envelope } = await call('/v1/channel/send', { to: key, message: 'x' });
  return envelope;
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
