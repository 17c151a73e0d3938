import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A service for tests, with an empty database in a temporary folder. */
export interface LocalService {
  url: string;
  /** Stops the service, and deletes its data. */
  stop(): Promise<void>;
}

// A free port, webhooks on this machine, and no limits by client address.
const ARGUMENTS = [
  ...["serve", "--dev", "--listen", "127.0.0.1:0", "--ops-listen", "off", "--log", "warn"],
  ...["--activations-per-minute", "0", "--logins-per-minute", "0"],
  ...["--account-changes-per-minute", "0", "--webhook-tests-per-minute", "0"],
];

/**
 * Starts the `sealpost` binary, and returns when it accepts requests. The binary is `binary`, the variable
 * `SEALPOST_BINARY`, or the first `sealpost` in the PATH.
 */
export async function startService(binary = process.env.SEALPOST_BINARY || "sealpost"): Promise<LocalService> {
  const folder = await mkdtemp(join(tmpdir(), "sealpost-test."));
  // Settings of the user must not change the service.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SEALPOST_")));
  const service = spawn(binary, [...ARGUMENTS, "--data-dir", join(folder, "data")], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(service, "close").then(() => undefined, (error: Error) => error);
  const [line = ""] = await Promise.race([once(createInterface(service.stdout), "line"), ended.then(() => [])]);
  const stop = async () => {
    service.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  if (!line) {
    await stop();
    const cause = await ended;
    if (!cause) throw new Error(`${binary} did not start: see its message on standard error`);
    throw new Error(`${binary} cannot be started: set SEALPOST_BINARY to the path of the sealpost binary`, { cause });
  }
  return { url: String(line).replace("sealpost listening on ", ""), stop };
}
