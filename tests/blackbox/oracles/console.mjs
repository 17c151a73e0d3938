// Uses every page and every kind of form of the console in a real browser without JavaScript. Then checks each page in
// dark and narrow form, and with axe. Ends with status 0 only if all checks pass.
//
//   node console.mjs OPS_URL CHROMIUM KNOWN [FOLDER_FOR_SCREENSHOTS]
//
// KNOWN is JSON: a key with a webhook and a hostile label, its account, and the name and the password of an operator.
import assert from 'node:assert/strict';

import { assertCount, launch, notTooWide, visitPages } from './browser.mjs';

const [base, executablePath, known, shots] = process.argv.slice(2);
const { key, account, label, name, password } = JSON.parse(known);

const browser = await launch(executablePath);
try {
  await walk();
} finally {
  await browser.close();
}

async function walk() {
  const person = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1100, height: 800 } });
  const page = await person.newPage();
  page.setDefaultTimeout(20_000);
  await signIn(page);
  await findKey(page);
  await setPlan(page);
  await changeState(page);
  await decide(page);
  await assess(page);
  await page.goto(`${base}/console/audit`);
  for (const action of ['plan.set', 'key.deactivate', 'governance.enforce', 'assessment.record']) {
    await has(page, 'tbody', action);
  }
  await has(page, 'tbody', `console:${name}`);
  await checkEveryPage(person);
  await page.goto(`${base}/console`);
  await page.click('text=Sign out');
  await has(page, 'h1', 'Sign in to the console');
  await page.goto(`${base}/console/audit`);
  await has(page, 'h1', 'Sign in to the console');
}

async function signIn(page) {
  await page.goto(`${base}/console`);
  await page.fill('#name', name);
  await page.fill('#password', 'not the password');
  await page.click('button.main');
  await has(page, '.problem', 'The name or the password is wrong.');
  await page.fill('#name', name);
  await page.fill('#password', password);
  await page.click('button.main');
  await has(page, 'h1', 'Keys');
  await has(page, 'header', `${name} · operator`);
}

async function findKey(page) {
  await page.fill('#q', label);
  await page.click('text=Search >> nth=-1');
  await has(page, 'tbody', label);
  await page.click('tbody a');
  assert.ok(page.url().endsWith(`/console/keys/${key}`), page.url());
  await has(page, 'h1', label);
  assert.equal(await page.innerText('dl.facts code >> nth=0'), key, 'the whole key can be read');
}

async function setPlan(page) {
  await page.click('nav.tabbar >> text=Plan');
  await page.selectOption('#plan', 'enterprise');
  await page.fill('#per_day', 'many');
  await page.fill('#reason-plan', 'Contract 12');
  await page.click('button:has-text("Set the plan")');
  await has(page, '[role=alert]', 'A limit must be a whole number.');
  await assertCount(page.locator('[role=alert]:focus'), 1, 'the error has the focus');
  assert.equal(await page.getAttribute('#per_day', 'aria-invalid'), 'true');
  assert.equal(await page.inputValue('#reason-plan'), 'Contract 12', 'typed text is kept');
  await page.fill('#per_day', '777');
  await page.click('button:has-text("Set the plan")');
  await has(page, '[role=status]', 'The plan is set.');
  await has(page, '.tags', 'enterprise');
  await has(page, 'main', 'of 777 requests today');
  await page.reload();
  await assertCount(page.locator('[role=status]'), 0, 'a result is shown once');
}

async function changeState(page) {
  await page.click('nav.tabbar >> text=State');
  await page.fill('#reason-state', 'A pause');
  await page.press('#reason-state', 'Enter');
  await has(page, '[role=alert]', 'Choose an act.');
  await page.click('button[value=deactivate]');
  await has(page, '.tags', 'deactivated');
  await has(page, '[role=status]', 'The key is deactivated.');
  await page.fill('#reason-state', 'The end of the pause');
  await page.click('button[value=reactivate]');
  await has(page, '.tags', 'active');
}

async function decide(page) {
  await page.click('nav.tabbar >> text=Governance');
  await page.fill('#reason-governance', 'Council decision 12');
  await page.click('button[value=enforce]');
  await has(page, '.tags', 'blocked by governance');
  await has(page, '[aria-labelledby=governance-head]', 'Council decision 12');
  await page.fill('#reason-governance', 'Again');
  await page.click('button[value=enforce]');
  await has(page, '[role=alert]', 'enforced already');
  assert.equal(await page.inputValue('#reason-governance'), 'Again');
}

async function assess(page) {
  await page.click('nav.tabbar >> text=Evidence');
  await page.selectOption('#check', 'identity_verified');
  await page.fill('#reason-attest', 'Papers seen');
  await page.click('button:has-text("Record the attestation")');
  await has(page, '[aria-labelledby=attestations-head] tbody', 'identity_verified');
  await has(page, '[aria-labelledby=attestations-head] tbody', 'Papers seen');
  // The longest scores must not make the page wider than the window.
  for (const metric of ['clarity', 'coherence', 'confidence', 'drift']) await page.fill(`#${metric}`, `0.75${'1'.repeat(16)}`);
  await page.fill('#reason-assess', 'Review');
  await page.click('button:has-text("Record the assessment")');
  await has(page, '[role=status]', 'The assessment is recorded.');
  await has(page, '[aria-labelledby=assessments-head] tbody', '0.75');
  await has(page, '[aria-labelledby=assessments-head] tbody', 'Review');
}

async function checkEveryPage(person) {
  const storageState = await person.storageState();
  const tabs = ['', '/webhooks', '/plan', '/state', '/governance', '/evidence'];
  const paths = ['/console', ...tabs.map((tab) => `/console/keys/${key}${tab}`), '/console/accounts', `/console/accounts/${account}`,
    '/console/service', '/console/audit', '/console/nowhere', '/console/sign-in'];
  await visitPages(browser, base, paths, { storageState, shots, loaded: notOwned, look });
}

// Buttons stand inside their card, fields have one height, and labels begin with a capital letter.
async function look(page, form) {
  await notTooWide(page, form);
  assert.deepEqual(await page.evaluate(overhanging), [], form);
  const heights = await page.locator('input:not([type=hidden], [type=checkbox]), select').evaluateAll((all) => all.map((it) => it.offsetHeight));
  assert.ok(new Set(heights.filter(Boolean)).size <= 1, `${form}: the fields are ${heights} px high`);
  const labels = await page.locator('main label, main legend, main th').allInnerTexts();
  assert.deepEqual(labels.filter((text) => /^[a-z]/.test(text)), [], form);
}

function overhanging() {
  return [...document.querySelectorAll('.card button, .card .button, .card summary')].filter((it) => it.checkVisibility()).filter((it) => {
    const [inner, card] = [it.getBoundingClientRect(), it.closest('.card').getBoundingClientRect()];
    return inner.bottom > card.bottom - 8 || inner.right > card.right;
  }).map((it) => it.outerHTML);
}

async function notOwned(page) {
  assert.notEqual(await page.title(), 'owned', 'a label ran as script');
}

async function has(page, place, text) {
  const seen = await page.innerText(place);
  assert.ok(seen.includes(text), `${place} of ${page.url()} lacks ${text}: ${seen}`);
}
