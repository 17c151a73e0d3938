//! Derives keys with HKDF-SHA256 (RFC 5869) from a secret of 256 random bits. The secret is the root of an identity, an
//! issuer key, a key-encryption key, or the id of a form of the dashboard. Each derived key has its own label, which is
//! the `info` input of HKDF. The labels must never change: with other labels, stored envelopes would be unreadable and
//! DIDs would be wrong.

use hkdf::Hkdf;
use sealpost_domain::Suite;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::WalletError;

/// 32 secret bytes, zeroized on drop.
pub(crate) type Seed = Zeroizing<[u8; 32]>;

/// Derives the seed of the Ed25519 key that signs as the identity (RFC 8032, section 5.1.5).
pub(crate) fn signing_seed(root: &[u8; 32]) -> Result<Seed, WalletError> {
    derive(root, &[b"sealpost/v1/signing"])
}

/// Derives the HMAC key for fingerprints. A fingerprint is an HMAC over a request, by which a repetition of the request
/// is recognised.
pub(crate) fn fingerprint_seed(root: &[u8; 32]) -> Result<Seed, WalletError> {
    derive(root, &[b"sealpost/v1/fingerprint"])
}

/// Derives the HMAC key for the sessions of operators from a key-encryption key.
pub(crate) fn operator_session_seed(kek: &[u8; 32]) -> Result<Seed, WalletError> {
    derive(kek, &[b"sealpost/v1/operator-session"])
}

/// Derives from an issuer key the Ed25519 key that signs checkpoints of the transparency log.
pub(crate) fn log_seed(issuer: &[u8; 32]) -> Result<Seed, WalletError> {
    derive(issuer, &[b"sealpost/v1/log"])
}

/// Derives from a key-encryption key the HMAC key that authenticates rows of the database.
pub(crate) fn row_tag_seed(kek: &[u8; 32]) -> Result<Seed, WalletError> {
    derive(kek, &[b"sealpost/v1/row-tag"])
}

/// Derives the key that encrypts the result of a dashboard form, from the secret id of the form.
pub(crate) fn form_result_seed(form_id: &str) -> Result<Seed, WalletError> {
    derive(form_id.as_bytes(), &[b"sealpost/v1/form-result"])
}

/// Derives the private key that opens envelopes of this cipher suite and key version.
pub(crate) fn sealing_seed(
    root: &[u8; 32],
    suite: Suite,
    version: u32,
) -> Result<Seed, WalletError> {
    let label: &[u8] = match suite {
        Suite::Classic => b"sealpost/v1/sealing/x25519",
        // Both suites use the same private key. This is safe, because `info` and the AEAD id differ between the suites,
        // so HPKE's key schedule derives different secrets.
        Suite::Channel | Suite::Hybrid => b"sealpost/v1/sealing/x-wing",
    };
    derive(root, &[label, &version.to_be_bytes()])
}

/// Derives a key with HKDF-SHA256, without a salt. A uniformly random secret needs no salt (RFC 5869, section 3.1),
/// which would also have to be stored.
fn derive(secret: &[u8], info: &[&[u8]]) -> Result<Seed, WalletError> {
    let mut seed = Seed::default();
    Hkdf::<Sha256>::new(None, secret)
        .expand_multi_info(info, seed.as_mut_slice())
        .ok()
        .ok_or(WalletError::NotDerivable)?;
    Ok(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the test case of RFC 5869, appendix A.3, which has no salt. Its output is longer than 32 bytes, but the
    /// first 32 bytes do not depend on the output length.
    #[test]
    fn the_rfc_5869_vector_holds() {
        let seed = derive(&[0x0b; 22], &[]).unwrap();
        let expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d";
        assert_eq!(hex::encode(seed.as_slice()), expected);
    }

    /// Tests the derived seeds of a fixed root. An independent program computed the expected values. The seeds must
    /// never change.
    #[test]
    fn derived_seeds_never_change() {
        let root = [7; 32];
        let seeds = [
            signing_seed(&root),
            sealing_seed(&root, Suite::Classic, 1),
            sealing_seed(&root, Suite::Hybrid, 1),
            sealing_seed(&root, Suite::Hybrid, 2),
            log_seed(&root),
        ];
        let seeds = seeds.map(|seed| hex::encode(seed.unwrap().as_slice()));
        assert_eq!(seeds, PINNED);
    }

    const PINNED: [&str; 5] = [
        "41b07bc871fb96d2eeb85ca2935408a7abe32987ff675e6d0d2fadcaa849d448",
        "e3727fc65feb14e8182e550df2573a226fcc6e67c3747c822363822a00415d63",
        "2ddf1422bd00293e8fe6926bcd1f885bfd0fd804ba1ef0e328ee8931507c9411",
        "ab0185ffd58eaf71d04171ba8b9768b97eadaa98683e5c8dcfbf5a3b270cdfc4",
        "8fc2d202a56518a02baa04cd038a54275d623dfd159be52be882cb727477dd88",
    ];
}
