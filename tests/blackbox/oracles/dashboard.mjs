// Uses every page and every form of the dashboard in a real browser without JavaScript. Then checks each page in dark
// and narrow form, and with axe. Ends with status 0 only if all checks pass.
//
//   node dashboard.mjs BASE_URL CHROMIUM KNOWN [FOLDER_FOR_SCREENSHOTS]
//
// KNOWN is an identity with history, as JSON: an account, its login secret, its only key, and the key's usage.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { assertCount, launch, visitPages } from './browser.mjs';

const [base, executablePath, known, shots] = process.argv.slice(2);
const HOSTILE = `<img src=x onerror="document.title='owned'">'"&amp;`;
const PUBLIC = ['/docs/nowhere', '/badges/nobody'];
const seen = new Set();

const browser = await launch(executablePath);
const receiver = await startReceiver();
try {
  await walk();
} finally {
  receiver.server.close();
  receiver.server.closeAllConnections();
  await browser.close();
}

async function walk() {
  const person = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1100, height: 800 } });
  const page = await person.newPage();
  page.setDefaultTimeout(20_000);
  const origins = new Set();
  page.on('request', async (request) => {
    if (request.method() === 'POST') origins.add(await request.headerValue('origin'));
  });
  const account = await openAccount(page);
  await signIn(page, account);
  const key = await createIdentity(page);
  await changePolicy(page, account, key);
  await useApiTokens(page, key);
  const hook = await registerWebhook(page, key);
  await followDeliveries(page, account, key, hook);
  await rotateSecret(page, hook);
  await disableAndEnable(page, account, key, hook);
  await checkEveryPage(person, [...seen], account);
  await deleteWebhook(page, key, hook);
  await revoke(page, account, key);
  await endSessions(page, account);
  await closeAccount(page, account);
  await checkKnownIdentity(page, JSON.parse(known));
  assert.deepEqual([...origins], [new URL(base).origin], 'the browser names the origin of every form');
}

async function openAccount(page) {
  await page.goto(`${base}/dashboard`);
  assert.equal(new URL(page.url()).pathname, '/dashboard/sign-in', 'a signed-out user is redirected to sign in');
  await note(page);
  await page.click('text=Open one');
  await note(page);
  await page.fill('#label', HOSTILE);
  await page.fill('#handle', 'Not A Handle');
  await page.click('button.main');
  await has(page, '[role=alert]', 'handle');
  await page.fill('#handle', `p${Date.now()}`);
  await page.click('button.main');
  await has(page, 'h1', 'Your account is open');
  const text = await page.innerText('main');
  assert.ok(text.includes(HOSTILE), 'a hostile label is shown as it was typed');
  const [id] = /acct_\w+/.exec(text);
  const [secret] = /ls_\w+/.exec(text);
  const [key] = /ak_\w+/.exec(text);
  const file = decodeURIComponent(await page.getAttribute('a[download]', 'href'));
  for (const part of [id, secret, key]) assert.ok(file.includes(part), 'the file has all credentials');
  assert.ok(await page.locator(`code.copyable:text-is("${id}")`).isVisible(), 'a script adds a copy button to the account');
  await page.click('text=Continue to the dashboard');
  await has(page, 'h1', 'Overview');
  await has(page, 'main', 'First steps');
  await note(page);
  await page.click('text=Sign out');
  return { id, secret, key };
}

async function signIn(page, account) {
  await page.goto(`${base}/dashboard/sign-in`);
  await page.fill('#account_id', account.id);
  await page.fill('#login_secret', `${account.secret}x`);
  await page.click('button.main');
  await has(page, '[role=alert]', 'wrong');
  await page.fill('#login_secret', account.secret);
  await page.click('button.main');
  await has(page, 'h1', 'Overview');
  await has(page, 'table.identities', HOSTILE);
  await note(page);
}

