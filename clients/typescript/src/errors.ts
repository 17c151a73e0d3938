/** The base of all errors of this package. `sealpost/errors` has a class for each error code of the service. */
export class SealpostError extends Error {
  override readonly name: string = "SealpostError";
}

/** The part of a request that errors and retries need. It contains no credentials. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
}

/** No complete response of the service arrived. */
export class Unreachable extends SealpostError {
  override readonly name: string = "Unreachable";
  /** False if the request never left this machine, as far as the platform reveals this. */
  readonly mayHaveBeenProcessed: boolean;

  constructor(
    readonly request: SentRequest,
    cause: unknown,
  ) {
    const mayHaveBeenProcessed = !UNSENT.test(networkCode(cause));
    const hint = mayHaveBeenProcessed ? "; it may have been processed" : "";
    super(`no response to ${nameOf(request)}${hint}: ${networkCode(cause) || String(cause)}`, { cause });
    this.mayHaveBeenProcessed = mayHaveBeenProcessed;
  }
}

/** The members of a problem document that every error of the service has. */
export interface ProblemMembers {
  code?: string;
  detail?: string;
  field?: string;
  request_id?: string;
  [member: string]: unknown;
}

/** The service, or a proxy in front of it, responded with an error. */
export class ApiError extends SealpostError {
  override readonly name: string = "ApiError";
  readonly status: number;
  /** Undefined if the response is not from Sealpost. */
  readonly code: string | undefined;
  readonly detail: string | undefined;
  readonly field: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly request: SentRequest,
    response: Pick<Response, "status" | "headers">,
    /** All members of the problem document, such as `unmet` and `checks`. */
    readonly problem: ProblemMembers,
  ) {
    const reason = problem.code
      ? `${problem.code}: ${problem.detail}`
      : "the response is not from Sealpost: check the URL";
    super(`${nameOf(request)} failed with status ${response.status}, ${reason}`);
    this.status = response.status;
    this.code = problem.code;
    this.detail = problem.detail;
    this.field = problem.field;
    this.requestId = problem.request_id;
    this.retryAfterMs = milliseconds(response.headers.get("Retry-After"));
  }
}

/** A webhook request is not from the service, or is too old. */
export class InvalidSignature extends SealpostError {
  override readonly name: string = "InvalidSignature";
}

function nameOf({ method, url }: SentRequest): string {
  return `${method} ${url}`;
}

/** Returns the code of a network error of Node and Deno, for example `ECONNREFUSED`. */
function networkCode(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === "string") return code;
  return cause === undefined ? "" : networkCode(cause);
}

/** Returns the milliseconds of a `Retry-After` header, which is a number or a date. */
function milliseconds(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(retryAfter)) return Math.ceil(Number(retryAfter) * 1000);
  // A date begins with its weekday. `Date.parse` accepts other texts too, and even negative numbers.
  const date = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

// Failures before the request is sent: of the name, of the connection, and of the certificate or the start of TLS.
const UNSENT = new RegExp(
  "^(EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|UND_ERR_CONNECT_TIMEOUT" +
    "|CERT_.+|CRL_.+|DEPTH_ZERO_.+|ERROR_IN_(CERT|CRL)_.+|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED" +
    "|SELF_SIGNED_.+|UNABLE_TO_.+|ERR_TLS_CERT_.+|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG))$",
);
