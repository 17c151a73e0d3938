// Opens pages in a browser without JavaScript, and chooses each tab of the first group of each. Only the panel of the
// chosen tab is visible, and the keyboard reaches the tabs. Ends with status 0 only if all checks pass.
//
//   node tabs.mjs URL CHROMIUM PATH...
import assert from "node:assert/strict";

import { assertCount, launch } from './browser.mjs';

const [url, executablePath, ...paths] = process.argv.slice(2);
const browser = await launch(executablePath);
try {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  for (const path of paths) {
    await page.goto(url + path);
    const group = page.locator(".tabs").first();
    const [labels, panels] = [group.locator("> label"), group.locator("> .panel")];
    const count = await labels.count();
    assert.ok(count > 1, `the group of ${path} has one tab`);
    await assertCount(panels, count);
    for (let chosen = 0; chosen < count; chosen += 1) {
      await labels.nth(chosen).click();
      await expectVisible(path, panels, chosen, count);
    }
    await group.locator("> input").first().focus();
    await page.keyboard.press("ArrowRight");
    await expectVisible(path, panels, 1, count);
  }
} finally {
  await browser.close();
}

async function expectVisible(path, panels, chosen, count) {
  for (let panel = 0; panel < count; panel += 1) {
    assert.equal(await panels.nth(panel).isVisible(), panel === chosen, `${path}: panel ${panel} with tab ${chosen}`);
  }
}