async function createIdentity(page) {
  await page.click('text=New identity');
  await note(page);
  await page.fill('#label', 'x'.repeat(100));
  await page.fill('#handle', 'admin!');
  await page.click('button.main');
  await has(page, '[role=alert]', 'handle');
  await page.fill('#label', 'Orders');
  await page.fill('#handle', '');
  await page.click('button.main');
  await has(page, 'h1', 'Orders');
  await note(page);
  return /ak_\w+/.exec(page.url())[0];
}

// Leaves one token, so that the noted page shows a list.
async function useApiTokens(page, key) {
  const identity = page.url();
  await page.click('nav >> text=API tokens');
  await has(page, 'main', 'The account has no API token.');
  await page.fill('#name', HOSTILE);
  await page.selectOption('#api_key_id', key);
  await page.click('button.main');
  await has(page, '[role=alert]', 'at least one scope');
  const tokens = [];
  for (const scope of ['read', 'send']) {
    await page.fill('#name', HOSTILE);
    await page.selectOption('#api_key_id', key);
    await page.check(`[name=${scope}]`);
    await page.click('button.main');
    tokens.push(await page.innerText('.secret'));
    await page.click('text=Back to the API tokens');
  }
  const status = async (token) => (await post('/v1/did/status', {}, { authorization: `Bearer ${token}` })).status;
  assert.deepEqual([await status(tokens[0]), await status(tokens[1])], [200, 403]);
  await page.click('tbody summary >> nth=0');
  await page.click('tbody details[open] button');
  await assertCount(page.locator('tbody tr'), 1);
  await has(page, 'tbody', HOSTILE);
  assert.deepEqual([await status(tokens[0]), await status(tokens[1])], [401, 403]);
  await note(page);
  await page.goto(identity);
}

async function registerWebhook(page, key) {
  await page.goto(`${base}/dashboard/keys/${key}/webhooks`);
  await note(page);
  await page.fill('#url', 'http://10.0.0.1/hook');
  await page.click('button:has-text("Register")');
  await has(page, '[role=alert]', 'URL');
  await page.fill('#url', receiver.url);
  await page.click('button:has-text("Register")');
  assert.match(await page.innerText('.secret'), /^whsec_/);
  await page.click('text=To the webhook');
  await has(page, 'h1', new URL(receiver.url).host);
  await note(page);
  assert.ok(page.url().includes(key));
  return /wh_\w+/.exec(page.url())[0];
}

async function changePolicy(page, account, key) {
  await page.goto(`${base}/dashboard/keys/${key}/senders`);
  await note(page);
  await page.selectOption('#accept', 'contacts');
  await page.click('button:has-text("Save")');
  assert.equal(await page.inputValue('#accept'), 'contacts');
  await page.fill('#allow', 'no-such-name');
  await page.click('button:has-text("Allow")');
  await has(page, '[role=alert]', 'handle');
  await page.fill('#allow', `${account.key}`);
  await page.click('button:has-text("Allow")');
  await has(page, 'ul.rows', account.key);
  await has(page, 'ul.rows', HOSTILE);
  await page.selectOption('#accept', 'anyone');
  await page.click('button:has-text("Save")');
}

async function followDeliveries(page, account, key, hook) {
  receiver.answers = 500;
  const envelope = await send(account, key);
  await until(page, '.tag.exhausted');
  await page.locator(`[title="${envelope}"]`).first().waitFor();
  await has(page, '.log tbody', 'The receiver responded 500');
  await page.click('nav.filters >> text=succeeded');
  await has(page, '[aria-labelledby=log-head]', 'No event in this list');
  await page.click('nav.filters >> text=exhausted');
  await page.locator(`[title="${envelope}"]`).first().waitFor();
  receiver.answers = 200;
  await page.check('.log tbody tr:first-child input');
  await page.click('button:has-text("Send the selected events again")');
  await has(page, '[role=status]', 'sent again');
  assert.ok(page.url().endsWith('?state=exhausted'), 'the filter is kept');
  await page.click('nav.filters >> text=all');
  await until(page, '.log tbody td > .tag.succeeded');
  receiver.answers = 500;
  await send(account, key);
  await until(page, '.log thead + tbody > tr > td > .tag.exhausted');
  receiver.answers = 200;
  await page.click('summary:has-text("Send failed again")');
  await page.selectOption('#hours', '1');
  await page.click('details[open] button:has-text("Send again")');
  await has(page, '[role=status]', '1 failed delivery is sent again');
  await until(page, '.log thead + tbody > tr > td > .tag.succeeded');
  for (let number = 0; number < 14; number += 1) await send(account, key);
  await until(page, 'text=Older');
  await page.click('text=Older');
  await page.locator(`[title="${envelope}"]`).first().waitFor();
  await followEvents(page, key, hook, envelope);
  await page.goto(`${base}/dashboard/keys/${key}/webhooks/${hook}`);
}

