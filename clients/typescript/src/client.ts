import createClient, { type Client } from "openapi-fetch";

import type {
  AccountClosed,
  AccountExport,
  Activated,
  ActivityView,
  ApiTokenCreated,
  ApiTokenRevoked,
  ApiTokenView,
  BadgeVerified,
  DeliveryView,
  DidDocument,
  EventKind,
  Issued,
  KeyStanding,
  LoggedOut,
  MessageResult,
  Opened,
  paths,
  PolicyRequest,
  PolicyView,
  Pong,
  Receipt,
  Recovered,
  Redelivered,
  Registered,
  Resolved,
  SecretsReplaced,
  SendRequest,
  Sent,
  SentView,
  Tested,
  TokenScope,
  Updated,
  Validated,
  WebhookSecretRotated,
  WebhookView,
} from "./generated/schema.js";
import type { RetryOptions } from "./retry.js";
import { type Login, Transport } from "./transport.js";

export interface SealpostOptions {
  /** The URL of the service. */
  url: string;
  /** An API token (`kt_…`). */
  token?: string;
  /** For the account itself. The client logs in when it needs a session, and again when the session ends. */
  login?: Login;
  /** The API key to act as. An API token has its own. */
  apiKey?: string;
  retry?: RetryOptions;
  /** The time limit of each try. 30,000 by default. */
  timeoutMs?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

/**
 * A client of one service, which acts as one API key.
 *
 * Without `token` and `login`, only operations without credentials work, such as `activate` and `recover`.
 */
export class Sealpost {
  /** The generated client, with the same credentials, retries and errors. */
  readonly api: Client<paths>;
  readonly account: Account;
  readonly webhooks: Webhooks;

  constructor(options: SealpostOptions) {
    if (options.token !== undefined && options.login !== undefined) throw new TypeError("pass either token or login");
    const url = options.url.replace(/\/+$/, "");
    const transport = new Transport({
      url,
      credentials: options.token ?? options.login,
      apiKey: options.apiKey,
      retry: options.retry ?? {},
      timeoutMs: options.timeoutMs ?? 30_000,
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    });
    this.api = createClient<paths>({ baseUrl: url, fetch: (request) => transport.fetch(request) });
    this.account = new Account(this.api);
    this.webhooks = new Webhooks(this.api);
  }

