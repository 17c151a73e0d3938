//! Names the kind of an id or a secret. The error for an id of the wrong kind contains this name.

use super::id::{AccountId, ApiKeyId, ApiTokenId, BadgeId, EnvelopeId, OwnEventId, WebhookId};

/// Finds the kind of id or secret by the prefix of `text`. Returns a noun phrase for this kind, such as "the id of an
/// account (acct_)". `None` if the prefix is unknown.
pub fn id_kind(text: &str) -> Option<&'static str> {
    KINDS.iter().find(|(prefix, _)| text.starts_with(prefix)).map(|(_, kind)| *kind)
}

/// The kinds of ids and secrets that callers get: the prefix of each kind, and its noun phrase. An error contains only
/// the noun phrase, because the text in the request may be a secret.
const KINDS: [(&str, &str); 12] = [
    (AccountId::PREFIX, "the id of an account (acct_)"),
    (ApiKeyId::PREFIX, "an API key (ak_)"),
    (ApiTokenId::PREFIX, "the id of an API token (tok_)"),
    (BadgeId::PREFIX, "the id of a badge (bdg_)"),
    (EnvelopeId::PREFIX, "the id of an envelope (env_)"),
    (OwnEventId::PREFIX, "the id of an event (evt_)"),
    (WebhookId::PREFIX, "the id of a webhook (wh_)"),
    ("kt_", "an API token (kt_), a secret"),
    ("ls_", "a login secret (ls_)"),
    ("rc_", "a recovery code (rc_)"),
    ("st_", "a session token (st_)"),
    ("whsec_", "a webhook secret (whsec_)"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_named_by_its_prefix() {
        assert_eq!(id_kind("wh_01h455vb4pex5vsknk084sn02q"), Some("the id of a webhook (wh_)"));
        assert_eq!(id_kind("whsec_C2FVsBQIhrscChlQIMV"), Some("a webhook secret (whsec_)"));
        assert_eq!(id_kind("ak_short"), Some("an API key (ak_)"));
        for text in ["", "bob", "AK_01h455vb4pex5vsknk084sn02q", "ak-bob"] {
            assert_eq!(id_kind(text), None, "{text}");
        }
    }
}
