// Calls the endpoints of the API with the TypeScript client. The API reference shows the parts of this program.
//
// Needs the environment variables SEALPOST_URL and SEALPOST_TOKEN, an API token with all scopes of an identity with the
// handle `bob`, and API_KEY, ACCOUNT_ID and LOGIN_SECRET of this identity.

// [setup]
import { Sealpost } from "sealpost";

const { SEALPOST_URL: url = "" } = process.env;
// [end]

// [client]
const client = new Sealpost({ url, token: process.env.SEALPOST_TOKEN ?? "" });
// [end]

// [owner]
const { ACCOUNT_ID: accountId = "", LOGIN_SECRET: loginSecret = "", API_KEY: apiKey = "" } = process.env;
const owner = new Sealpost({ url, login: { accountId, loginSecret }, apiKey });
// [end]

// [visitor]
const visitor = new Sealpost({ url }); // without credentials
// [end]

// [checkLiveness]
console.log((await visitor.ping()).status);
// [end]

// [getDidDocument]
console.log((await visitor.didDocument()).id);
// [end]

// [getOpenapiDocument]
console.log((await visitor.openapiDocument()).openapi);
// [end]

// [activateIdentity]
const carol = await visitor.openAccount("Carol"); // Store carol.login and carol.recoveryCode.
console.log(carol.identity.api_key_id, carol.identity.did);
// [end]

// [getKeyStatus]
const standing = await client.status();
console.log(standing.status, standing.usage.day.remaining);
// [end]

// [resolveIdentity]
const bob = await client.resolve("bob");
console.log(bob.api_key_id, bob.active);
// [end]

// [setPolicy]
console.log((await owner.policy({ listed: true })).accept);
// [end]

// [registerWebhook]
const webhook = await client.webhooks.register("https://example.com/hook", ["envelope.received"]);
console.log(webhook.webhook_id); // Store webhook.secret: it verifies the events.
// [end]
const webhookId = webhook.webhook_id;

// [sendMessage]
const sent = await client.send("bob", "Meet me at noon.");
console.log(sent.envelope_id, sent.state);
// [end]
const envelopeId = sent.envelope_id;

// [sendMessages]
const results = await client.sendBatch([
  { to: "bob", message: "One." },
  { to: "bob", message: "Two." },
]);
console.log(results.map((result) => result.status));
// [end]

// [listSent]
for await (const envelope of client.sent({ recipient: "bob" })) console.log(envelope.envelope_id, envelope.state);
// [end]

// [getEvidence]
import { writeFileSync } from "node:fs";

writeFileSync("order-7.evidence", (await client.evidence(envelopeId)).evidence);
// [end]

// [getReceipt]
console.log((await client.receipt(envelopeId)).state);
// [end]

// [openEnvelope]
const envelope = await client.open(envelopeId);
console.log(envelope.sender, envelope.message);
// [end]

// [listWebhooks]
for (const { webhook_id, url } of await client.webhooks.list()) console.log(webhook_id, url);
// [end]

// [enableWebhook]
console.log((await client.webhooks.enable(webhookId)).due_now);
// [end]

// [listDeliveries]
for await (const delivery of client.webhooks.deliveries(webhookId, { state: "failed" })) {
  console.log(delivery.envelope_id, delivery.attempt, delivery.error);
}
// [end]

// [redeliverEvent]
console.log((await client.webhooks.redeliver(webhookId, envelopeId)).outcome);
// [end]

// [recoverDeliveries]
const since = new Date("2026-11-01");
console.log((await client.webhooks.recover(webhookId, since, { dry_run: true })).matched);
// [end]

// [rotateWebhookSecret]
const rotated = await client.webhooks.rotateSecret(webhookId);
console.log(rotated.secret.length, "characters"); // Store rotated.secret.
// [end]

// [updateWebhook]
console.log((await client.webhooks.update(webhookId, { description: "orders", paused: false })).description);
// [end]

// [testWebhook]
console.log((await client.webhooks.test(webhookId)).outcome);
// [end]

// [deleteWebhook]
await client.webhooks.delete(webhookId);
// [end]

// [issueBadge]
const badge = await owner.issueBadge();
if ("credential" in badge) console.log(badge.badge_id, badge.expires_at);
// [end]
const credential = "credential" in badge ? badge.credential : "";

// [verifyBadge]
console.log((await owner.verifyBadge(credential)).valid);
// [end]

// [getStatusList]
console.log((await visitor.statusList("1")).length, "characters");
// [end]

// [validateCompliance]
console.log((await owner.validateCompliance("EU", { dry_run: true })).passed);
// [end]

// [listActivity]
for await (const entry of owner.account.activity()) console.log(entry.at, entry.kind);
// [end]

// [exportAccount]
console.log((await owner.account.export(loginSecret)).account_id);
// [end]

// [createApiToken]
const token = await owner.account.createToken({ name: "order service", scopes: ["send"] });
console.log(token.token_id); // Store token.token.
// [end]
const tokenId = token.token_id;

// [listApiTokens]
for (const token of await owner.account.tokens()) console.log(token.token_id, token.name, token.last_used_at);
// [end]

// [revokeApiToken]
console.log((await owner.account.revokeToken(tokenId)).revoked);
// [end]

// [createSession]
// The owner logs in at its first request, and again when its session has ended.
console.log((await owner.status()).label);
// [end]

// [endSession]
console.log((await owner.account.logout()).logged_out);
// [end]

{
  const owner = new Sealpost({ url, login: carol.login, apiKey: carol.identity.api_key_id });
  const { accountId } = carol.login;

  // [rotateLoginSecret]
  const secrets = await owner.account.rotateLoginSecret();
  console.log(secrets.login_secret.length, "characters"); // Store login_secret and recovery_code.
  // [end]
  const recoveryCode = secrets.recovery_code;

  // [recoverAccount]
  const recovered = await visitor.recover(accountId, recoveryCode);
  console.log(recovered.login_secret.length, "characters"); // Store login_secret and recovery_code.
  // [end]
}

// [closeAccount]
console.log((await owner.account.close(loginSecret)).closed_at);
// [end]