  /**
   * Sends a message to an API key or a handle.
   *
   * Retries use the same `Idempotency-Key`, so the message is sent once. To retry after a restart of your program too,
   * store a key of your own with the message, and pass it here.
   */
  async send(
    to: string,
    message: string,
    { idempotencyKey, ...context }: { idempotencyKey?: string; thread?: string; reply_to?: string; type?: string } = {},
  ): Promise<Sent> {
    const header = { "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() };
    return success(await this.api.POST("/v1/channel/send", { params: { header }, body: { to, message, ...context } }));
  }

  /** Sends up to 100 messages in one request. Returns the result of each message, in their order. */
  async sendBatch(
    messages: SendRequest[],
    { idempotencyKey }: { idempotencyKey?: string } = {},
  ): Promise<MessageResult[]> {
    const header = { "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() };
    return success(await this.api.POST("/v1/channel/send-batch", { params: { header }, body: { messages } })).results;
  }

  /** Yields the envelopes that this API key sent, newest first, page by page. */
  async *sent(
    { pageSize = 100, since, until, ...rest }: {
      pageSize?: number;
      recipient?: string;
      thread?: string;
      since?: Date;
      until?: Date;
    } = {},
  ): AsyncGenerator<SentView> {
    const from = since === undefined ? {} : { since: since.toISOString() };
    const to = until === undefined ? {} : { until: until.toISOString() };
    const list = (cursor: Cursor) =>
      this.api.POST("/v1/channel/list", { body: { limit: pageSize, ...rest, ...from, ...to, ...cursor } }).then(success);
    for await (const page of pages(list)) yield* page.envelopes;
  }

  /** Opens an envelope for the API key of this client. */
  async open(envelopeId: string): Promise<Opened> {
    return success(await this.api.POST("/v1/channel/open", { body: { envelope_id: envelopeId } }));
  }

  /** Returns the state of an envelope that this API key sent. */
  async receipt(envelopeId: string): Promise<Receipt> {
    return success(await this.api.POST("/v1/channel/receipt", { body: { envelope_id: envelopeId } }));
  }

  /** Returns the state, the plan and the usage of the API key. */
  async status(): Promise<KeyStanding> {
    return success(await this.api.POST("/v1/did/status"));
  }

  /** Returns the identity behind an API key or a handle. */
  async resolve(id: string): Promise<Resolved> {
    return success(await this.api.POST("/v1/did/resolve", { body: { id } }));
  }

  /** Changes the given parts of the policy, and returns the whole policy. */
  async policy(changes: Omit<PolicyRequest, "api_key_id"> = {}): Promise<PolicyView> {
    return success(await this.api.POST("/v1/did/policy", { body: changes }));
  }

  /** Activates an identity. Without credentials, also opens an account: the response has its login secret. */
  async activate(label: string, options: { handle?: string; invite?: string } = {}): Promise<Activated> {
    return success(await this.api.POST("/v1/did/activate", { body: { label, ...options } }));
  }

  /**
   * Replaces the login secret and the recovery code of an account. Ends its sessions and API tokens.
   *
   * Needs no credentials. Store the response, then create a client with the new login secret.
   */
  async recover(accountId: string, recoveryCode: string): Promise<SecretsReplaced> {
    const body = { account_id: accountId, recovery_code: recoveryCode };
    return success(await this.api.POST("/v1/auth/recover", { body }));
  }

  /** Issues a badge for the API key. */
  async issueBadge(options: { jurisdiction?: string; disclose_did?: boolean; dry_run?: boolean } = {}): Promise<Issued> {
    return success(await this.api.POST("/v1/badges/issue", { body: options }));
  }

  /** Verifies a badge. */
  async verifyBadge(credential: string): Promise<BadgeVerified> {
    return success(await this.api.POST("/v1/badges/verify", { body: { credential } }));
  }

  /** Returns a signed list of revoked badges (W3C Bitstring Status List), as a JWT. */
  async statusList(listId: string): Promise<string> {
    return success(await this.api.GET("/v1/status/{list}", { params: { path: { list: listId } }, parseAs: "text" }));
  }

  /** Returns the DID document of the service, whose keys verify badges and `v1a` signatures. */
  async didDocument(): Promise<DidDocument> {
    return success(await this.api.GET("/.well-known/did.json"));
  }

  /** Runs the compliance checks of a jurisdiction. */
  async validateCompliance(jurisdiction: string, options: { dry_run?: boolean } = {}): Promise<Validated> {
    return success(await this.api.POST("/v1/compliance/validate", { body: { jurisdiction, ...options } }));
  }

  /** Checks that the service is alive. */
  async ping(): Promise<Pong> {
    return success(await this.api.GET("/v1/ping"));
  }

  /** Returns the OpenAPI document of the service. */
  async openapiDocument(): Promise<Record<string, unknown>> {
    return success(await this.api.GET("/openapi.json"));
  }
}

/** The account of a client. Its operations need a `Login`. */
class Account {
  constructor(private readonly api: Client<paths>) {}

  /** Yields the activity of the account, newest first, page by page. */
  async *activity({ pageSize = 100 } = {}): AsyncGenerator<ActivityView> {
    const list = (cursor: Cursor) =>
      this.api.POST("/v1/account/activity", { body: { limit: pageSize, ...cursor } }).then(success);
    for await (const page of pages(list)) yield* page.entries;
  }

  /** Ends the session of this client, or all sessions of the account. The next request logs in again. */
  async logout(options: { all?: boolean } = {}): Promise<LoggedOut> {
    return success(await this.api.POST("/v1/auth/logout", { body: options }));
  }

  /** Replaces the login secret and the recovery code. Create a new client with the new secret. */
  async rotateLoginSecret(loginSecret: string): Promise<SecretsReplaced> {
    return success(await this.api.POST("/v1/auth/rotate-secret", { body: { login_secret: loginSecret } }));
  }

  /** Creates an API token for one API key. The response has its secret, which no later response shows. */
  async createToken(
    loginSecret: string,
    apiKeyId: string,
    name: string,
    scopes: TokenScope[],
    { expiresInDays }: { expiresInDays?: number } = {},
  ): Promise<ApiTokenCreated> {
    const end = expiresInDays === undefined ? {} : { expires_in_days: expiresInDays };
    const body = { login_secret: loginSecret, api_key_id: apiKeyId, name, scopes, ...end };
    return success(await this.api.POST("/v1/auth/tokens/create", { body }));
  }

  /** Returns the API tokens that have not expired, oldest first. */
  async tokens(): Promise<ApiTokenView[]> {
    return success(await this.api.POST("/v1/auth/tokens/list")).tokens;
  }

  /** Revokes an API token. */
  async revokeToken(tokenId: string): Promise<ApiTokenRevoked> {
    return success(await this.api.POST("/v1/auth/tokens/revoke", { body: { token_id: tokenId } }));
  }

  /** Returns everything that the service stores about the account, without messages and secrets. */
  async export(loginSecret: string): Promise<AccountExport> {
    return success(await this.api.POST("/v1/account/export", { body: { login_secret: loginSecret } }));
  }

  /** Closes the account and revokes all its API keys, permanently. */
  async close(loginSecret: string): Promise<AccountClosed> {
    return success(await this.api.POST("/v1/account/close", { body: { login_secret: loginSecret } }));
  }
}

/** The webhooks of a client's API key. */
class Webhooks {
  constructor(private readonly api: Client<paths>) {}

  /** Registers a webhook. The response has its secret, which no later response shows. */
  async register(
    url: string,
    events: EventKind[] = ["envelope.received"],
    options: { description?: string; waiting?: "skip" } = {},
  ): Promise<Registered> {
    return success(await this.api.POST("/v1/webhooks/register", { body: { url, events, ...options } }));
  }

  /** Returns all webhooks, oldest first. */
  async list(): Promise<WebhookView[]> {
    return success(await this.api.POST("/v1/webhooks/list")).webhooks;
  }

  /**
   * Changes what is given. The secret and the log stay, and null removes the description.
   *
   * A paused webhook gets nothing. Its deliveries are kept until it is resumed or retention ends.
   */
  async update(
    webhookId: string,
    changes: { url?: string; events?: EventKind[]; description?: string | null; paused?: boolean },
  ): Promise<Updated> {
    return success(await this.api.POST("/v1/webhooks/update", { body: { webhook_id: webhookId, ...changes } }));
  }

  /** Deletes a webhook and its deliveries. */
  async delete(webhookId: string): Promise<void> {
    success(await this.api.POST("/v1/webhooks/delete", { body: { webhook_id: webhookId } }));
  }

  /** Enables a webhook. Its waiting deliveries follow at once. */
  async enable(webhookId: string): Promise<void> {
    success(await this.api.POST("/v1/webhooks/enable", { body: { webhook_id: webhookId } }));
  }

  /** Replaces the secret. For a day, events carry signatures of both secrets. */
  async rotateSecret(webhookId: string): Promise<WebhookSecretRotated> {
    return success(await this.api.POST("/v1/webhooks/rotate-secret", { body: { webhook_id: webhookId } }));
  }

  /** Yields all deliveries of a webhook, newest first, page by page. */
  async *deliveries(
    webhookId: string,
    { pageSize = 100, ...state }: { pageSize?: number; state?: DeliveryView["outcome"] } = {},
  ): AsyncGenerator<DeliveryView> {
    const wanted = { webhook_id: webhookId, limit: pageSize, ...state };
    const list = (cursor: Cursor) =>
      this.api.POST("/v1/webhooks/deliveries", { body: { ...wanted, ...cursor } }).then(success);
    for await (const page of pages(list)) yield* page.deliveries;
  }

  /** Makes the delivery of an event due now. */
  async redeliver(webhookId: string, envelopeId: string): Promise<Redelivered> {
    const body = { webhook_id: webhookId, envelope_id: envelopeId };
    return success(await this.api.POST("/v1/webhooks/redeliver", { body }));
  }

  /** Makes up to 10,000 failed deliveries due now. Repeat while the response has `more`. */
  async recover(webhookId: string, since: Date, options: { until?: Date; dry_run?: boolean } = {}): Promise<Recovered> {
    const { until, ...rest } = options;
    const end = until === undefined ? {} : { until: until.toISOString() };
    const body = { webhook_id: webhookId, since: since.toISOString(), ...end, ...rest };
    return success(await this.api.POST("/v1/webhooks/recover", { body }));
  }

  /** Sends a `webhook.test` event now, and returns the outcome. */
  async test(webhookId: string): Promise<Tested> {
    return success(await this.api.POST("/v1/webhooks/test", { body: { webhook_id: webhookId } }));
  }
}

export type { Account, Webhooks };

type Cursor = { cursor?: string };

async function* pages<T extends { next_cursor: string | null }>(list: (cursor: Cursor) => Promise<T>): AsyncGenerator<T> {
  let page = await list({});
  yield page;
  while (page.next_cursor !== null) {
    page = await list({ cursor: page.next_cursor });
    yield page;
  }
}

/** Returns the body of a success. The transport has thrown an error for every other response. */
function success<T>({ data, response }: { data?: T; response: Response }): T {
  if (data === undefined) throw new TypeError(`status ${response.status} is not in the API description: update this package`);
  return data;
}
