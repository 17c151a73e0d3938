"""Verification against the shared vectors, and the helpers of the frameworks."""

import json
import unittest
from pathlib import Path

from sealpost import InvalidSignature, Webhook

VECTORS = Path(__file__).resolve().parents[3] / "docs/examples/webhook-vectors.json"


class Vectors(unittest.TestCase):
    def test_each_vector_has_its_verdict(self):
        cases = json.loads(VECTORS.read_text())["cases"]
        self.assertGreater(len(cases), 10)
        for case in cases:
            with self.subTest(case["name"]):
                keys = [*case["secrets"], *([case["public_key"]] if case["public_key"] else [])]
                self.assertEqual(verdict(Webhook(*keys), case), case["valid"])

    def test_an_event_has_its_type(self):
        case = json.loads(VECTORS.read_text())["cases"][0]
        event = Webhook(*case["secrets"]).verify(case["headers"], case["body"].encode(), now=case["now"])
        self.assertEqual(event.kind, "envelope.received")
        self.assertEqual(event.body.envelope_id, event.id)

    def test_a_wrong_key_is_refused(self):
        for key in ("", "whsec_", "whsec_%", "whpk_%"):
            with self.assertRaises(ValueError, msg=key):
                Webhook(key)


def verdict(webhook, case):
    try:
        webhook.verify(case["headers"], case["body"].encode(), now=case["now"])
    except InvalidSignature:
        return False
    return True


if __name__ == "__main__":
    unittest.main()
