import { ApiError, type ProblemMembers, SealpostError, type SentRequest, Unreachable } from "./errors.js";
import { BY_CODE } from "./generated/errors.js";
import type { Operations } from "./generated/models.js";
import { UNAUTHENTICATED } from "./generated/operations.js";
import { parse, stringify } from "./json.js";
import { pauseBeforeRetry, type RetryOptions } from "./retry.js";

/** The account and its login secret. */
export interface Login {
  accountId: string;
  loginSecret: string;
}

export interface TransportOptions {
  url: string;
  credentials: string | Login | undefined;
  apiKey: string | undefined;
  retry: RetryOptions;
  timeoutMs: number;
  fetch: typeof globalThis.fetch;
}

/** Sends requests with credentials and retries, and throws an error for each error response. */
export class Transport {
  readonly #options: TransportOptions;
  /** The token of the session, or its login under way. */
  #token: Promise<string> | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    if (typeof options.credentials === "string") this.#token = Promise.resolve(options.credentials);
  }

  get url(): string {
    return this.#options.url;
  }

  get apiKey(): string | undefined {
    return this.#options.apiKey;
  }

  get login(): Login | undefined {
    return typeof this.#options.credentials === "object" ? this.#options.credentials : undefined;
  }

  /** Returns the API token or the session token. Logs in first if there is no session yet. */
  session(): Promise<string> | undefined {
    if (this.#token === undefined && this.login !== undefined) {
      const login = this.#logIn(this.login);
      this.#token = login;
      login.catch(() => this.discard(login));
    }
    return this.#token;
  }

  /** Removes a rejected session. Returns whether the client can log in again. */
  discard(session: Promise<string> | undefined): boolean {
    if (this.login !== undefined && this.#token === session) this.#token = undefined;
    return this.login !== undefined;
  }

  /** Calls an operation. `path` has the parameters of its path. */
  async call<Name extends keyof Operations>(
    name: Name,
    body: Operations[Name]["body"],
    { headers = {}, path = {} }: { headers?: Record<string, string>; path?: Record<string, string> } = {},
  ): Promise<Operations[Name]["result"]> {
    const [method = "", template = ""] = name.split(" ");
    const url = this.#options.url + template.replace(/{(\w+)}/, (_, part: string) => encodeURIComponent(path[part] ?? ""));
    const sent = { method, url, headers: new Headers(headers) };
    if (body !== undefined) sent.headers.set("Content-Type", "application/json");
    if (this.apiKey !== undefined) sent.headers.set("X-DID-API-Key", this.apiKey);
    const content = body === undefined ? null : stringify(body);
    const result = await this.#repeat(() => this.#authenticated(sent, content));
    return result as Operations[Name]["result"];
  }

  async #repeat(send: () => Promise<unknown>): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        return await send();
      } catch (fault) {
        if (!(fault instanceof ApiError || fault instanceof Unreachable)) throw fault;
        const pause = pauseBeforeRetry(this.#options.retry, tries, fault);
        if (pause === undefined) throw fault;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  /** Adds the token to a request. Logs in again after a 401. */
  async #authenticated(request: SentRequest, body: string | null): Promise<unknown> {
    const session = needsCredentials(request) ? this.session() : undefined;
    if (session === undefined) return this.#exchange(request, body);
    const token = await session;
    try {
      return await this.#exchange(request, body, token);
    } catch (fault) {
      const isRejected = fault instanceof ApiError && fault.status === 401;
      if (!isRejected || !this.discard(session)) throw fault;
    }
    return this.#exchange(request, body, await this.session());
  }

  async #logIn({ accountId, loginSecret }: Login): Promise<string> {
    const url = `${this.#options.url}/v1/auth/login`;
    const headers = new Headers({ "Content-Type": "application/json" });
    const body = JSON.stringify({ account_id: accountId, login_secret: loginSecret });
    const result = await this.#exchange({ method: "POST", url, headers }, body);
    const token = (result as { session_token?: string } | null)?.session_token;
    if (token === undefined) throw new SealpostError("the response to the login has no session token");
    return token;
  }

  /** Sends a request once, and returns the JSON value or the text of the response. Errors do not contain the token. */
  async #exchange(request: SentRequest, body: string | null, token?: string): Promise<unknown> {
    const { method, url } = request;
    const headers = new Headers(request.headers);
    if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    let response: ReadResponse;
    try {
      const received = await this.#options.fetch(url, { method, headers, body, signal, redirect: "manual" });
      response = { status: received.status, headers: received.headers, text: await received.text() };
    } catch (cause) {
      throw new Unreachable(request, cause);
    }
    const error = errorOf(request, response);
    if (error) throw error;
    if (returnsText(request)) return response.text;
    try {
      // The times in the examples of the OpenAPI document stay texts.
      return url.endsWith("/openapi.json") ? JSON.parse(response.text) : parse(response.text);
    } catch {
      // The error of the parser may quote a secret.
      throw new Unreachable(request, new SyntaxError("the response is not complete JSON"));
    }
  }
}

/** A response with its whole body. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Returns the error of a response, or undefined for a success. */
export function errorOf(request: SentRequest, response: ReadResponse): ApiError | undefined {
  const kind = response.headers.get("Content-Type") ?? "";
  const expected = returnsText(request) ? /^(application\/|text\/plain)/ : /^application\/.*json/;
  if (response.status >= 200 && response.status < 300 && expected.test(kind)) return undefined;
  const problem = kind.startsWith("application/problem+json") ? problemOf(response.text) : {};
  const Kind = (problem.code && BY_CODE[problem.code]) || ApiError;
  return new Kind(request, response, problem);
}

/** Returns no members for a text that is not a JSON object. */
function problemOf(text: string): ProblemMembers {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}

/** Returns whether the operation of a request accepts credentials. */
function needsCredentials({ url }: SentRequest): boolean {
  const path = new URL(url).pathname;
  return !UNAUTHENTICATED.some((suffix) => path.endsWith(suffix)) && !path.includes(STATUS_LISTS);
}

/** Returns whether the result of an operation is a text, not JSON. */
function returnsText({ url }: SentRequest): boolean {
  return new URL(url).pathname.includes(STATUS_LISTS);
}

const STATUS_LISTS = "/v1/status/";
