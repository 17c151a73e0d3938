//! All of Sealpost's cryptography: key-encryption keys, identities, sealing, tokens.
