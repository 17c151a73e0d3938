"""Faults of nodes and of the database, at random times."""

import random
import signal
import threading
import time
import traceback

from history import Fault, now


class Faults:
    """A thread that causes one fault at a time, and waits until every node is ready again."""

    def __init__(self, cluster, postgres, history, seed, every):
        self.cluster, self.postgres, self.history = cluster, postgres, history
        self.random, self.every = random.Random(seed), every
        self.is_over, self.problem = threading.Event(), None
        self.addresses = [node.url for node in cluster.nodes]
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        """Starts the thread."""
        self.thread.start()

    def stop(self):
        """Ends the thread after its current fault."""
        self.is_over.set()
        if self.thread.is_alive():
            self.thread.join()
        if self.problem:
            raise RuntimeError(f"a fault could not be caused or repaired:\n{self.problem}")

    def current_addresses(self):
        """Returns the URL of each node, `None` for a node that is down."""
        return self.addresses

    def _run(self):
        faults = [self.kill_node, self.kill_node, self.terminate_node, self.freeze_node]
        if self.postgres:
            faults += [self.kill_database, self.stop_database, self.kill_database, self.freeze_database]
        while not self.is_over.wait(self.random.uniform(*self.every)):
            try:
                self.cause(self.random.choice(faults))
            except Exception:
                self.problem = traceback.format_exc()
                return

    def cause(self, fault):
        """Causes a fault, and writes it to the history before and after it."""
        record = self.history.add(Fault(fault.__name__, None, now(), float("inf")))
        problem = fault(record)
        record.is_recovered = problem is None and all(node.is_ready_soon() for node in self.cluster.nodes)
        record.ended = now()

    def kill_node(self, record):
        """Kills a node and starts it again."""
        return self._restart(record, lambda node: node.kill())

    def terminate_node(self, record):
        """Stops a node in order and starts it again."""
        return self._restart(record, lambda node: node.terminate())

    def _restart(self, record, end):
        node = self.random.choice(self.cluster.nodes)
        record.node = node.number
        self.addresses[node.number] = None
        is_in_order = end(node)
        self._pause(0.2, 2)
        node.start()
        self.addresses[node.number] = node.url
        return "the node did not stop in order" if is_in_order is False else None

    def freeze_node(self, record):
        """Stops a node without ending it, and continues it."""
        node = self.random.choice(self.cluster.nodes)
        record.node = node.number
        node.signal(signal.SIGSTOP)
        self._pause(0.5, 4)
        node.signal(signal.SIGCONT)

    def kill_database(self, _):
        """Kills PostgreSQL and starts it again."""
        self.postgres.kill()
        self._pause(0, 2)
        self.postgres.start()

    def stop_database(self, _):
        """Stops PostgreSQL without a checkpoint and starts it again."""
        self.postgres.stop_immediately()
        self._pause(0, 2)
        self.postgres.start()

    def freeze_database(self, _):
        """Stops the main process of PostgreSQL, so that it accepts no connections."""
        self.postgres.process.send_signal(signal.SIGSTOP)
        self._pause(0.5, 3)
        self.postgres.process.send_signal(signal.SIGCONT)

    def _pause(self, least, most):
        time.sleep(self.random.uniform(least, most))
