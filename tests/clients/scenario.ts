// Runs the scenario with the TypeScript client. Reads the scenario and prints the results as JSON.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { handler } from "../src/express.js";
import { ApiError, Receiver, Sealpost, Unreachable, Webhook } from "../src/index.js";

type Arguments = any; // As in the scenario.
type Step = { as?: string; token?: string; do: string; with?: Arguments; save?: string };
type Identity = { account_id: string; login_secret: string; api_key_id?: string };
type Task = { url: string; identities: Record<string, Identity>; steps: Step[] };

const task = JSON.parse(await text(process.stdin)) as Task;
const clients = new Map<string, Sealpost>();
const saved: Record<string, any> = {};
const messages: string[] = [];
let receiver: Receiver;
let onMessage = () => {};

/** Returns the client of an API token, or of an identity, which the scenario may have activated. */
function clientOf(step: Step): Sealpost {
  const name = step.as ?? step.token ?? "";
  const retry = { tries: 10, firstPauseMs: 10 };
  const client = clients.get(name) ?? new Sealpost({ url: task.url, retry, ...credentialsOf(step) });
  clients.set(name, client);
  return client;
}

function credentialsOf({ as: name = "", token }: Step) {
  if (token) return { token: resolved(token) as string };
  const who: Identity | undefined = task.identities[name] ?? saved[name];
  if (!who) return {};
  const login = { accountId: who.account_id, loginSecret: who.login_secret };
  return { login, ...(who.api_key_id && { apiKey: who.api_key_id }) };
}

async function run(step: Step) {
  try {
    const result = (await act(step.do, clientOf(step), resolved(step.with ?? {}))) ?? null;
    if (step.save) saved[step.save] = result;
    return { result };
  } catch (fault) {
    if (fault instanceof ApiError) return { error: fault.code };
    if (fault instanceof Unreachable) return { error: "UNREACHABLE" };
    throw fault;
  }
}

async function act(name: string, client: Sealpost, given: Arguments): Promise<unknown> {
  const { webhooks, account } = client;
  switch (name) {
    case "account.activity":
      return collected(account.activity({ pageSize: given.page_size }));
    case "account.close":
      return account.close(given.login_secret);
    case "account.create_token": {
      const { login_secret: loginSecret, api_key_id: apiKeyId, expires_in_days: expiresInDays, ...rest } = given;
      return account.createToken({ loginSecret, apiKeyId, ...rest, ...(expiresInDays && { expiresInDays }) });
    }
    case "account.export":
      return account.export(given.login_secret);
    case "account.logout":
      return account.logout();
    case "account.revoke_token":
      return account.revokeToken(given.token_id);
    case "account.rotate_login_secret":
      return account.rotateLoginSecret(given.login_secret);
    case "account.tokens":
      return account.tokens();
    case "activate":
      return client.activate(given.label, { handle: given.handle });
    case "did_document":
      return client.didDocument();
    case "issue_badge":
      return client.issueBadge();
    case "listen":
      return listen(client);
    case "evidence":
      return client.evidence(given.envelope_id);
    case "open":
      return client.open(given.envelope_id);
    case "openapi_document":
      return client.openapiDocument();
    case "ping":
      return client.ping();
    case "policy":
      return client.policy(given);
    case "receipt":
      return client.receipt(given.envelope_id);
    case "recover":
      return client.recover(given.account_id, given.recovery_code);
    case "resolve":
      return client.resolve(given.id);
    case "send":
      return client.send(given.to, given.message, given.idempotency_key && { idempotencyKey: given.idempotency_key });
    case "send_batch":
      return { statuses: (await client.sendBatch(given.messages)).map((result) => result.status) };
    case "sent":
      return collected(client.sent({ recipient: given.recipient }));
    case "status":
      return client.status();
    case "status_list":
      return client.statusList(given.list_id);
    case "validate_compliance":
      return client.validateCompliance(given.jurisdiction);
    case "verify_badge":
      return client.verifyBadge(given.credential);
    case "wait":
      return received(given.count);
    case "webhooks.delete":
      return webhooks.delete(given.webhook_id);
    case "webhooks.deliveries":
      return collected(webhooks.deliveries(given.webhook_id, { pageSize: given.page_size }));
    case "webhooks.enable":
      return webhooks.enable(given.webhook_id);
    case "webhooks.list":
      return webhooks.list();
    case "webhooks.recover":
      return webhooks.recover(given.webhook_id, new Date(given.since), { dry_run: given.dry_run });
    case "webhooks.redeliver":
      return webhooks.redeliver(given.webhook_id, given.envelope_id);
    case "webhooks.register":
      return webhooks.register(given.url);
    case "webhooks.rotate_secret":
      return webhooks.rotateSecret(given.webhook_id);
    case "webhooks.test":
      return webhooks.test(given.webhook_id);
    case "webhooks.update": {
      const { webhook_id, ...changes } = given;
      return webhooks.update(webhook_id, changes);
    }
    default:
      throw new Error(`unknown operation: ${name}`);
  }
}

/** Starts a receiver, and registers its webhook. */
async function listen(client: Sealpost) {
  const server = createServer((request, response) => {
    void handler(receiver)(request, response, (fault) => {
      console.error(fault);
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const registered = await client.webhooks.register(`http://127.0.0.1:${port}/`);
  const onEnvelope = ({ message }: { message: string }) => {
    messages.push(message);
    onMessage();
  };
  receiver = new Receiver({ client, webhook: new Webhook(registered.secret), onEnvelope });
  return registered;
}

async function received(count: number) {
  const timer = setTimeout(() => fail(`only ${messages} arrived`), 60_000);
  while (messages.length < count) await new Promise<void>((resolve) => (onMessage = resolve));
  clearTimeout(timer);
  return { messages: [...messages].sort() };
}

function fail(reason: string) {
  console.error(reason);
  process.exit(1);
}

async function collected<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

/** Replaces references to earlier results. */
function resolved(value: any): any {
  if (Array.isArray(value)) return value.map(resolved);
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolved(member)]));
  if (typeof value !== "string" || !value.startsWith("$")) return value;
  const [name = "", ...path] = value.slice(1).split(".");
  return path.reduce((found, part) => found[part], saved[name]);
}

const results = [];
for (const step of task.steps) results.push(await run(step));
process.stdout.write(JSON.stringify(results), () => process.exit(0));
