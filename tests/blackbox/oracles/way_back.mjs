// Recovers an account, and opens a page of the dashboard after the sign-in, in a real browser without JavaScript.
//
//   node way_back.mjs BASE_URL CHROMIUM
import assert from 'node:assert/strict';

import { assertCount, launch } from './browser.mjs';

const [base, executablePath] = process.argv.slice(2);
const browser = await launch(executablePath);
try {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`${base}/dashboard/open-account`);
  await page.fill('#label', 'Alice');
  await page.click('button.main');
  const opened = await page.innerText('main');
  const [account, code] = [/acct_\w+/.exec(opened)[0], /rc_\w+/.exec(opened)[0]];
  const key = /ak_\w+/.exec(opened)[0];
  await page.click('text=Continue to the dashboard');
  await page.click('text=Sign out');
  await page.click('text=Use the recovery code');
  await page.fill('#account_id', account);
  await page.fill('#recovery_code', 'rc_wrong');
  await page.click('button.main');
  assert.match(await page.innerText('[role=alert]'), /recovery code is wrong/);
  assert.equal(await page.inputValue('#account_id'), account);
  await page.fill('#recovery_code', code);
  await page.click('button.main');
  const recovered = await page.innerText('main');
  const secret = /ls_\w+/.exec(recovered)[0];
  assert.ok(!recovered.includes(code) && /rc_\w+/.test(recovered), 'the recovery code is replaced');
  await page.reload();
  await assertCount(page.locator('.secret'), 0);

  const deep = `/dashboard/keys/${key}/events?webhook=&state=failed&before=`;
  await page.goto(base + deep);
  assert.equal(new URL(page.url()).pathname, '/dashboard/sign-in');
  await page.fill('#account_id', account);
  await page.fill('#login_secret', 'wrong');
  await page.click('button.main');
  assert.match(await page.innerText('[role=alert]'), /wrong/);
  await page.fill('#login_secret', secret);
  await page.click('button.main');
  assert.equal(page.url(), base + deep, 'the sign-in leads to the requested page');
  assert.equal(await page.inputValue('#state'), 'failed');

  await page.click('text=Sign out');
  await page.goto(`${base}/dashboard/sign-in?next=https://evil.example/dashboard`);
  await page.fill('#account_id', account);
  await page.fill('#login_secret', secret);
  await page.click('button.main');
  assert.equal(page.url(), `${base}/dashboard`, 'a link leads to no other site');
} finally {
  await browser.close();
}
