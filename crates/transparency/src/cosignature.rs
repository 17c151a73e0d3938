//! The messages that witnesses sign (tlog-cosignature). A witness is an independent service that confirms the
//! checkpoints of a log.

use crate::{
    checkpoint::Checkpoint,
    key::{SIGNED_NAME_BYTES_MAX, SignatureType, VerifierKey},
};

/// Returns the message that a witness signs: the time in seconds since the Unix epoch, and the checkpoint. `None` if
/// the key is the key of a log. For ML-DSA-44 keys, also `None` if the text is no checkpoint, or if the name of the
/// witness or the log has more than 255 bytes.
pub(crate) fn cosigned_message(witness: &VerifierKey, text: &str, time: u64) -> Option<Vec<u8>> {
    match witness.signature_type() {
        SignatureType::Cosignature => {
            Some(format!("cosignature/v1\ntime {time}\n{text}").into_bytes())
        }
        SignatureType::Ed25519 => None,
        SignatureType::MlDsa44Cosignature => subtree_message(witness, text, time),
    }
}

/// Returns the message of an ML-DSA-44 signature: the name of the witness, the time, and the first three lines of the
/// checkpoint. `None` if the text is no checkpoint, or if the name of the witness or the log has more than 255 bytes.
fn subtree_message(witness: &VerifierKey, text: &str, time: u64) -> Option<Vec<u8>> {
    let Checkpoint { origin, size, root } = Checkpoint::parse(text).ok()?;
    let parts = [
        b"subtree/v1\n\0".as_slice(),
        &[name_length(witness.name())?],
        witness.name().as_bytes(),
        &time.to_be_bytes(),
        &[name_length(&origin)?],
        origin.as_bytes(),
        // The number of the first entry. It is always 0, because a checkpoint covers all entries of the log.
        &0_u64.to_be_bytes(),
        &size.to_be_bytes(),
        &root.0,
    ];
    Some(parts.concat())
}

fn name_length(name: &str) -> Option<u8> {
    const _: () = assert!(SIGNED_NAME_BYTES_MAX == 255, "the length is one byte");
    u8::try_from(name.len()).ok()
}

#[cfg(test)]
mod tests {
    use ml_dsa::{ExpandedSigningKey, MlDsa44};
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::{hash::TreeHash, witness::WitnessKey};

    /// Another program (proofbundle 6.3.1 with OpenSSL) computed the expected id and message.
    #[test]
    fn the_key_and_the_message_are_those_of_another_program() {
        let key = WitnessKey::ml_dsa_44("example.org/witness", &[9; 32]).unwrap();
        let text = key.public().to_string();
        assert!(text.starts_with("example.org/witness+a404e98b+BmGQf7C907vDQzhR"), "{text}");
        assert_eq!(VerifierKey::parse(&text).as_ref(), Ok(key.public()));
        let root = TreeHash([1; 32]);
        let checkpoint = Checkpoint { origin: "example.org/log".to_owned(), size: 5, root };
        let further = format!("{checkpoint}a further line\n");
        for text in [checkpoint.to_string(), further] {
            let message = cosigned_message(key.public(), &text, 1_700_000_000).unwrap();
            assert_eq!(
                hex::encode(&message),
                "737562747265652f76310a00136578616d706c652e6f72672f7769746e657373000000006553f1000f6578616d706c65\
                 2e6f72672f6c6f670000000000000000000000000000000501010101010101010101010101010101010101010101010\
                 10101010101010101"
            );
        }
    }

    /// The first vector of `kat_MLDSA_44_det_pure.rsp`. The tests of the Python package `cryptography` use the same
    /// file.
    #[test]
    fn keys_and_signatures_are_those_of_the_published_vectors() {
        let bytes = |text| hex::decode(text).unwrap();
        let seed = bytes("f696484048ec21f96cf50a56d0759c448f3779752f0383d37449690694cf7a68");
        let (message, context) =
            (bytes("6dbbc4375136df3b07f7c70e639e223e"), bytes("480c658c0cb3e040bde084345cef0df7"));
        let key = ExpandedSigningKey::<MlDsa44>::from_seed(&seed.as_slice().try_into().unwrap());
        let public = key.verifying_key();
        let signature = key.sign_deterministic(&message, &context).unwrap();
        assert!(public.verify_with_context(&message, &context, &signature));
        for (value, hash) in [
            (
                public.encode().to_vec(),
                "18288249b90bcbd48d473d2a507cc3c1e95e040f639ac3333a8ed1891de14552",
            ),
            (
                signature.encode().to_vec(),
                "e8a1941380e7cadb3c8dfb31dd3f3986568d26e4bf2d975610e81df300267c37",
            ),
        ] {
            assert_eq!(hex::encode(Sha256::digest(value)), hash);
        }
    }
}
