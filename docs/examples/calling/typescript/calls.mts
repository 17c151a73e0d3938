// Calls the endpoints of the API. The API reference shows the parts of this program. Needs no packages.
//
// Needs the environment variables SEALPOST_URL, SESSION_TOKEN and API_KEY of an identity with the handle `bob`, and
// ACCOUNT_ID and LOGIN_SECRET of its account.
declare const process: { env: Record<string, string> };

// [setup]
const url = process.env.SEALPOST_URL;

/** Returns the response of an endpoint. Throws an error if the service refuses the request. */
async function post<T>(path: string, body: object, credentials = {}): Promise<T> {
  const headers = { "Content-Type": "application/json", ...credentials };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const content = await response.json();
  if (!response.ok) throw new Error(`${content.code}: ${content.detail}`);
  return content;
}
// [end]

// [credentials]
const credentials = {
  Authorization: `Bearer ${process.env.SESSION_TOKEN}`,
  "X-DID-API-Key": process.env.API_KEY,
};
// [end]

// [checkLiveness]
const ping = await fetch(`${url}/v1/ping`);
console.log((await ping.json()).status);
// [end]

// [getDidDocument]
const did = await fetch(`${url}/.well-known/did.json`);
console.log((await did.json()).id);
// [end]

// [activateIdentity]
const carol = await post<{ api_key_id: string; did: string }>("/v1/did/activate", { label: "Carol" });
console.log(carol.api_key_id, carol.did);
// [end]

// [getKeyStatus]
const standing = await post<{ status: string }>("/v1/did/status", {}, credentials);
console.log(standing.status);
// [end]

// [resolveIdentity]
const bob = await post<{ api_key_id: string; active: boolean }>("/v1/did/resolve", { id: "bob" }, credentials);
console.log(bob.api_key_id, bob.active);
// [end]

// [setPolicy]
const policy = await post<{ accept: string }>("/v1/did/policy", { accept: "anyone", listed: true }, credentials);
console.log(policy.accept);
// [end]

// [registerWebhook]
const target = { url: "https://example.com/hook", events: ["envelope.received"] };
const webhook = await post<{ webhook_id: string; secret: string }>("/v1/webhooks/register", target, credentials);
console.log(webhook.webhook_id, "secret:", webhook.secret.length, "characters");
// [end]
const { webhook_id } = webhook;

// [sendMessage]
const message = { to: "bob", message: "Meet me at noon." };
const sent = await post<{ envelope_id: string; status: string }>("/v1/channel/send", message, credentials);
console.log(sent.envelope_id, sent.status);
// [end]
const { envelope_id } = sent;

// [getReceipt]
const receipt = await post<{ recipient: string }>("/v1/channel/receipt", { envelope_id }, credentials);
console.log(receipt.recipient);
// [end]

// [openEnvelope]
const envelope = await post<{ sender: string; message: string }>("/v1/channel/open", { envelope_id }, credentials);
console.log(envelope.sender, envelope.message);
// [end]

// [listWebhooks]
const { webhooks } = await post<{ webhooks: { webhook_id: string; url: string }[] }>("/v1/webhooks/list", {}, credentials);
for (const one of webhooks) console.log(one.webhook_id, one.url);
// [end]

// [enableWebhook]
console.log(await post("/v1/webhooks/enable", { webhook_id }, credentials));
// [end]

// [listDeliveries]
type Page = { deliveries: { envelope_id: string; outcome: string }[] };
const page = await post<Page>("/v1/webhooks/deliveries", { webhook_id, limit: 20 }, credentials);
for (const delivery of page.deliveries) console.log(delivery.envelope_id, delivery.outcome);
// [end]

// [redeliverEvent]
console.log(await post("/v1/webhooks/redeliver", { webhook_id, envelope_id }, credentials));
// [end]

// [recoverDeliveries]
const lost = { webhook_id, since: "2026-01-01T00:00:00Z", dry_run: true };
console.log(await post("/v1/webhooks/recover", lost, credentials));
// [end]

// [rotateWebhookSecret]
const { secret } = await post<{ secret: string }>("/v1/webhooks/rotate-secret", { webhook_id }, credentials);
console.log("secret:", secret.length, "characters");
// [end]

// [updateWebhook]
const changes = { webhook_id, description: "orders", paused: false };
const changed = await post<{ description: string }>("/v1/webhooks/update", changes, credentials);
console.log(changed.description);
// [end]

// [testWebhook]
const test = await post<{ outcome: string }>("/v1/webhooks/test", { webhook_id }, credentials);
console.log(test.outcome);
// [end]

// [deleteWebhook]
console.log(await post("/v1/webhooks/delete", { webhook_id }, credentials));
// [end]

// [issueBadge]
const badge = await post<{ badge_id: string; credential: string }>("/v1/badges/issue", {}, credentials);
console.log(badge.badge_id);
// [end]
const { credential } = badge;

// [verifyBadge]
const verified = await post<{ valid: boolean }>("/v1/badges/verify", { credential }, credentials);
console.log(verified.valid);
// [end]

// [validateCompliance]
console.log(await post("/v1/compliance/validate", { jurisdiction: "EU", dry_run: true }, credentials));
// [end]

// [listActivity]
type Activity = { entries: { at: string; kind: string }[] };
const activity = await post<Activity>("/v1/account/activity", { limit: 20 }, credentials);
for (const entry of activity.entries) console.log(entry.at, entry.kind);
// [end]

// [createSession]
const login = { account_id: process.env.ACCOUNT_ID, login_secret: process.env.LOGIN_SECRET };
const session = await post<{ session_token: string; expires_at: string }>("/v1/auth/login", login);
console.log("valid until", session.expires_at);
// [end]

// [createApiToken]
const { token_id, token } = await post<{ token_id: string; token: string }>("/v1/auth/tokens/create", {
  login_secret: process.env.LOGIN_SECRET,
  api_key_id: process.env.API_KEY,
  name: "order service",
  scopes: ["send"],
}, credentials);
console.log(token_id, "token:", token.length, "characters");
// [end]

// [listApiTokens]
type Tokens = { tokens: { token_id: string; name: string; last_used_at: string | null }[] };
const { tokens } = await post<Tokens>("/v1/auth/tokens/list", {}, credentials);
for (const one of tokens) console.log(one.token_id, one.name, one.last_used_at);
// [end]

// [revokeApiToken]
const revoked = await post<{ revoked: boolean }>("/v1/auth/tokens/revoke", { token_id }, credentials);
console.log(revoked.revoked);
// [end]

// [rotateLoginSecret]
type Secrets = { login_secret: string; recovery_code: string };
const present = { login_secret: process.env.LOGIN_SECRET };
const secrets = await post<Secrets>("/v1/auth/rotate-secret", present, credentials);
console.log(Object.keys(secrets)); // Keep the login_secret and the recovery_code.
// [end]
const { recovery_code } = secrets;

// [endSession]
const ended = await post<{ logged_out: boolean }>("/v1/auth/logout", {}, credentials);
console.log(ended.logged_out);
// [end]

// [recoverAccount]
const recovery = { account_id: process.env.ACCOUNT_ID, recovery_code };
const recovered = await post<{ login_secret: string; recovery_code: string }>("/v1/auth/recover", recovery);
console.log(Object.keys(recovered)); // Keep the login_secret and the recovery_code.
// [end]

export {};
