import { ApiError, type ProblemMembers, type SentRequest, Unreachable } from "./errors.js";
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
    const response = await this.#repeat(() => this.#authenticated(sent, content));
    const text = await response.text();
    if (!response.headers.get("Content-Type")?.includes("json")) return text;
    // The times in the examples of the OpenAPI document stay texts.
    const result = name === "GET /openapi.json" ? JSON.parse(text) : parse(text);
    return result as Operations[Name]["result"];
  }

  async #repeat(send: () => Promise<Response>): Promise<Response> {
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
  async #authenticated(request: SentRequest, body: string | null): Promise<Response> {
    const session = needsCredentials(request) ? this.session() : undefined;
    if (session === undefined) return this.#exchange(request, body);
    request.headers.set("Authorization", `Bearer ${await session}`);
    try {
      return await this.#exchange(request, body);
    } catch (fault) {
      const isRejected = fault instanceof ApiError && fault.status === 401;
      if (!isRejected || !this.discard(session)) throw fault;
    }
    request.headers.set("Authorization", `Bearer ${await this.session()}`);
    return this.#exchange(request, body);
  }

  async #logIn({ accountId, loginSecret }: Login): Promise<string> {
    const url = `${this.#options.url}/v1/auth/login`;
    const headers = new Headers({ "Content-Type": "application/json" });
    const body = JSON.stringify({ account_id: accountId, login_secret: loginSecret });
    const response = await this.#exchange({ method: "POST", url, headers }, body);
    const { session_token } = (await response.json()) as { session_token: string };
    return session_token;
  }

  /** Sends a request once and reads the whole response. */
  async #exchange(request: SentRequest, body: string | null): Promise<Response> {
    const { method, url, headers } = request;
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    let response: Response;
    try {
      const received = await this.#options.fetch(url, { method, headers, body, signal, redirect: "manual" });
      response = new Response(await received.text(), received);
    } catch (cause) {
      throw new Unreachable(request, cause);
    }
    const error = await errorOf(request, response);
    if (error) throw error;
    return response;
  }
}

/** Returns the error of a response, or undefined for a success. */
export async function errorOf(request: SentRequest, response: Response): Promise<ApiError | undefined> {
  const kind = response.headers.get("Content-Type") ?? "";
  if (response.ok && /^(application\/|text\/plain)/.test(kind)) return undefined;
  const isProblem = kind.startsWith("application/problem+json");
  const problem: ProblemMembers = isProblem ? ((await response.json()) as ProblemMembers) : {};
  const Kind = (problem.code && BY_CODE[problem.code]) || ApiError;
  return new Kind(request, response, problem);
}

/** Returns whether the operation of a request accepts credentials. */
function needsCredentials({ url }: SentRequest): boolean {
  const path = new URL(url).pathname;
  return !UNAUTHENTICATED.some((suffix) => path.endsWith(suffix)) && !path.includes("/v1/status/");
}
