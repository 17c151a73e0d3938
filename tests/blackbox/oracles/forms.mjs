// Checks in a real browser without JavaScript that a rejected form shows its error, and that a form acts once.
//
//   node forms.mjs BASE_URL CHROMIUM
import assert from 'node:assert/strict';

import { assertCount, launch } from './browser.mjs';

const [base, executablePath] = process.argv.slice(2);
const browser = await launch(executablePath);
try {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await openAccount(page);
  await createIdentity(page);
  const identity = page.url();
  await registerWebhook(page, identity);
  await rotateSecret(page);
  await createToken(page);
  await replaceSecrets(page);
  await showOtherErrors(page, identity);
} finally {
  await browser.close();
}

async function openAccount(page) {
  await page.goto(`${base}/dashboard/open-account`);
  await page.fill('#label', 'Alice');
  await page.fill('#handle', '1 wrong');
  await page.click('button.main');
  await showsError(page, '#handle', '1 wrong');
  assert.equal(await page.inputValue('#label'), 'Alice', 'typed text is kept');
  await page.fill('#handle', '');
  await page.click('button.main');
  const account = /acct_\w+/.exec(await page.innerText('main'))[0];
  await assertCount(page.locator('.secret'), 2);
  await page.reload();
  await hidesSecrets(page);
  await page.goto(`${base}/dashboard/account`);
  assert.ok((await page.innerText('main')).includes(account), 'a reload opens no other account');
}

async function createIdentity(page) {
  await page.goto(`${base}/dashboard/keys/new`);
  await page.fill('#label', 'Orders');
  await page.fill('#handle', 'no!');
  await page.click('button.main');
  await showsError(page, '#handle', 'no!');
  await page.fill('#handle', '');
  await page.click('button.main');
  await has(page, '[role=status]', 'The identity is created.');
  await page.reload();
  await assertCount(page.locator('[role=status]'), 0, 'a result is shown once');
  const created = page.url();
  await page.goto(`${base}/dashboard`);
  await assertCount(page.locator('table.identities tbody tr'), 2);
  await page.goto(created);
}

async function registerWebhook(page, identity) {
  await page.click('nav.tabbar >> text=Webhooks');
  await page.fill('#url', 'http://10.0.0.1/hook');
  await page.check('[value="usage.threshold"]');
  await page.uncheck('[value="envelope.received"]');
  await page.click('button.main');
  await showsError(page, '#url', 'http://10.0.0.1/hook');
  assert.ok(await page.isChecked('[value="usage.threshold"]'), 'chosen events are kept');
  assert.ok(!(await page.isChecked('[value="envelope.received"]')));
  await page.fill('#url', 'http://127.0.0.1:9999/hook');
  await page.click('button.main');
  assert.match(await page.innerText('.secret'), /^whsec_/);
  await page.reload();
  await hidesSecrets(page);
  await page.goto(`${identity}/webhooks`);
  await assertCount(page.locator('ul.cards > li'), 1, 'a reload registers no other webhook');
  await page.click('ul.cards h2 a');
}

async function rotateSecret(page) {
  const webhook = page.url();
  await page.click('summary:has-text("New signing secret")');
  await page.click('text=Make a new signing secret');
  assert.match(await page.innerText('.secret'), /^whsec_/);
  await has(page, 'main', 'Both secrets sign until');
  await page.reload();
  await hidesSecrets(page);
  await page.goto(webhook);
  await has(page, '.notice', 'A replaced signing secret also signs until');
}

async function createToken(page) {
  await page.goto(`${base}/dashboard/tokens`);
  await page.fill('#name', 'order service');
  await page.click('button.main');
  await showsError(page, '#scopes', null);
  assert.equal(await page.inputValue('#name'), 'order service');
  await page.check('[name=send]');
  await page.click('button.main');
  assert.match(await page.innerText('.secret'), /^kt_/);
  await page.reload();
  await hidesSecrets(page);
  await page.goto(`${base}/dashboard/tokens`);
  await assertCount(page.locator('tbody tr'), 1, 'a reload creates no other token');
}

async function replaceSecrets(page) {
  await page.goto(`${base}/dashboard/account`);
  await page.click('text=Make new secrets…');
  await has(page, 'h1', 'Make new secrets?');
  await page.click('text=Make a new login secret');
  await assertCount(page.locator('.secret'), 2);
  await page.reload();
  await hidesSecrets(page);
  await page.goto(`${base}/dashboard/account`);
  await page.click('text=Sign out everywhere…');
  await has(page, 'h1', 'Sign out everywhere?');
}

async function showOtherErrors(page, identity) {
  await page.goto(`${identity}/senders`);
  await page.fill('#block', 'no-such-name');
  await page.click('button:has-text("Block")');
  await showsError(page, '#block', 'no-such-name');
  await page.fill('#block', '   ');
  await page.click('button:has-text("Block")');
  await showsError(page, '#block', '');
  await page.goto(`${identity}/revoke`);
  await page.fill('#typed', 'ak_other');
  await page.click('button.danger');
  await showsError(page, '#typed', 'ak_other');
  await page.goto(`${base}/dashboard/account/close`);
  await page.fill('#login_secret', 'wrong');
  await page.click('button.danger');
  await showsError(page, '#login_secret', '');
  await page.goto(`${identity}/events?id=rubbish`);
  await showsError(page, '#id', 'rubbish');
}

// The error is visible without scrolling and has the focus, and its link leads to the field, which is marked.
async function showsError(page, field, typed) {
  const summary = page.locator('main [role=alert]');
  await assertCount(summary, 1, `${page.url()} has one summary`);
  const { y, height } = await summary.boundingBox();
  assert.ok(y >= 0 && y + height <= 800, `the error at ${y} px is visible`);
  await assertCount(page.locator('main [role=alert]:focus'), 1, 'the error has the focus');
  assert.equal(await summary.locator('a').getAttribute('href'), field);
  const marked = page.locator(field);
  assert.equal(await marked.getAttribute('aria-invalid'), 'true', `${field} is marked`);
  const describing = ((await marked.getAttribute('aria-describedby')) ?? '').split(' ').filter(Boolean);
  if (field !== '#id') {
    const texts = await Promise.all(describing.map((id) => page.locator(`#${id}`).innerText()));
    assert.ok(texts.includes(await summary.innerText()), `${field} is described by its error: ${texts}`);
  }
  if (typed !== null) assert.equal(await marked.inputValue(), typed, 'typed text is kept');
  await summary.locator('a').click();
  await assertCount(page.locator(`${field}:focus`), 1, `the link leads to ${field}`);
}

async function hidesSecrets(page) {
  await assertCount(page.locator('.secret'), 0, `${page.url()} shows no secret again`);
  await has(page, 'main', 'shown once');
}

async function has(page, selector, text) {
  const found = await page.locator(selector).first().innerText();
  assert.ok(found.includes(text), `${page.url()} says "${found}" in ${selector}, and not "${text}"`);
}
