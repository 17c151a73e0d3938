//! Typed ids in the form of TypeIDs (TypeID specification 0.3). As text, an id has a prefix, an underscore, and a
//! UUIDv7 (RFC 9562) in 26 characters of Crockford base32. Ids of one type sort by creation time, both as text and as
//! bytes.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::{Builder, Uuid};

use crate::{FormatError, Timestamp};

macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
        #[schemars(extend("pattern" = concat!("^", $prefix, "_[0-7][0-9a-hjkmnp-tv-z]{25}$")))]
        pub struct $name(#[schemars(with = "String")] Uuid);

        impl $name {
            /// Prefix of the text form, including the underscore.
            pub const PREFIX: &'static str = concat!($prefix, "_");

            /// Creates an id from the current time and random bits. Ids sort by creation, because the time comes first.
            pub fn new(now: Timestamp, random: [u8; 10]) -> Self {
                let millis = u64::try_from(now.as_millis()).unwrap_or(0);
                Self(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            /// Returns the time at which the id was created.
            pub fn timestamp(&self) -> Timestamp {
                let millis = i64::try_from(self.0.as_u128() >> 80).unwrap_or(i64::MAX);
                Timestamp::from_millis(millis)
            }

            /// Creates an id from the 128 bits that [`Self::as_bytes`] returns.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// Returns the 128 bits of the id, big endian.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(Self::PREFIX, self.0.as_u128(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = FormatError;

            fn from_str(text: &str) -> Result<Self, FormatError> {
                let suffix = text.strip_prefix(Self::PREFIX).ok_or(FAULT)?;
                parse_base32(suffix).map(|bits| Self(Uuid::from_u128(bits))).ok_or(FAULT)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

macro_rules! typed_ids {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal;)+) => {
        $(typed_id!($(#[$doc])* $name, $prefix);)+

        /// The prefixes of all kinds of ids, each including the underscore.
        pub(super) const ID_PREFIXES: &[&str] = &[$($name::PREFIX),+];
    };
}

typed_ids! {
    /// Id of an account. An account owns API keys.
    AccountId, "acct";
    /// Id of an entry in the activity log of an account.
    ActivityId, "act";
    /// Id of an API key. The id is the public name of one identity.
    ApiKeyId, "ak";
    /// Id of an API token.
    ApiTokenId, "tok";
    /// Id of an assessment: measured metrics of an API key.
    AssessmentId, "asmt";
    /// Id of an attestation: an operator's statement that an API key passed or failed a compliance check.
    AttestationId, "att";
    /// Id of a badge, a signed credential about an API key.
    BadgeId, "bdg";
    /// Id of a channel, a key encapsulation shared by many envelopes of one sender to one recipient.
    ChannelId, "chn";
    /// Id of a governance decision of an operator to block keys.
    DecisionId, "gov";
    /// Id of an envelope, a message sealed for one recipient.
    EnvelopeId, "env";
    /// Id of any event other than `envelope.received`. The event `envelope.received` uses the id of the envelope.
    OwnEventId, "evt";
    /// Id of an invite to open an account.
    InviteId, "ivt";
    /// Id of an issuer key, one of the service's own signing keys.
    IssuerKeyId, "iss";
    /// Id of an HTTP request, for logs and error responses.
    RequestId, "req";
    /// Id of a webhook, a URL for the events of an API key.
    WebhookId, "wh";
}

/// Writes an id as text. Calls the formatter only once, which is faster: many ids are formatted for each sent message.
fn write(prefix: &str, bits: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0; TEXT_LEN_MAX];
    let (mut places, mut rest) = (text.iter_mut().rev(), bits);
    for place in places.by_ref().take(SUFFIX_LEN) {
        let [digit, ..] = rest.to_le_bytes();
        *place = symbol(digit & 31);
        rest >>= 5;
    }
    for (place, byte) in places.zip(prefix.bytes().rev()) {
        *place = byte;
    }
    let unused = TEXT_LEN_MAX.saturating_sub(prefix.len() + SUFFIX_LEN);
    let text = text.get(unused..).and_then(|text| std::str::from_utf8(text).ok());
    f.write_str(text.ok_or(fmt::Error)?)
}

fn symbol(digit: u8) -> u8 {
    ALPHABET.get(usize::from(digit)).copied().unwrap_or_default()
}

/// Parses 26 characters of base32. Accepts only lower case and at most 128 bits, as the TypeID specification requires.
fn parse_base32(text: &str) -> Option<u128> {
    if text.len() != SUFFIX_LEN || text.as_bytes().first().is_none_or(|first| *first > b'7') {
        return None;
    }
    text.bytes().try_fold(0, |bits, symbol| Some(bits << 5 | u128::from(digit(symbol)?)))
}

/// Returns the value of a base32 character. `None` for other characters: the alphabet omits `i`, `l`, `o` and `u`.
fn digit(symbol: u8) -> Option<u8> {
    match symbol {
        b'0'..=b'9' => Some(symbol - b'0'),
        b'a'..=b'h' => Some(symbol - b'a' + 10),
        b'j'..=b'k' => Some(symbol - b'j' + 18),
        b'm'..=b'n' => Some(symbol - b'm' + 20),
        b'p'..=b't' => Some(symbol - b'p' + 22),
        b'v'..=b'z' => Some(symbol - b'v' + 27),
        _ => None,
    }
}

const FAULT: FormatError = FormatError(
    "must be a well-formed id of the expected kind: its prefix, an underscore and 26 characters",
);
const SUFFIX_LEN: usize = 26;
/// Maximum length of an id as text. Account ids have the longest prefix.
const TEXT_LEN_MAX: usize = AccountId::PREFIX.len() + SUFFIX_LEN;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the examples of `valid.yml` and `invalid.yml` in the TypeID specification.
    #[test]
    fn the_vectors_of_the_specification_hold() {
        for (suffix, uuid) in [
            ("00000000000000000000000000", "00000000-0000-0000-0000-000000000000"),
            ("00000000000000000000000001", "00000000-0000-0000-0000-000000000001"),
            ("0000000000000000000000000a", "00000000-0000-0000-0000-00000000000a"),
            ("0000000000000000000000000g", "00000000-0000-0000-0000-000000000010"),
            ("00000000000000000000000010", "00000000-0000-0000-0000-000000000020"),
            ("7zzzzzzzzzzzzzzzzzzzzzzzzz", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
            ("0123456789abcdefghjkmnpqrs", "0110c853-1d09-52d8-d73e-1194e95b5f19"),
            ("01h455vb4pex5vsknk084sn02q", "01890a5d-ac96-774b-bcce-b302099a8057"),
        ] {
            let id: ApiKeyId = format!("ak_{suffix}").parse().unwrap();
            assert_eq!(id.0, Uuid::parse_str(uuid).unwrap());
            assert_eq!(id.to_string(), format!("ak_{suffix}"));
            assert_eq!(ApiKeyId::from_bytes(*id.as_bytes()), id);
        }
        for text in [
            "AK_00000000000000000000000000",
            "wh_00000000000000000000000000",
            "_00000000000000000000000000",
            "00000000000000000000000000",
            "ak_",
            "ak_1234567890123456789012345",
            "ak_123456789012345678901234567",
            "ak_1234567890123456789012345 ",
            "ak_0123456789ABCDEFGHJKMNPQRS",
            "ak_123456789-123456789-123456",
            "ak_ooooooooooooooooooooooiiiiii",
            "ak_i23456789ol23456789oi23456",
            "ak_123456789-0123456789-0123456",
            "ak_8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "",
        ] {
            assert_eq!(text.parse::<ApiKeyId>(), Err(FAULT), "{text}");
        }
    }

    #[test]
    fn exactly_the_alphabet_is_accepted() {
        for byte in 0..=u8::MAX {
            let place = ALPHABET.iter().position(|symbol| *symbol == byte);
            assert_eq!(digit(byte).map(usize::from), place, "{byte}");
        }
    }

    #[test]
    fn every_kind_of_id_formats_with_its_prefix() {
        let bits = *EnvelopeId::new(Timestamp::from_millis(1), [7; 10]).as_bytes();
        macro_rules! check {
            ($($kind:ident),+) => {$(
                let id = $kind::from_bytes(bits);
                let text = id.to_string();
                assert!(text.starts_with($kind::PREFIX), "{text}");
                assert_eq!(text.len(), $kind::PREFIX.len() + SUFFIX_LEN);
                assert_eq!(text.parse(), Ok(id));
                let json = serde_json::to_string(&id).unwrap();
                assert_eq!(json, format!("\"{text}\""));
                assert_eq!(serde_json::from_str::<$kind>(&json).unwrap(), id);
            )+};
        }
        check!(
            AccountId,
            ActivityId,
            ApiKeyId,
            ApiTokenId,
            AssessmentId,
            AttestationId,
            BadgeId,
            ChannelId,
            DecisionId,
            EnvelopeId,
            InviteId,
            IssuerKeyId,
            OwnEventId,
            RequestId,
            WebhookId
        );
    }

    #[test]
    fn ids_sort_by_creation_as_text() {
        let earlier = EnvelopeId::new(Timestamp::from_millis(1_700_000_000_000), [0xff; 10]);
        let later = EnvelopeId::new(Timestamp::from_millis(1_700_000_000_001), [0; 10]);
        assert!(earlier < later && earlier.to_string() < later.to_string());
    }
}
