//! Bearer secrets: `ls_…` login secrets, `rc_…` recovery codes, `st_…` session tokens, `kt_…` API tokens, `inv_…`
//! invites and `fm_…` ids of forms. The prefix is followed by 256 random bits in 43 characters of base62, and by a
//! CRC-32 of the text in 6 characters. GitHub's tokens have the same form. The checksum rejects typing errors without a
//! database lookup, and helps secret scanners to recognise a secret. The database stores only SHA-256 hashes of the
//! secrets.

use std::fmt;

use sealpost_domain::TokenHash;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{WalletError, entropy};

macro_rules! bearer_secrets {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal,)*) => {$(
        $(#[$doc])*
        pub struct $name(Zeroizing<String>);

        impl $name {
            /// Prefix of the text form.
            pub const PREFIX: &'static str = $prefix;

            /// Generates a secret of 256 random bits.
            pub fn generate() -> Result<Self, WalletError> {
                generate(Self::PREFIX).map(Self)
            }

            /// Returns the secret as text, to be shown to its owner once.
            pub fn expose(&self) -> &str {
                &self.0
            }

            /// Returns the SHA-256 hash of the secret. The database stores this hash instead of the secret.
            pub fn hash(&self) -> TokenHash {
                hash(&self.0)
            }

            /// Returns the hash of a text that a client sent, to look up the secret. `None` if the prefix, the
            /// alphabet, the length or the checksum is wrong, so that no lookup is needed.
            pub fn hash_of(text: &str) -> Option<TokenHash> {
                is_well_formed(Self::PREFIX, text).then(|| hash(text))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    )*};
}

bearer_secrets! {
    /// The id of one form on a page of the dashboard. A form that a browser sends twice is recognised by this id.
    FormId = "fm_",
    /// An invite: the secret with which a user may create an account if sign-up requires an invite.
    InviteSecret = "inv_",
    /// An API token, which authenticates requests of one API key until it expires.
    KeyToken = "kt_",
    /// The login secret of an account, which a client exchanges for a session token.
    LoginSecret = "ls_",
    /// The recovery code of an account, which replaces a lost login secret.
    RecoveryCode = "rc_",
    /// The bearer token of a session, which authenticates requests of an account until it expires.
    SessionToken = "st_",
}

impl SessionToken {
    /// Derives the CSRF token for the HTML forms of a session. The CSRF token does not reveal the session token.
    /// Returns `None` if `text` is not a session token.
    pub fn form_token(text: &str) -> Option<String> {
        is_well_formed(Self::PREFIX, text).then(|| {
            let labelled = Sha256::new().chain_update(FORM_LABEL).chain_update(text).finalize();
            labelled.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
        })
    }
}

/// Returns true if two hashes are equal. Compares the hashes in constant time.
pub fn same_hash(a: &TokenHash, b: &TokenHash) -> bool {
    a.0.ct_eq(&b.0).into()
}

const FORM_LABEL: &[u8] = b"sealpost/v1/form\0";

fn generate(prefix: &str) -> Result<Zeroizing<String>, WalletError> {
    let mut number = Zeroizing::new([0; 32]);
    entropy::fill(number.as_mut_slice())?;
    // Allocates the final size at once. A string that grows is copied and leaves a part of the secret in freed memory.
    let mut text = Zeroizing::new(String::with_capacity(prefix.len() + BODY_LEN + CHECKSUM_LEN));
    text.push_str(prefix);
    text.extend(base62::<BODY_LEN>(number.as_mut_slice()).iter().copied().map(char::from));
    let checksum = checksum(&text);
    text.extend(checksum.iter().copied().map(char::from));
    Ok(text)
}

fn is_well_formed(prefix: &str, text: &str) -> bool {
    let Some((signed, claimed)) = text.split_at_checked(prefix.len() + BODY_LEN) else {
        return false;
    };
    let Some(body) = signed.strip_prefix(prefix) else {
        return false;
    };
    let is_in_alphabet = body.bytes().all(|symbol| ALPHABET.contains(&symbol));
    is_in_alphabet && claimed.as_bytes() == checksum(signed).as_slice()
}

fn checksum(text: &str) -> Zeroizing<[u8; CHECKSUM_LEN]> {
    base62(&mut crc32fast::hash(text.as_bytes()).to_be_bytes())
}

/// Converts a big-endian number to `N` base62 digits with leading zeros. Divides `number` in place until it is zero, so
/// that no copy of a secret remains.
fn base62<const N: usize>(number: &mut [u8]) -> Zeroizing<[u8; N]> {
    let mut digits = Zeroizing::new([b'0'; N]);
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u16;
        for byte in number.iter_mut() {
            let dividend = remainder << 8 | u16::from(*byte);
            [_, *byte] = (dividend / 62).to_be_bytes();
            remainder = dividend % 62;
        }
        *digit = ALPHABET.get(usize::from(remainder)).copied().unwrap_or(b'0');
    }
    digits
}

fn hash(text: &str) -> TokenHash {
    TokenHash(Sha256::digest(text).into())
}

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Number of base62 digits for 256 random bits: 62^43 is just over 2^256.
const BODY_LEN: usize = 43;
/// Number of base62 digits for a CRC-32: 62^6 is over 2^32.
const CHECKSUM_LEN: usize = 6;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_form_token_belongs_to_one_session_and_reveals_nothing() {
        let (one, other) = (SessionToken::generate().unwrap(), SessionToken::generate().unwrap());
        let of = |token: &SessionToken| SessionToken::form_token(token.expose()).unwrap();
        assert_eq!(of(&one), of(&one));
        assert_ne!(of(&one), of(&other));
        assert_ne!(of(&one), hex::encode(one.hash().0));
        assert_eq!(SessionToken::form_token("st_no token"), None);
    }

    #[test]
    fn base62_is_wide_enough() {
        assert_eq!(
            *base62::<BODY_LEN>(&mut [0xff; 32]),
            *b"yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1"
        );
        assert_eq!(*base62::<CHECKSUM_LEN>(&mut [0xff; 4]), *b"4gfFC3");
        assert_eq!(*base62::<CHECKSUM_LEN>(&mut [0, 0, 0, 61]), *b"00000z");
        assert_eq!(*base62::<CHECKSUM_LEN>(&mut [0, 0, 0, 62]), *b"000010");
    }

    #[test]
    fn a_fresh_token_is_well_formed_and_unique() {
        let token = SessionToken::generate().unwrap();
        assert_eq!(token.expose().len(), 52);
        assert_eq!(token.0.capacity(), 52);
        assert_eq!(SessionToken::hash_of(token.expose()), Some(token.hash()));
        assert!(same_hash(&token.hash(), &token.hash()));
        assert!(!same_hash(&token.hash(), &SessionToken::generate().unwrap().hash()));
        assert_eq!(LoginSecret::hash_of(token.expose()), None);
    }

    #[test]
    fn the_stored_hash_of_a_token_never_changes() {
        let known = "st_00000000000000000000000000000000000000000000N9B0H";
        assert_eq!(
            SessionToken::hash_of(known).map(|hash| hex::encode(hash.0)).as_deref(),
            Some("4558fdf586ce93b92940a84664a6e5c0160a2a5f278dd2d01fd144f12fa52be3")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_changed_character_is_rejected(place in 0..52_usize, other in any::<char>()) {
            let token = LoginSecret::generate().unwrap();
            let mut symbols: Vec<char> = token.expose().chars().collect();
            prop_assume!(symbols[place] != other);
            symbols[place] = other;
            let changed: String = symbols.into_iter().collect();
            prop_assert_eq!(LoginSecret::hash_of(&changed), None);
        }

        #[test]
        fn two_swapped_characters_are_rejected(place in 3..51_usize) {
            let token = LoginSecret::generate().unwrap();
            let mut swapped = token.expose().as_bytes().to_vec();
            swapped.swap(place, place + 1);
            prop_assume!(swapped != token.expose().as_bytes());
            prop_assert_eq!(LoginSecret::hash_of(std::str::from_utf8(&swapped).unwrap()), None);
        }

        #[test]
        fn any_other_text_is_rejected(text in "(ls_)?\\PC{0,60}") {
            prop_assert_eq!(LoginSecret::hash_of(&text), None);
        }

        #[test]
        fn a_shorter_or_longer_token_is_rejected(length in 0..52_usize) {
            let token = LoginSecret::generate().unwrap();
            prop_assert_eq!(LoginSecret::hash_of(token.expose().get(..length).unwrap()), None);
            prop_assert_eq!(LoginSecret::hash_of(&format!("{}0", token.expose())), None);
        }
    }
}
