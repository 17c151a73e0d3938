//! Argon2id hashes of the passwords of operators, as PHC strings.

use std::fmt;

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{
        PasswordHasher as _, PasswordVerifier as _,
        phc::{self, PasswordHash as PhcHash},
    },
};
use zeroize::Zeroizing;

use crate::{WalletError, entropy};

/// The Argon2id hash of a password. With the hash, an attacker can check guesses of the password. Therefore `Debug`
/// omits the hash.
#[derive(Clone)]
pub struct PasswordHash {
    text: Zeroizing<String>,
    parsed: PhcHash,
}

/// The reason why a text is not a usable password hash. The error texts contain no part of the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordHashError {
    /// The hash is not a PHC string of Argon2id with a salt and an output.
    #[error("the hash is not argon2id in PHC form: make it with `sealpost console hash`")]
    NotArgon2id,
    /// One verification would take too much memory or time.
    #[error(
        "the hash costs too much: use at most m={MEMORY_KIB_MAX}, t={PASSES_MAX} and p={LANES_MAX}"
    )]
    TooCostly,
    /// The hash uses too little memory, so guesses of the password would be too cheap.
    #[error("the hash costs too little: use at least m={MEMORY_KIB_MIN}")]
    TooCheap,
}

impl PasswordHash {
    /// Hashes a password with a random salt and the default costs of Argon2id. Takes tens of milliseconds.
    pub fn new(password: &str) -> Result<Self, WalletError> {
        let salt: [u8; SALT_LEN] = entropy::random()?;
        let hashed = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
        let parsed = hashed.ok().ok_or(WalletError::NotDerivable)?;
        Ok(Self { text: Zeroizing::new(parsed.to_string()), parsed })
    }

    /// Parses a PHC string. Rejects a hash that needs too much memory or time, because each sign-in computes the hash
    /// again. Also rejects a hash that needs too little memory.
    pub fn parse(text: &str) -> Result<Self, PasswordHashError> {
        let wrong = PasswordHashError::NotArgon2id;
        let parsed = PhcHash::new(text).ok().ok_or(wrong)?;
        let is_argon2id = Algorithm::try_from(parsed.algorithm.as_str()) == Ok(Algorithm::Argon2id);
        let is_current = parsed.version == Some(Version::V0x13.into());
        let params = Params::try_from(&parsed).ok().ok_or(wrong)?;
        let output = parsed.hash.as_ref().map_or(0, phc::Output::len);
        if !is_argon2id || !is_current || parsed.salt.is_none() || output < OUTPUT_LEN_MIN {
            return Err(wrong);
        }
        if params.m_cost() > MEMORY_KIB_MAX
            || params.t_cost() > PASSES_MAX
            || params.p_cost() > LANES_MAX
        {
            return Err(PasswordHashError::TooCostly);
        }
        if params.m_cost() < MEMORY_KIB_MIN {
            return Err(PasswordHashError::TooCheap);
        }
        Ok(Self { text: Zeroizing::new(text.to_owned()), parsed })
    }

    /// Returns true if this is the hash of the password. Takes tens of milliseconds.
    pub fn matches(&self, password: &str) -> bool {
        Argon2::default().verify_password(password.as_bytes(), &self.parsed).is_ok()
    }

    /// Returns the PHC string.
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

const SALT_LEN: usize = 16;
const OUTPUT_LEN_MIN: usize = 16;
/// The least memory in KiB that OWASP recommends for Argon2id.
const MEMORY_KIB_MIN: u32 = 7168;
const MEMORY_KIB_MAX: u32 = 262_144;
const PASSES_MAX: u32 = 10;
const LANES_MAX: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_of_a_hash_matches() {
        let hash = PasswordHash::new("correct horse").unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.expose());
        let parsed = PasswordHash::parse(hash.expose()).unwrap();
        assert!(parsed.matches("correct horse"));
        for wrong in ["", "correct hors", "correct horse ", "Correct horse"] {
            assert!(!parsed.matches(wrong), "{wrong:?}");
        }
        assert_ne!(PasswordHash::new("correct horse").unwrap().expose(), hash.expose());
        assert_eq!(format!("{hash:?}"), "PasswordHash(..)");
    }

    #[test]
    fn hashes_with_other_algorithms_or_costs_are_refused() {
        use PasswordHashError as F;
        let hash = PasswordHash::new("x").unwrap();
        let text = hash.expose();
        let changed = |from: &str, to: &str| PasswordHash::parse(&text.replace(from, to)).map(drop);
        for (from, to, fault) in [
            ("argon2id", "argon2i", F::NotArgon2id),
            ("v=19", "v=16", F::NotArgon2id),
            ("$v=19", "", F::NotArgon2id),
            ("m=19456", "m=1000000", F::TooCostly),
            ("t=2", "t=11", F::TooCostly),
            ("p=1", "p=5", F::TooCostly),
            ("m=19456", "m=1024", F::TooCheap),
        ] {
            assert_eq!(changed(from, to), Err(fault), "{from} {to}");
        }
        for text in ["", "$2b$12$abc", "plain", "$argon2id$v=19$m=19456,t=2,p=1"] {
            assert_eq!(PasswordHash::parse(text).map(drop), Err(F::NotArgon2id), "{text}");
        }
    }
}
