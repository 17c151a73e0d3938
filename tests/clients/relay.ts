// Sends itself messages and receives them over a relay, also after its session ended. Reads the task, and prints the messages.
import { text } from "node:stream/consumers";

import { Receiver, Sealpost, Webhook } from "../src/index.js";
import { type Relay, relay } from "../src/relay.js";

const task = JSON.parse(await text(process.stdin));
const [first, last] = task.messages;
const login = { accountId: task.account_id, loginSecret: task.login_secret };
const client = new Sealpost({ url: task.url, login, apiKey: task.api_key });
const { webhook_id, secret } = await client.webhooks.register("relay:");
const onEnvelope = async ({ message }: { message: string }): Promise<void> => {
  console.log(message);
  if (message === last) return subject.stop();
  await client.account.logout();
  await client.send(task.api_key, last);
};
const receiver = new Receiver({ client, webhook: new Webhook(secret), onEnvelope });
const subject: Relay = relay(client, webhook_id, (headers, body) => receiver.receive(headers, body));
await client.send(task.api_key, first);
await subject.run();