// Uses the event log of the key, and the page of one event.
async function followEvents(page, key, hook, envelope) {
  await page.goto(`${base}/dashboard/keys/${key}/events`);
  await note(page);
  await page.selectOption('#state', 'exhausted');
  await page.click('button:has-text("Filter")');
  await page.locator(`[title="${envelope}"]`).first().waitFor();
  await page.check('.log tbody tr:first-child input');
  await page.click('button:has-text("Send the selected events again")');
  await has(page, '[role=status]', '1 event is sent again');
  await page.fill('#id', envelope);
  await page.click('button:has-text("Find")');
  await note(page);
  await has(page, 'main', 'answer 500 <b>bold</b>');
  await has(page, 'main', `"envelope_id": "${envelope}"`);
  await page.click('summary:has-text("body as sent")');
  await has(page, 'main', `"envelope_id":"${envelope}"`);
  await page.goto(`${base}/dashboard/keys/${key}/webhooks/${hook}`);
  await page.click('button:has-text("Send a test event")');
  await has(page, '[role=status]', 'arrived: the receiver responded 200');
}

async function rotateSecret(page, hook) {
  await page.click('summary:has-text("New signing secret")');
  await page.click('text=Make a new signing secret');
  assert.match(await page.innerText('.secret'), /^whsec_/);
  await page.click('text=To the webhook');
  assert.ok(page.url().includes(hook));
}

async function disableAndEnable(page, account, key, hook) {
  receiver.answers = 410;
  await send(account, key);
  await until(page, '.problem');
  await has(page, '.problem', '410 Gone');
  receiver.answers = 200;
  await page.click('button:has-text("Enable")');
  await has(page, '[role=status]', 'Enabled');
  await assertCount(page.locator('button:has-text("Enable")'), 0, 'the webhook is enabled');
  assert.ok(page.url().includes(hook));
}

// Compares the overview and the page of a key with the response of the API.
async function checkKnownIdentity(page, identity) {
  await page.fill('#account_id', identity.id);
  await page.fill('#login_secret', identity.secret);
  await page.click('button.main');
  await has(page, 'table.identities .tags', 'active');
  await has(page, 'table.identities .tags', identity.plan);
  await has(page, 'table.identities .tags .blocked', 'blocked by governance');
  await has(page, 'table.identities', identity.handle);
  await has(page, 'table.identities', '3 messages this month');
  await page.click('table.identities a');
  assert.ok(page.url().endsWith(identity.key));
  for (const fact of [identity.key, identity.did, identity.handle]) await has(page, 'dl.facts', fact);
  await has(page, '.tags', identity.plan);
  await has(page, '.problem', 'Governance blocks this key');
  await has(page, '[aria-labelledby=governance-head] tbody', 'the council decided');
  await usageIs(page, '[aria-labelledby=usage-head]', identity.usage);
  await has(page, '.legend', '15 messages sent');
  await has(page, '.legend', '4 received');
  const heights = (kind) => page.locator(`svg.chart rect.${kind}`).evaluateAll(
    (bars) => bars.map((bar) => Number(bar.getAttribute('height'))));
  const [sent, received] = [await heights('first'), await heights('second')];
  assert.deepEqual([sent.length, received.length], [30, 30]);
  assert.deepEqual([sent.filter(Boolean), received.filter(Boolean)], [[120, 60], [48]], 'the height of a bar matches the count of its day');
  await page.click('summary:has-text("As a table")');
  assert.match(await page.innerText('details tbody tr:first-child'), /5\s+4\s+2/);
}

