// Opens pages of the documentation, and looks whether they show the reader's place: the list of pages shows the current
// page, the list "On this page" marks the section that the reader has come to, and the search has its name inside the
// field. Ends with status 0 only if all checks pass.
//
//   node place.mjs BASE_URL CHROMIUM
import assert from 'node:assert/strict';

import { assertCount, launch } from './browser.mjs';

const [base, executablePath] = process.argv.slice(2);
const browser = await launch(executablePath);
try {
  // Without motion, a link scrolls at once.
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  for (const path of ['/docs/quickstart', '/docs/glossary', '/docs/design', '/docs/reference/getOpenapiDocument']) {
    await page.goto(base + path);
    const list = page.locator('.sidebar nav');
    const [outer, inner] = [await list.boundingBox(), await list.locator('[aria-current=page]').boundingBox()];
    assert.ok(inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height, `${path} is out of sight`);
  }
  await page.goto(`${base}/docs/receiving#retries`);
  await expectCurrent(page, 'Retries');
  await page.evaluate(() => document.getElementById('headers').scrollIntoView());
  await expectCurrent(page, 'Headers');
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await expectCurrent(page, 'Receivers without a client');
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const search = page.getByRole('searchbox', { name: 'Search the docs' });
    assert.equal(await search.getAttribute('placeholder'), 'Search the docs');
    assert.ok((await search.boundingBox()).y < 60, `at ${width} px the search is not in the header`);
  }
  // The header covers no heading that a link leads to.
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${base}/docs/receiving#headers`);
    const [header, heading] = [await page.locator('.top').boundingBox(), await page.locator('#headers').boundingBox()];
    assert.ok(heading.y >= header.y + header.height, `at ${width} px the header covers the heading`);
  }
} finally {
  await browser.close();
}

async function expectCurrent(page, text) {
  const current = page.locator('.on-page [aria-current]', { hasText: text });
  await current.waitFor({ timeout: 5000 });
  await assertCount(page.locator('.on-page [aria-current]'), 1);
  const [outer, inner] = [await page.locator('.on-page').boundingBox(), await current.boundingBox()];
  assert.ok(inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height, `${text} is out of sight`);
}
