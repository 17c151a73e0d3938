// Calls every operation with openapi-fetch and the types that openapi-typescript generated. Prints the called operations.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

// The only part of Node's types that this program needs.
declare const process: { argv: string[] };

type Identity = { key: string; token: string };

const { url, alice, bob } = JSON.parse(process.argv[2] ?? "") as { url: string; alice: Identity; bob: Identity };
const called = new Set<string>();
const client = createClient<paths>({ baseUrl: url });
client.use({
  onRequest({ request, schemaPath }) {
    called.add(`${request.method.toLowerCase()} ${schemaPath}`);
  },
});

/** The headers of an identity. */
const as = ({ key, token }: Identity) => ({ "X-DID-API-Key": key, Authorization: `Bearer ${token}` });
const account = ({ token }: Identity) => ({ Authorization: `Bearer ${token}` });

/** Returns the data of a success. */
function must<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

function hold(claim: boolean, text: string) {
  if (!claim) throw new Error(`not true: ${text}`);
}

hold(must(await client.GET("/v1/ping")).status === "ok", "the server is alive");
must(await client.GET("/openapi.json"));
must(await client.GET("/.well-known/did.json"));
must(await client.GET("/did.json"));
const carol = must(await client.POST("/v1/did/activate", { body: { label: "Carol" } }));
const login = { account_id: carol.account_id, login_secret: carol.login_secret ?? "" };
const session = must(await client.POST("/v1/auth/login", { body: login })).session_token;
const headers = { Authorization: `Bearer ${session}` };
const { account_id, login_secret } = login;
const token = { login_secret, api_key_id: carol.api_key_id, name: "shop", scopes: ["send" as const] };
const { token_id } = must(await client.POST("/v1/auth/tokens/create", { headers, body: token }));
hold(must(await client.POST("/v1/auth/tokens/list", { headers })).tokens[0]?.token_id === token_id, "the token is listed");
must(await client.POST("/v1/auth/tokens/revoke", { headers, body: { token_id } }));
must(await client.POST("/v1/account/export", { headers, body: { login_secret } }));
const { recovery_code } = must(await client.POST("/v1/auth/rotate-secret", { headers, body: { login_secret } }));
must(await client.POST("/v1/auth/recover", { body: { account_id, recovery_code } }));
const status = must(await client.POST("/v1/did/status", { headers: as(alice) }));
hold(status.usage.minute.limit > 0, "the key has limits");

const target = { url: "https://example.com/hook", events: ["envelope.received" as const] };
const { webhook_id } = must(await client.POST("/v1/webhooks/register", { headers: as(bob), body: target }));
const message = { to: bob.key, message: "Meet me at noon." };
const { envelope_id } = must(await client.POST("/v1/channel/send", { headers: as(alice), body: message }));
const opened = must(await client.POST("/v1/channel/open", { headers: as(bob), body: { envelope_id } }));
const messages = [{ to: bob.key, message: "Noon." }, { to: "nobody", message: "Noon." }];
const batch = must(await client.POST("/v1/channel/send-batch", { headers: as(alice), body: { messages } }));
hold(batch.results.map((result) => result.status).join() === "200,404", "one of two messages is stored");
const ofAlice = must(await client.POST("/v1/channel/list", { headers: as(alice), body: { recipient: bob.key } }));
hold(ofAlice.envelopes.length === 2, "both envelopes are listed");
hold(opened.message === message.message, "the message is the message that was sent");

const one = { headers: as(bob), body: { webhook_id } };
const listed = must(await client.POST("/v1/webhooks/list", { headers: as(bob) }));
hold(listed.webhooks[0]?.webhook_id === webhook_id, "the webhook is listed");
must(await client.POST("/v1/webhooks/enable", one));
must(await client.POST("/v1/webhooks/deliveries", { headers: as(bob), body: { webhook_id, limit: 5 } }));
must(await client.POST("/v1/webhooks/rotate-secret", one));
const changes = { webhook_id, description: "orders", paused: false };
must(await client.POST("/v1/webhooks/update", { headers: as(bob), body: changes }));
must(await client.POST("/v1/webhooks/redeliver", { headers: as(bob), body: { webhook_id, envelope_id } }));
const since = "2026-01-01T00:00:00Z";
must(await client.POST("/v1/webhooks/recover", { headers: as(bob), body: { webhook_id, since, dry_run: true } }));
hold(must(await client.POST("/v1/webhooks/test", one)).outcome === "failed", "the target does not exist");
const action = { action: "deliveries" as const, webhook_id };
const page = must(await client.POST("/v1/webhooks", { headers: as(bob), body: action }));
hold("deliveries" in page, "the action lists deliveries");
must(await client.POST("/v1/webhooks/delete", one));
const refused = await client.POST("/v1/webhooks/delete", one);
hold(refused.error?.code === "WEBHOOK_NOT_FOUND", "a deleted webhook is unknown");

const issued = must(await client.POST("/v1/badges/issue", { headers: as(alice) }));
if (!("credential" in issued)) throw new Error("no badge was issued");
const { credential } = issued;
hold(must(await client.POST("/v1/badges/verify", { headers: as(bob), body: { credential } })).valid, "the badge is valid");
const payload = (credential.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
const claims = JSON.parse(atob(payload));
const list = String(claims.credentialStatus.statusListCredential).split("/").at(-1) ?? "";
const path = { params: { path: { list } }, parseAs: "text" as const };
hold(must(await client.GET("/v1/status/{list}", path)).split(".").length === 3, "the status list is a JWT");
const circuit = { jurisdiction: "EU", dry_run: true };
must(await client.POST("/v1/compliance/validate", { headers: as(alice), body: circuit }));
must(await client.POST("/v1/did/policy", { headers: as(bob), body: { listed: true } }));
must(await client.POST("/v1/did/resolve", { headers: as(alice), body: { id: bob.key } }));
must(await client.POST("/v1/channel/evidence", { headers: as(alice), body: { envelope_id } }));
must(await client.POST("/v1/channel/receipt", { headers: as(alice), body: { envelope_id } }));
must(await client.POST("/v1/account/activity", { headers: account(alice), body: { limit: 5 } }));
await client.POST("/v1/account/close", { headers: account(alice), body: { login_secret: "wrong" } });
must(await client.POST("/v1/auth/logout", { headers: account(alice), body: { all: true } }));
// The other operations.
console.log(JSON.stringify([...called]));
