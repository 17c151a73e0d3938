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
  Enabled,
  EventKind,
  EvidenceView,
  Issued,
  KeyStanding,
  LoggedOut,
  MessageResult,
  Opened,
  Operations,
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
} from "./generated/models.js";
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
 * Without `token` and `login`, only operations without credentials work, such as `openAccount` and `recover`.
 */
export class Sealpost {
  readonly account: Account;
  readonly webhooks: Webhooks;

  /** Sends the requests. */
  readonly transport: Transport;

  readonly #hasCredentials: boolean;

  constructor(options: SealpostOptions) {
    if (options.token !== undefined && options.login !== undefined) throw new TypeError("pass either token or login");
    // The error of a header would contain the token.
    if (/[\0\r\n]/.test(options.token?.trim() ?? "")) throw new TypeError("the token has a line break or a null character");
    const { username, password } = new URL(options.url);
    if (username || password) throw new TypeError("the URL has a user");
    this.#hasCredentials = (options.token ?? options.login) !== undefined;
    const url = options.url.replace(/\/+$/, "");
    this.transport = new Transport({
      url,
      credentials: options.token ?? options.login,
      apiKey: options.apiKey,
      retry: options.retry ?? {},
      timeoutMs: options.timeoutMs ?? 30_000,
      fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    });
    this.account = new Account(this.transport);
    this.webhooks = new Webhooks(this.transport);
  }

