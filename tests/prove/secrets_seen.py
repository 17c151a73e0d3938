"""Finds secrets of the service in texts, by their prefixes."""

import re

SECRET = re.compile(r"\b(?:(?:ls|st|kt|rc)_[A-Za-z0-9]{30,}|whsec_[A-Za-z0-9+/=]{30,})")


def find_secrets(text):
    """Returns the secrets in a text."""
    return SECRET.findall(text)
