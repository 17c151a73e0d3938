// Searches the documentation in a real browser, once for each entry of a JSON array. Prints as JSON the links that each
// search found, whether it showed the next steps, whether `/` focuses the field, the browser's complaints, and whether a
// browser without JavaScript shows the field. Also prints whether the results are visible after a click on the page, after
// a return to the field, and after the focus has left the last result. Saves a screenshot if a folder is given.


import { launch } from './browser.mjs';

const [url, executablePath, searches, pictures] = process.argv.slice(2);
const browser = await launch(executablePath);
try {
  const page = await browser.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
  await page.goto(url, { waitUntil: "load" });
  await page.keyboard.press("/");
  const focused_by_slash = await page.getByRole("searchbox").evaluate((field) => field === document.activeElement);
  const [found, next_steps] = [[], []];
  for (const words of JSON.parse(searches)) {
    await page.getByRole("searchbox").fill("");
    await page.getByRole("searchbox").fill(words);
    await page.locator(".search [role=status]:not(:empty)").waitFor();
    found.push(await page.locator(".search li a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))));
    next_steps.push(await page.locator(".search .nothing").isVisible());
  }
  const results = page.locator(".search .found");
  const visible = [];
  await page.locator("h1").click({ position: { x: 5, y: 5 } });
  visible.push(await results.isVisible());
  await page.getByRole("searchbox").focus();
  await results.waitFor();
  visible.push(await results.isVisible());
  await results.locator("a:visible").last().focus();
  await page.keyboard.press("Tab");
  visible.push(await results.isVisible());
  if (pictures) await page.screenshot({ path: `${pictures}/search.png` });
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const plainPage = await plain.newPage();
  await plainPage.goto(url, { waitUntil: "load" });
  const without_script = await plainPage.locator(".search").isVisible();
  console.log(JSON.stringify({ found, next_steps, visible, focused_by_slash, complaints, without_script }));
} finally {
  await browser.close();
}
