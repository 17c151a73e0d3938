import { INSTANTS } from "./generated/operations.js";

const TIMES = new Set(INSTANTS);

/** Reads a response or an event. Its times become `Date`. */
export function parse(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) =>
    TIMES.has(name) && typeof value === "string" ? new Date(value) : value,
  );
}

/**
 * Writes a request. Throws a `TypeError` for a value that JSON would replace by null, such as an invalid `Date`: null
 * removes a filter.
 */
export function stringify(body: unknown): string {
  return JSON.stringify(body, function (this: Record<string, unknown>, name: string, value: unknown): unknown {
    const original = this[name];
    const isLost = value === null || (typeof value === "number" && !Number.isFinite(value));
    if (isLost && original !== null) throw new TypeError(`${name} is invalid: ${String(original)}`);
    return value;
  });
}
