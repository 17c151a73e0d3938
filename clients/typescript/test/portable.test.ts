// The core module runs on Node, Deno and in browsers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** Returns the modules outside of the package that a module imports, directly or not. */
function imported(module: URL, visited = new Set<string>()): Set<string> {
  const found = new Set<string>();
  if (visited.has(module.href)) return found;
  visited.add(module.href);
  for (const [, name = ""] of readFileSync(module, "utf8").matchAll(/(?:from|import) ?\(?["']([^"']+)["']/g)) {
    const names = name.startsWith(".") ? imported(new URL(name, module), visited) : [name];
    for (const other of names) found.add(other);
  }
  return found;
}

test("the core module imports no other package and no module of Node", () => {
  assert.deepEqual([...imported(new URL("../src/index.js", import.meta.url))], []);
  assert.deepEqual([...imported(new URL("../src/express.js", import.meta.url))], []);
});
