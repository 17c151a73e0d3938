"""The stage of a run: database, nodes, receivers and callers in a temporary folder."""

import random
import tempfile
import time

from callers import messages, webhooks
from callers.caller import Caller
from client import Client
from faults import Faults
from history import History, Leak, now
from node import Cluster
from postgres import Postgres
from proxy import Proxy
from receiver import MODES, STEADY_MODES, Receiver, Weather
from secrets_seen import find_secrets
from world import World

ACCOUNTS = 8
RECEIVERS, STEADY_RECEIVERS = 6, 2


class Stage:
    """All processes and threads of a run. `with` ends them and deletes the folder."""

    def __init__(self, settings):
        self.settings = settings
        self.random = random.Random(settings.seed)
        self.history = History()
        self.folder = tempfile.TemporaryDirectory(prefix="sealpost-prove.")
        self.postgres = self.cluster = None
        self.receivers = []

    def __enter__(self):
        try:
            self._set_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for receiver in self.receivers:
            receiver.close()
        if self.cluster:
            self.cluster.close()
        if self.postgres:
            self.postgres.close()
        self.folder.cleanup()

    def _set_up(self):
        settings = self.settings
        if settings.database == "postgres":
            self.postgres = Postgres(self.folder.name)
            self.postgres.start()
        self.cluster = Cluster(settings, self.folder.name, self.postgres and self.postgres.url)
        self.cluster.start()
        every = (5, 9) if settings.seconds < 60 else (12, 25)
        self.faults = Faults(self.cluster, self.postgres, self.history, self._seed(), every)
        for number in range(RECEIVERS):
            modes = STEADY_MODES if number < STEADY_RECEIVERS else MODES
            modes = {mode: weight for mode, weight in modes.items() if mode not in settings.modes_left_out}
            self.receivers.append(Receiver(self.history, self._seed(), modes))
        addresses, ports = self.faults.current_addresses, {}
        if settings.lie:
            proxy = Proxy(settings.lie, addresses, self.receivers)
            addresses, ports = proxy.addresses, proxy.receiver_ports
        client = Client(addresses, self.history, self._seed())
        self.world = World(settings, client, self.cluster, self.receivers, ports)
        self.callers = [Caller(self.world, self._seed()) for _ in range(settings.callers)]

    def _seed(self):
        return self.random.randrange(2**32)

    def run(self):
        """Sends random calls for the time of the settings, then lets everything settle."""
        for _ in range(ACCOUNTS):
            self.world.activate()
        for identity in self.world.identities[: ACCOUNTS * 2 // 3]:
            webhooks.register(self.callers[0], identity)
        weather = Weather(self.receivers, self._seed())
        if self.settings.has_faults:
            self.faults.start()
        for caller in self.callers:
            caller.start()
        end = now() + self.settings.seconds
        while now() < end and not any(caller.problem for caller in self.callers):
            time.sleep(0.2)
        self.faults.stop()
        for caller in self.callers:
            caller.stop()
        weather.clear()
        self._settle()

    def _settle(self):
        """Opens the live envelopes, waits for the end of retention, and uses the expired envelopes."""
        last, caller = now(), self.callers[0]
        for sent in self.world.live_envelopes(margin=3)[-150:]:
            if not sent.recipient.is_revoked:
                messages.open_as(caller, sent.recipient, sent.id)
        time.sleep(max(0, last + self.settings.retention - 4 - now()))
        for identity in list(self.world.identities):
            for webhook in list(identity.webhooks):
                webhooks.read_deliveries(caller, webhook)
        time.sleep(max(0, last + self.settings.retention + 1.5 - now()))
        for identity in list(self.world.identities):
            messages.read_status(caller, identity)
        for sent in self.world.envelopes[-20:]:
            messages.open_as(caller, sent.recipient, sent.id)
        # Late attempts would violate the end of retention.
        time.sleep(1)
        self.cluster.close()
        for node, line in self.cluster.logs():
            if self.world.mark in line or find_secrets(line):
                self.history.add(Leak(node, line))
