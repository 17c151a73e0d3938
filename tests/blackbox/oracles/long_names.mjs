// Looks at pages with the longest label and the longest handle in a real browser. Both are one word of wide letters. No
// page may be wider than the window, on screens from a phone to a desktop, also with all details open. Other programs
// look at these pages in all forms.
//
//   node long_names.mjs BASE_URL CHROMIUM KNOWN
//
// KNOWN is JSON: an account, its login secret, and the paths of the pages.
import { assertCount, launch, signIn, visitPages } from './browser.mjs';

const [base, executablePath, known] = process.argv.slice(2);
const { id, secret, paths } = JSON.parse(known);

const browser = await launch(executablePath);
try {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, base, id, secret);
  await assertCount(page.locator('nav.side'), 1);
  const storageState = await context.storageState();
  const widths = [1280, 1100, 900, 800, 360];
  await visitPages(browser, base, paths, { storageState, widths, loaded: openDetails, isLayoutOnly: true });
} finally {
  await browser.close();
}

function openDetails(page) {
  return page.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
}
