import { INSTANTS } from "./generated/operations.js";

const TIMES = new Set(INSTANTS);

/** Reads a response or an event. Its times become `Date`. */
export function parse(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) =>
    TIMES.has(name) && typeof value === "string" ? new Date(value) : value,
  );
}
