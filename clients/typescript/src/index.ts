export {
  type Account,
  type NewAccount,
  Sealpost,
  type SealpostOptions,
  type TokenOptions,
  type Webhooks,
} from "./client.js";
export { ApiError, InvalidSignature, SealpostError, Unreachable } from "./errors.js";
export type * from "./generated/models.js";
export { Receiver, type ReceiverOptions, type Seen } from "./receiver.js";
export type { RetryOptions } from "./retry.js";
export type { Login } from "./transport.js";
export { type Event, Webhook } from "./webhook.js";
