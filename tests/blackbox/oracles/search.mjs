// Searches the documentation in a real browser. Prints the links that were found, the browser's complaints, and whether
// a browser without JavaScript shows the search field, as JSON. Saves a screenshot if a folder is given.

import { chromium } from "playwright-core";

const [url, executablePath, words, pictures] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
  await page.goto(url, { waitUntil: "load" });
  await page.getByRole("searchbox").fill(words);
  await page.locator(".search [role=status]:not(:empty)").waitFor();
  const found = await page.locator(".search li a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  if (pictures) await page.screenshot({ path: `${pictures}/search.png` });
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const plainPage = await plain.newPage();
  await plainPage.goto(url, { waitUntil: "load" });
  const without_script = await plainPage.locator(".search").isVisible();
  console.log(JSON.stringify({ found, complaints, without_script }));
} finally {
  await browser.close();
}
