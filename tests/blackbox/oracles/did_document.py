"""Reads a DID document with pydid. Argument: the document. Prints the ids of the keys that the library knows."""

import json
import sys

from pydid import DIDDocument
from pydid.verification_method import UnknownVerificationMethod

document = DIDDocument.deserialize(json.loads(sys.argv[1]))
known = [method.id for method in document.verification_method
         if not isinstance(method, UnknownVerificationMethod)]
print(json.dumps([str(id) for id in known]))
