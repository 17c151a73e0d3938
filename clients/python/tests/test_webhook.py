"""Verification against the shared vectors, and the helpers of the frameworks."""

import base64
import hashlib
import hmac
import json
import unittest
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sealpost import InvalidSignature, Webhook

VECTORS = Path(__file__).resolve().parents[3] / "docs/examples/webhook-vectors.json"
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
PUBLIC_KEY = "whpk_aI98mYEXUhV2xnTKmZp4Okx9QEpQAUuWekde5wWGtCI="
NOW = 1_700_000_000
settings.register_profile("tests", database=None, deadline=None, derandomize=True)
settings.load_profile("tests")
ANY_TEXT = st.text(st.characters())  # Surrogates too, as in WSGI.
NAMES = st.sampled_from(["webhook-id", "webhook-timestamp", "webhook-signature"]) | ANY_TEXT
EVENTS = st.sampled_from(["envelope.received", "webhook.test", "usage.threshold", "of.a.newer.service"])
JSON = st.dictionaries(st.text(), st.text() | st.none() | st.integers()) | st.builds(
    lambda event, members: {**members, "event": event}, EVENTS, st.dictionaries(st.text(), st.text())
)


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
        for key in ("whsec_", "whsec_%", "whpk_%", "nope", "bm9wZQ==", "whsec_bm9wZQ==", SECRET.removeprefix("whsec_")):
            with self.assertRaisesRegex(ValueError, "starts with whsec_ or whpk_", msg=key):
                Webhook(key)
        for keys in ((), ("",), (None,)):
            with self.assertRaisesRegex(ValueError, "is missing"):
                Webhook(*keys)

    def test_parsed_json_is_not_a_body(self):
        for body in ({}, [], "{}", None):
            with self.assertRaisesRegex(TypeError, "pass the raw body as bytes, not the parsed JSON"):
                Webhook(SECRET).verify(signed(b"{}"), body, now=NOW)


class Strangers(unittest.TestCase):
    """Whatever a stranger sends, `verify` raises only `InvalidSignature`."""

    webhook = Webhook(SECRET, PUBLIC_KEY)

    @given(st.dictionaries(NAMES, ANY_TEXT), st.binary())
    @example({"webhook-id": "\ud800", "webhook-timestamp": str(NOW), "webhook-signature": "v1,\ud800"}, b"")
    @example({"webhook-id": "a", "webhook-timestamp": "9" * 5000, "webhook-signature": "v1,a"}, b"")
    @example({"webhook-id": "a", "webhook-timestamp": str(NOW), "webhook-signature": "v1a,é v1a,AAAA"}, b"")
    def test_random_headers(self, headers, body):
        with self.assertRaises(InvalidSignature):
            self.webhook.verify(headers, body, now=NOW)

    @given(ANY_TEXT, st.lists(st.sampled_from(["v1,", "v1a,", ""]).flatmap(lambda kind: ANY_TEXT.map(kind.__add__))))
    def test_random_signatures(self, id, entries):
        headers = {"webhook-id": id, "webhook-timestamp": str(NOW), "webhook-signature": " ".join(entries)}
        with self.assertRaises(InvalidSignature):
            self.webhook.verify(headers, b"{}", now=NOW)

    @given(st.one_of(st.binary(), JSON.map(lambda value: json.dumps(value).encode())))
    @example(b"[" * 60_000)
    @example(b'{"event": "envelope.received"}')
    @example(b'{"event": []}')
    def test_random_signed_bodies(self, body):
        try:
            self.webhook.verify(signed(body), body, now=NOW)
        except InvalidSignature:
            pass


def signed(body):
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    mac = base64.b64encode(hmac.new(key, f"a.{NOW}.".encode() + body, hashlib.sha256).digest()).decode()
    return {"webhook-id": "a", "webhook-timestamp": str(NOW), "webhook-signature": f"v1,{mac}"}


def verdict(webhook, case):
    try:
        webhook.verify(case["headers"], case["body"].encode(), now=case["now"])
    except InvalidSignature:
        return False
    return True


if __name__ == "__main__":
    unittest.main()
