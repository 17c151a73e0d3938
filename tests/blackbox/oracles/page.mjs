// Loads a page in a real browser, in light and dark and on a narrow screen. Prints the visible content and the browser's
// complaints as JSON. Saves screenshots if a folder is given.

import { launch } from './browser.mjs';

const [url, executablePath, pictures] = process.argv.slice(2);
const browser = await launch(executablePath);
try {
  const seen = {};
  for (const [name, colorScheme, width] of [["light", "light", 1000], ["dark", "dark", 1000], ["narrow", "light", 320]]) {
    seen[name] = await look(name, { colorScheme, viewport: { width, height: 900 } });
  }
  console.log(JSON.stringify(seen));
} finally {
  await browser.close();
}

async function look(name, options) {
  const page = await browser.newPage(options);
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
  const answer = await page.goto(url, { waitUntil: "load" });
  const shown = await page.evaluate(() => ({
    heading: document.querySelector("h1").innerText,
    verdict: document.querySelector(".verdict").innerText,
    text: document.querySelector("main").innerText,
    ground: getComputedStyle(document.body).backgroundColor,
    overflows: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  }));
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
  await page.close();
  return { ...shown, status: answer.status(), complaints };
}
