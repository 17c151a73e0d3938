import { ApiError, type SentRequest, Unreachable } from "./errors.js";
import { REPEATABLE } from "./generated/operations.js";

/** The limits of retries. */
export interface RetryOptions {
  /** Number of tries, the first included. 5 by default. */
  tries?: number;
  /** Pause after the first try, 500 by default. Later pauses double, each shortened by a random part of up to a half. */
  firstPauseMs?: number;
  /** Longest pause without `Retry-After`. 8,000 by default. */
  pauseMaxMs?: number;
  /** Longest `Retry-After` that is waited for. A longer one throws the error at once. 60,000 by default. */
  retryAfterMaxMs?: number;
}

/** Returns the pause before the next try, or undefined if the request must not be repeated. */
export function pauseBeforeRetry(options: RetryOptions, tries: number, fault: ApiError | Unreachable): number | undefined {
  const { tries: triesMax = 5, firstPauseMs = 500, pauseMaxMs = 8_000, retryAfterMaxMs = 60_000 } = options;
  if (tries >= triesMax || !mayRepeat(fault)) return undefined;
  const backoff = Math.min(firstPauseMs * 2 ** (tries - 1), pauseMaxMs) * (1 - Math.random() / 2);
  const asked = fault instanceof ApiError ? fault.retryAfterMs : undefined;
  if (asked !== undefined && asked > retryAfterMaxMs) return undefined;
  return Math.min(Math.max(backoff, asked ?? 0), TIMER_MAX_MS);
}

/** Returns whether another try can succeed and repeats no effect. */
function mayRepeat(fault: ApiError | Unreachable): boolean {
  if (fault instanceof Unreachable) return !fault.mayHaveBeenProcessed || isRepeatable(fault.request);
  switch (fault.code) {
    // The service stored nothing.
    case "MONTHLY_LIMIT_EXCEEDED":
    case "RATE_LIMIT_EXCEEDED":
    case "REQUEST_TIMEOUT":
    case "SERVICE_UNAVAILABLE":
      return true;
    // The key is being rotated.
    case "KEY_INACTIVE":
      return fault.retryAfterMs !== undefined;
    case "INTERNAL_ERROR":
      return isRepeatable(fault.request);
    // Responses without a code come from proxies, which may have forwarded the request.
    case undefined:
      return TEMPORARY.has(fault.status) && isRepeatable(fault.request);
    default:
      return false;
  }
}

/** Returns whether the request may be repeated after a lost response without harm. */
function isRepeatable({ method, url, headers }: SentRequest): boolean {
  const path = new URL(url).pathname;
  return method === "GET" || headers.has("Idempotency-Key") || REPEATABLE.some((suffix) => path.endsWith(suffix));
}

/** The longest time of a timer, 24 days. A longer timer would end at once. */
export const TIMER_MAX_MS = 2 ** 31 - 1;
const TEMPORARY = new Set([408, 429, 500, 502, 503, 504]);