// Time has passed since the API call: only the usage of the month is still the same.
async function usageIs(page, place, usage) {
  const text = await page.innerText(place);
  for (const [window, name] of [['minute', 'requests this minute'], ['day', 'requests today'], ['month', 'messages this month']]) {
    const [used, limit] = new RegExp(`([\\d,]+) of ([\\d,]+) ${name}`).exec(text).slice(1)
      .map((number) => Number(number.replaceAll(',', '')));
    assert.equal(limit, usage[window].limit, name);
    if (window === 'month') assert.equal(used, 3, name);
    const meter = page.locator(`${place} meter[aria-label="${name}"]`);
    assert.equal(Number(await meter.getAttribute('value')), used, name);
    assert.equal(Number(await meter.getAttribute('max')), limit, name);
  }
}

async function deleteWebhook(page, key, hook) {
  await page.goto(`${base}/dashboard/keys/${key}/webhooks/${hook}`);
  await page.click('summary:has-text("Delete")');
  await page.click('text=Delete this webhook');
  await has(page, 'main', 'No webhook is registered');
  await page.goto(`${base}/dashboard/keys/${key}/webhooks/${hook}`);
  await has(page, 'h1', 'Not found');
}

async function revoke(page, account, key) {
  await page.goto(`${base}/dashboard/keys/${key}`);
  await page.click('text=Revoke this identity…');
  await has(page, 'main', 'no envelope that was sealed to it can ever be opened again');
  await page.fill('#typed', account.key);
  await page.click('button.danger');
  await has(page, '[role=alert]', 'Nothing was revoked');
  await page.fill('#typed', key);
  await page.click('button.danger');
  await has(page, 'main', 'permanently revoked');
  await assertCount(page.locator('text=Revoke this identity…'), 0);
  await page.goto(`${base}/dashboard/keys`);
  await has(page, 'main', 'Revoked');
  assert.equal((await api(account, key, '/v1/did/status')).status, 403);
}

async function endSessions(page, account) {
  const other = await login(account);
  await page.goto(`${base}/dashboard/account`);
  const before = await page.locator('.sessions li').count();
  await page.click('.sessions button >> nth=0');
  await assertCount(page.locator('.sessions li'), before - 1);
  await page.click('text=Make new secrets…');
  await page.click('text=Make a new login secret');
  const secret = await page.innerText('.secret');
  assert.match(secret, /^ls_/);
  assert.equal((await post('/v1/auth/login', { account_id: account.id, login_secret: account.secret })).status, 401);
  account.secret = secret;
  const last = await login(account);
  await page.click('text=To the account');
  await page.click('text=Sign out everywhere…');
  await page.click('button:has-text("Sign out everywhere")');
  await has(page, 'h1', 'Sign in');
  for (const token of [other, last]) {
    assert.equal((await post('/v1/auth/logout', {}, { authorization: `Bearer ${token}` })).status, 401);
  }
  await page.goto(`${base}/dashboard`);
  assert.equal(new URL(page.url()).pathname, '/dashboard/sign-in');
  await signIn(page, account);
  await page.click('text=Sign out');
  await has(page, 'h1', 'Sign in');
}

async function closeAccount(page, account) {
  await signIn(page, account);
  await page.click('nav >> text=Activity');
  await has(page, 'main', 'Login failed');
  await page.click('nav >> text=Account');
  await page.click('text=Export your data…');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download the file')]);
  const exported = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.equal(exported.account_id, account.id);
  assert.equal(download.suggestedFilename(), `sealpost-${account.id}.json`);
  await page.click('text=Back to the account');
  await page.click('text=Close the account…');
  await page.fill('#login_secret', `${account.secret}x`);
  await page.click('text=Close this account permanently');
  await has(page, 'main', 'Nothing was closed.');
  await page.fill('#login_secret', account.secret);
  await page.click('text=Close this account permanently');
  await has(page, 'h1', 'The account is closed');
  if (shots) await page.screenshot({ path: `${shots}/closed.png`, fullPage: true });
  assert.equal((await post('/v1/auth/login', { account_id: account.id, login_secret: account.secret })).status, 401);
  await page.goto(`${base}/dashboard`);
  assert.equal(new URL(page.url()).pathname, '/dashboard/sign-in');
}

