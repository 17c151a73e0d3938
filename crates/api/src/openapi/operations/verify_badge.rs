//! `POST /v1/badges/verify`.

use schemars::JsonSchema;
use sealpost_domain::Code;
use sealpost_service::BadgeVerified;
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "valid": true,
        "status": "valid",
        "badge_id": "bdg_01m7ye92v3e6n8d9ywq7j0x1rk",
        "subject": "urn:sealpost:ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "issued_at": "2026-11-21T06:56:38.000Z",
        "expires_at": "2027-02-19T06:56:38.000Z",
        "revoked_at": null,
    });
    let unknown = json!({
        "valid": false,
        "status": "invalid",
        "badge_id": null,
        "subject": null,
        "issued_at": null,
        "expires_at": null,
        "revoked_at": null,
    });
    let credential = json!({ "credential": "eyJhbGciOiJFZERTQSIsImN0eSI6InZjIiwidHlwIjoidmMrand0In0.eyJpc3MiOiJkaWQ6d2ViOnNlYWwuZXhhbXBsZS5vcmcifQ.c2lnbmF0dXJl" });
    Operation::post::<BadgeVerified>("/v1/badges/verify", "verifyBadge", answer)
        .or_gives("not a badge of this service", unknown)
        .says(Group::Badges, "Verify a badge", ABOUT)
        .acting_as_key()
        .takes::<Body>(vec![("", credential)])
        .refuses(&[Code::MissingField])
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "it gives a body its form; the handler reads the field itself")]
struct Body {
    /// The credential, as a JWT.
    #[schemars(length(min = 1))]
    credential: String,
}

const ABOUT: &str = "\
Says whether a credential is a badge of this service, and whether it holds. Whoever has no account verifies it with any \
library for JSON Web Tokens, the keys of `/.well-known/did.json` and the status list that it names.";