  /**
   * Calls an operation, for example `call("POST /v1/did/resolve", { id: "bob" })`.
   *
   * The methods of this class do the same with fewer words.
   */
  call<Name extends keyof Operations>(name: Name, body: Operations[Name]["body"]): Promise<Operations[Name]["result"]> {
    return this.transport.call(name, body);
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
    const headers = { "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() };
    return this.transport.call("POST /v1/channel/send", { to, message, ...context }, { headers });
  }

  /** Sends up to 100 messages in one request. Returns the result of each message, in their order. */
  async sendBatch(
    messages: SendRequest[],
    { idempotencyKey }: { idempotencyKey?: string } = {},
  ): Promise<MessageResult[]> {
    const headers = { "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() };
    return (await this.transport.call("POST /v1/channel/send-batch", { messages }, { headers })).results;
  }

  /** Yields the envelopes that this API key sent, newest first, page by page. */
  async *sent(
    { pageSize = 100, ...rest }: {
      pageSize?: number;
      recipient?: string;
      thread?: string;
      since?: Date;
      until?: Date;
    } = {},
  ): AsyncGenerator<SentView> {
    const list = (cursor: Cursor) =>
      this.transport.call("POST /v1/channel/list", { limit: pageSize, ...rest, ...cursor });
    for await (const page of pages(list)) yield* page.envelopes;
  }

  /** Opens an envelope for the API key of this client. */
  async open(envelopeId: string): Promise<Opened> {
    return this.transport.call("POST /v1/channel/open", { envelope_id: envelopeId });
  }

  /** Returns the state of an envelope that this API key sent. */
  async receipt(envelopeId: string): Promise<Receipt> {
    return this.transport.call("POST /v1/channel/receipt", { envelope_id: envelopeId });
  }

  /** Proves what happened to an envelope that this API key sent or received. Takes up to six seconds. */
  async evidence(envelopeId: string): Promise<EvidenceView> {
    return this.transport.call("POST /v1/channel/evidence", { envelope_id: envelopeId });
  }

  /** Returns the state, the plan and the usage of the API key. */
  async status(): Promise<KeyStanding> {
    return this.transport.call("POST /v1/did/status", undefined);
  }

  /** Returns the identity behind an API key or a handle. */
  async resolve(id: string): Promise<Resolved> {
    return this.transport.call("POST /v1/did/resolve", { id });
  }

  /** Changes the given parts of the policy, and returns the whole policy. */
  async policy(changes: Omit<PolicyRequest, "api_key_id"> = {}): Promise<PolicyView> {
    return this.transport.call("POST /v1/did/policy", changes);
  }

  /** Opens an account with its first identity. Needs a client without credentials. */
  async openAccount(label: string, options: { handle?: string; invite?: string } = {}): Promise<NewAccount> {
    if (this.#hasCredentials) {
      throw new TypeError("this client has an account already: call activate for a further identity");
    }
    const identity = await this.activate(label, options);
    const loginSecret = given(identity.login_secret, "login secret: the account existed before");
    const recoveryCode = given(identity.recovery_code, "recovery code: the account existed before");
    return { identity, login: { accountId: identity.account_id, loginSecret }, recoveryCode };
  }

  /** Activates an identity of the account. Without credentials, also opens an account: see `openAccount`. */
  async activate(label: string, options: { handle?: string; invite?: string } = {}): Promise<Activated> {
    return this.transport.call("POST /v1/did/activate", { label, ...options });
  }

  /**
   * Replaces the login secret and the recovery code of an account. Ends its sessions and API tokens.
   *
   * Needs no credentials. Store the response, then create a client with the new login secret.
   */
  async recover(accountId: string, recoveryCode: string): Promise<SecretsReplaced> {
    const body = { account_id: accountId, recovery_code: recoveryCode };
    return this.transport.call("POST /v1/auth/recover", body);
  }

  /** Issues a badge for the API key. */
  async issueBadge(options: { jurisdiction?: string; disclose_did?: boolean; dry_run?: boolean } = {}): Promise<Issued> {
    return this.transport.call("POST /v1/badges/issue", options);
  }

  /** Verifies a badge. */
  async verifyBadge(credential: string): Promise<BadgeVerified> {
    return this.transport.call("POST /v1/badges/verify", { credential });
  }

  /** Returns a signed list of revoked badges (W3C Bitstring Status List), as a JWT. */
  async statusList(listId: string): Promise<string> {
    return this.transport.call("GET /v1/status/{list}", undefined, { path: { list: listId } });
  }

  /** Returns the DID document of the service, whose keys verify badges and `v1a` signatures. */
  async didDocument(): Promise<DidDocument> {
    return this.transport.call("GET /.well-known/did.json", undefined);
  }

  /** Runs the compliance checks of a jurisdiction. */
  async validateCompliance(jurisdiction: string, options: { dry_run?: boolean } = {}): Promise<Validated> {
    return this.transport.call("POST /v1/compliance/validate", { jurisdiction, ...options });
  }

  /** Checks that the service is alive. */
  async ping(): Promise<Pong> {
    return this.transport.call("GET /v1/ping", undefined);
  }

  /** Returns the OpenAPI document of the service. */
  async openapiDocument(): Promise<Record<string, unknown>> {
    return this.transport.call("GET /openapi.json", undefined);
  }
}

/** A new account with its first identity. */
export interface NewAccount {
  identity: Activated;
  /** The account and its login secret, which no later response shows. */
  login: Login;
  /** Replaces a lost login secret. Store it in another place. */
  recoveryCode: string;
}

export interface TokenOptions {
  name: string;
  scopes: TokenScope[];
  /** 90 by default. */
  expiresInDays?: number;
  apiKeyId?: string;
  loginSecret?: string;
}

/** The account of a client. Its operations need a `Login`. */
class Account {
  constructor(private readonly transport: Transport) {}

  /** Yields the activity of the account, newest first, page by page. */
  async *activity({ pageSize = 100 } = {}): AsyncGenerator<ActivityView> {
    const list = (cursor: Cursor) =>
      this.transport.call("POST /v1/account/activity", { limit: pageSize, ...cursor });
    for await (const page of pages(list)) yield* page.entries;
  }

  /** Ends the session of this client, or all sessions of the account. The next request logs in again. */
  async logout(options: { all?: boolean } = {}): Promise<LoggedOut> {
    return this.transport.call("POST /v1/auth/logout", options);
  }

  /** Replaces the login secret and the recovery code. Create a new client with the new secret. */
  async rotateLoginSecret(loginSecret = this.transport.login?.loginSecret): Promise<SecretsReplaced> {
    const login_secret = given(loginSecret, "login secret: pass loginSecret");
    return this.transport.call("POST /v1/auth/rotate-secret", { login_secret });
  }

  /**
   * Creates an API token for one API key. The response has its secret, which no later response shows.
   *
   * By default, the token is for the API key of this client, and the login secret is that of this client.
   */
  async createToken({ name, scopes, expiresInDays, ...rest }: TokenOptions): Promise<ApiTokenCreated> {
    const { apiKeyId = this.transport.apiKey, loginSecret = this.transport.login?.loginSecret } = rest;
    return this.transport.call("POST /v1/auth/tokens/create", {
      login_secret: given(loginSecret, "login secret: pass loginSecret"),
      api_key_id: given(apiKeyId, "API key: pass apiKeyId"),
      name,
      scopes,
      ...(expiresInDays !== undefined && { expires_in_days: expiresInDays }),
    });
  }

  /** Returns the API tokens that have not expired, oldest first. */
  async tokens(): Promise<ApiTokenView[]> {
    return (await this.transport.call("POST /v1/auth/tokens/list", undefined)).tokens;
  }

  /** Revokes an API token. */
  async revokeToken(tokenId: string): Promise<ApiTokenRevoked> {
    return this.transport.call("POST /v1/auth/tokens/revoke", { token_id: tokenId });
  }

  /** Returns everything that the service stores about the account, without messages and secrets. */
  async export(loginSecret: string): Promise<AccountExport> {
    return this.transport.call("POST /v1/account/export", { login_secret: loginSecret });
  }

  /** Closes the account and revokes all its API keys, permanently. */
  async close(loginSecret: string): Promise<AccountClosed> {
    return this.transport.call("POST /v1/account/close", { login_secret: loginSecret });
  }
}

/** The webhooks of a client's API key. */
class Webhooks {
  constructor(private readonly transport: Transport) {}

  /** Registers a webhook. The response has its secret, which no later response shows. */
  async register(
    url: string,
    events: EventKind[] = ["envelope.received"],
    options: { description?: string; waiting?: "skip" } = {},
  ): Promise<Registered> {
    return this.transport.call("POST /v1/webhooks/register", { url, events, ...options });
  }

  /** Returns all webhooks, oldest first. */
  async list(): Promise<WebhookView[]> {
    return (await this.transport.call("POST /v1/webhooks/list", undefined)).webhooks;
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
    return this.transport.call("POST /v1/webhooks/update", { webhook_id: webhookId, ...changes });
  }

  /** Deletes a webhook and its deliveries. */
  async delete(webhookId: string): Promise<void> {
    await this.transport.call("POST /v1/webhooks/delete", { webhook_id: webhookId });
  }

  /** Enables a webhook. Its pending deliveries follow at once; `due_now` is their number. */
  async enable(webhookId: string): Promise<Enabled> {
    return this.transport.call("POST /v1/webhooks/enable", { webhook_id: webhookId });
  }

  /** Replaces the secret. For a day, events carry signatures of both secrets. */
  async rotateSecret(webhookId: string): Promise<WebhookSecretRotated> {
    return this.transport.call("POST /v1/webhooks/rotate-secret", { webhook_id: webhookId });
  }

  /** Yields the pending deliveries of a webhook, and then all attempts, page by page. */
  async *deliveries(
    webhookId: string,
    { pageSize = 100, ...state }: { pageSize?: number; state?: DeliveryView["outcome"] } = {},
  ): AsyncGenerator<DeliveryView> {
    const wanted = { webhook_id: webhookId, limit: pageSize, ...state };
    const list = (cursor: Cursor) =>
      this.transport.call("POST /v1/webhooks/deliveries", { ...wanted, ...cursor });
    for await (const page of pages(list)) yield* page.deliveries;
  }

  /** Makes the delivery of an event due now. */
  async redeliver(webhookId: string, envelopeId: string): Promise<Redelivered> {
    const body = { webhook_id: webhookId, envelope_id: envelopeId };
    return this.transport.call("POST /v1/webhooks/redeliver", body);
  }

  /** Makes up to 10,000 failed deliveries due now. Repeat while the response has `more`. */
  async recover(webhookId: string, since: Date, options: { until?: Date; dry_run?: boolean } = {}): Promise<Recovered> {
    return this.transport.call("POST /v1/webhooks/recover", { webhook_id: webhookId, since, ...options });
  }

  /** Sends a `webhook.test` event now, and returns the outcome. */
  async test(webhookId: string): Promise<Tested> {
    return this.transport.call("POST /v1/webhooks/test", { webhook_id: webhookId });
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

function given<T>(value: T | undefined, missing: string): T {
  if (value === undefined) throw new TypeError(`there is no ${missing}`);
  return value;
}
