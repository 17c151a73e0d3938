// Sends itself a message and receives it over a relay. Reads the task, and prints the message.
import { text } from "node:stream/consumers";

import { Receiver, Sealpost, Webhook } from "../src/index.js";
import { relay } from "../src/relay.js";

const task = JSON.parse(await text(process.stdin));
const login = { accountId: task.account_id, loginSecret: task.login_secret };
const client = new Sealpost({ url: task.url, login, apiKey: task.api_key });
const { webhook_id, secret } = await client.webhooks.register("relay:");
const onEnvelope = ({ message }: { message: string }) => {
  console.log(message);
  subject.stop();
};
const receiver = new Receiver({ client, webhook: new Webhook(secret), onEnvelope });
const subject = relay(client, webhook_id, (headers, body) => receiver.receive(headers, body));
await client.send(task.api_key, task.message);
await subject.run();
