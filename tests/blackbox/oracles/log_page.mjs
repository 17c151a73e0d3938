// Verifies proofs on the page /log/verify in a real browser. Arguments: the URL, the browser, and a JSON file with pairs of
// keys and proof. Prints the results, the requests after the page itself, and the browser's complaints as JSON.

import { readFileSync } from 'node:fs';
import { launch } from './browser.mjs';

const [url, executablePath, file] = process.argv.slice(2);
const browser = await launch(executablePath);
try {
  const page = await browser.newPage();
  const [complaints, requests] = [[], []];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  const response = await page.goto(url, { waitUntil: 'load' });
  page.on('request', (request) => requests.push(request.url()));
  const results = await page.evaluate(async (pairs) => {
    const element = (id) => document.getElementById(id);
    const results = [];
    for (const [keys, proof] of pairs) {
      [element('keys').value, element('proof').value] = [keys, proof];
      element('verify').click();
      while (element('result').textContent === '') await new Promise((resume) => setTimeout(resume));
      results.push(element('result').textContent);
    }
    return results;
  }, JSON.parse(readFileSync(file, 'utf8')));
  console.log(JSON.stringify({ results, requests, complaints, policy: response.headers()['content-security-policy'] }));
} finally {
  await browser.close();
}
