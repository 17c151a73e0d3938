import { ApiError, type ProblemMembers, type SentRequest, Unreachable } from "./errors.js";
import { BY_CODE } from "./generated/errors.js";
import { UNAUTHENTICATED } from "./generated/operations.js";
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

  /** Sends a request as often as necessary. */
  async fetch(request: Request): Promise<Response> {
    const body = request.body === null ? null : await request.text();
    const headers = new Headers(request.headers);
    if (this.#options.apiKey !== undefined) headers.set("X-DID-API-Key", this.#options.apiKey);
    const { method, url } = request;
    return this.#repeat(() => this.#authenticated({ method, url, headers }, body));
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

  /** Logs in first if there is no session yet, and again after a 401. */
  async #authenticated(request: SentRequest, body: string | null): Promise<Response> {
    const { credentials } = this.#options;
    if (credentials === undefined || !needsCredentials(request)) return this.#exchange(request, body);
    const used = this.#session();
    request.headers.set("Authorization", `Bearer ${await used}`);
    try {
      return await this.#exchange(request, body);
    } catch (fault) {
      const isRejected = fault instanceof ApiError && fault.status === 401;
      if (!isRejected || typeof credentials === "string") throw fault;
      // Requests that share a rejected token log in once.
      if (this.#token === used) this.#token = undefined;
    }
    request.headers.set("Authorization", `Bearer ${await this.#session()}`);
    return this.#exchange(request, body);
  }

  #session(): Promise<string> {
    if (this.#token === undefined) {
      const login = this.#logIn();
      this.#token = login;
      login.catch(() => {
        if (this.#token === login) this.#token = undefined;
      });
    }
    return this.#token;
  }

  async #logIn(): Promise<string> {
    const { accountId, loginSecret } = this.#options.credentials as Login;
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
    const kind = response.headers.get("Content-Type") ?? "";
    if (response.ok && /^(application\/|text\/plain)/.test(kind)) return response;
    const isProblem = kind.startsWith("application/problem+json");
    const problem: ProblemMembers = isProblem ? ((await response.json()) as ProblemMembers) : {};
    const Kind = (problem.code && BY_CODE[problem.code]) || ApiError;
    throw new Kind(request, response, problem);
  }
}

/** Returns whether the operation of a request accepts credentials. */
function needsCredentials({ url }: SentRequest): boolean {
  const path = new URL(url).pathname;
  return !UNAUTHENTICATED.some((suffix) => path.endsWith(suffix)) && !path.includes("/v1/status/");
}
