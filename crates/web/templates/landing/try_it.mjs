import { Sealpost } from "sealpost";

const url = "https://sealpost.example";
const { login, identity } = await new Sealpost({ url }).openAccount("Alice");
const me = identity.api_key_id;
const alice = new Sealpost({ url, login, apiKey: me });
const sent = await alice.send(me, "Hello, Alice.");
console.log((await alice.open(sent.envelope_id)).message);