// Checks every page wide and narrow, in light and dark: no content is cut off, no content comes from another origin or
// violates the page's own policy, and axe finds no fault.
async function checkEveryPage(person, paths, account) {
  const storageState = await person.storageState();
  const revokePage = paths.find((path) => /\/keys\/ak_\w+$/.test(path));
  const all = [...paths, `${revokePage}/revoke`, '/dashboard/account', '/dashboard/account/close', '/dashboard/account/export', '/dashboard/account/sessions',
    '/dashboard/account/secret', '/dashboard/account/secrets', '/dashboard/recover', '/dashboard/recovered', '/dashboard/activity', '/dashboard/keys', '/dashboard/keys/new', '/dashboard/sent', '/dashboard/events',
    '/dashboard/webhooks',
    '/dashboard/nowhere'];
  assert.ok(all.length >= 9, `every page was noted: ${all}`);
  await visitPages(browser, base, [...all, ...PUBLIC], { storageState, shots, loaded: notOwned });
  await underTheRealPolicy(storageState, all);
  assert.ok(account.id);
}

async function notOwned(page) {
  assert.notEqual(await page.title(), 'owned', 'a label ran as script');
}

// With JavaScript and the policy enabled, no page violates its policy.
async function underTheRealPolicy(storageState, paths) {
  const context = await browser.newContext({ storageState });
  const page = await context.newPage();
  const refused = [];
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) refused.push(message.text());
  });
  for (const path of [...paths, ...PUBLIC]) {
    const response = await page.goto(base + path);
    const policy = response.headers()['content-security-policy'];
    assert.ok(policy.startsWith("default-src 'none'") && !policy.includes('unsafe'), `${path}: ${policy}`);
    if (!PUBLIC.includes(path)) assert.equal(response.headers()['cache-control'], 'no-store', path);
  }
  assert.deepEqual(refused, []);
  await context.close();
}

async function note(page) {
  seen.add(new URL(page.url()).pathname);
}

async function has(page, selector, text) {
  const found = await page.locator(selector).first().innerText();
  assert.ok(found.includes(text), `${page.url()} says "${found}" in ${selector}, and not "${text}"`);
}

// Without JavaScript a page changes only after a reload.
async function until(page, selector) {
  // A page whose address differs in its fragment alone would not be loaded again.
  const [url] = page.url().split('#');
  for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
    if (await page.locator(selector).count() > 0) return;
    await new Promise((done) => setTimeout(done, 100));
    await page.goto(url);
  }
  assert.fail(`${url} never showed ${selector}: ${await page.innerText('main')}`);
}

async function post(path, body, headers = {}) {
  const response = await fetch(base + path, {
    method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, body: await response.json() };
}

async function login(account) {
  const response = await post('/v1/auth/login', { account_id: account.id, login_secret: account.secret });
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return response.body.session_token;
}

async function api(account, key, path, body = {}) {
  account.token ??= await login(account);
  return post(path, body, { authorization: `Bearer ${account.token}`, 'x-did-api-key': key });
}

// Sends from the account's first key.
async function send(account, to) {
  let response;
  do {
    response = await api(account, account.key, '/v1/channel/send', { to, message: 'hello' });
    // The plan allows ten messages a second.
    if (response.status === 429) await new Promise((done) => setTimeout(done, 200));
  } while (response.status === 429);
  assert.equal(response.status, 200, JSON.stringify(response.body));
  return response.body.envelope_id;
}

async function startReceiver() {
  const state = { answers: 200 };
  state.server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(state.answers).end(`answer ${state.answers} <b>bold</b>`));
  });
  await new Promise((listening) => state.server.listen(0, '127.0.0.1', listening));
  state.url = `http://127.0.0.1:${state.server.address().port}/hook`;
  return state;
}
