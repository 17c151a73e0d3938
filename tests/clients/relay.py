"""Sends itself messages and receives them over a relay, also after its session ended: relay.py sync|async.

Reads the task, and prints the messages.
"""

import asyncio
import json
import sys

from sealpost import AsyncReceiver, AsyncSealpost, Login, Receiver, Sealpost, Webhook

TASK = json.load(sys.stdin)
OPTIONS = {"login": Login(TASK["account_id"], TASK["login_secret"]), "api_key": TASK["api_key"]}


def run():
    def on_envelope(envelope):
        print(envelope.message)
        if envelope.message == TASK["messages"][-1]:
            return relay.stop()
        client.account.logout()
        client.send(TASK["api_key"], TASK["messages"][-1])

    client = Sealpost(TASK["url"], **OPTIONS)
    webhook = client.webhooks.register("relay:")
    relay = client.relay(webhook.webhook_id, Receiver(client, Webhook(webhook.secret), on_envelope).receive)
    client.send(TASK["api_key"], TASK["messages"][0])
    relay.run()


async def run_async():
    async def on_envelope(envelope):
        print(envelope.message)
        if envelope.message == TASK["messages"][-1]:
            return relay.stop()
        await client.account.logout()
        await client.send(TASK["api_key"], TASK["messages"][-1])

    client = AsyncSealpost(TASK["url"], **OPTIONS)
    webhook = await client.webhooks.register("relay:")
    relay = client.relay(webhook.webhook_id, AsyncReceiver(client, Webhook(webhook.secret), on_envelope).receive)
    await client.send(TASK["api_key"], TASK["messages"][0])
    await relay.run()


if sys.argv[1] == "sync":
    run()
else:
    asyncio.run(run_async())
