//! Tests the sealing functions with published test vectors: RFC 9180 with its official `test-vectors.json` (commit
//! 5f503c5), the X-Wing draft, and the HPKE post-quantum draft.

use hpke::{
    Deserializable, Kem, OpModeR, OpModeS, Serializable, aead::Aead, setup_sender_with_rng,
    single_shot_open,
};
use sealpost_domain::Suite;
use serde_json::Value;

use super::suite::{Classic, Context, Hybrid, Kdf, SealingKey};
use crate::entropy::Entropy;

fn unhex(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

/// Returns randomness that starts with the bytes of a test vector.
fn entropy(text: &str) -> Entropy {
    let mut bytes = unhex(text);
    bytes.resize(64, 0);
    Entropy::new(bytes.try_into().unwrap())
}

/// Tests the first encryption of the vector in `test-vectors.json` with mode 0, KEM 0x0020, KDF 0x0001 and AEAD 0x0002.
/// The member `ikmE` of the vector is the randomness of the encapsulation.
#[test]
fn sealing_and_opening_match_rfc_9180() {
    let sk = unhex("497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d");
    let key = SealingKey::from_seed(Suite::Classic, &sk.try_into().unwrap()).unwrap();
    let public = key.public_key(1);
    let pk = "430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c";
    assert_eq!(hex::encode(public.to_bytes()), pk);

    let info = unhex("4f6465206f6e2061204772656369616e2055726e");
    let context = Context { info: &info, aad: &unhex("436f756e742d30") };
    let message = unhex("4265617574792069732074727574682c20747275746820626561757479");
    let mut ikm = entropy("2cd7c601cefb3d42a62b04b7a9041494c06c7843818e0ce28a8f704ae7ab20f9");
    let expected = concat!(
        "6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256",
        "e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be9931980a41de125a925cdad859d5b7a",
    );
    let sealed = public.seal(b"", &context, &message, &mut ikm).unwrap();
    assert_eq!(hex::encode(&sealed), expected);
    assert_eq!(*key.open(&context, &sealed).unwrap(), message);
}

/// Tests the first encryption in RFC 9180, appendix A.1.1. The KEM and the KDF are those of the classic suite, but the
/// AEAD is AES-128-GCM.
#[test]
fn kem_and_key_schedule_match_appendix_a_1_1() {
    let key = unhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8");
    let enc = unhex("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431");
    let message = single_shot_open::<hpke::aead::AesGcm128, Kdf, Classic>(
        &OpModeR::Base,
        &Deserializable::from_bytes(&key).unwrap(),
        &Deserializable::from_bytes(&enc).unwrap(),
        &unhex("4f6465206f6e2061204772656369616e2055726e"),
        &unhex(
            "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
        ),
        &unhex("436f756e742d30"),
    );
    assert_eq!(message.unwrap(), b"Beauty is truth, truth beauty");
}

/// Tests the vectors of draft-connolly-cfrg-xwing-kem: the key pair of a seed, and an encapsulation with given
/// randomness.
#[test]
fn x_wing_matches_its_draft() {
    let vectors: Vec<Value> =
        serde_json::from_str(include_str!("../../vectors/xwing.json")).unwrap();
    assert_eq!(vectors.len(), 3);
    for vector in vectors {
        let field = |name: &str| vector[name].as_str().unwrap();
        let seed = unhex(field("seed")).try_into().unwrap();
        let SealingKey::Hybrid(key) = SealingKey::from_seed(Suite::Hybrid, &seed).unwrap() else {
            panic!("another suite");
        };
        let public = Hybrid::sk_to_pk(&key);
        assert_eq!(hex::encode(public.to_bytes()), field("pk"));
        let mut eseed = entropy(field("eseed"));
        let (secret, enc) = Hybrid::encap_with_rng(&public, None, &mut eseed).unwrap();
        assert_eq!(hex::encode(enc.to_bytes()), field("ct"));
        assert_eq!(hex::encode(secret.0), field("ss"));
        assert_eq!(Hybrid::decap(&key, None, &enc).unwrap().0, secret.0);
        assert!(!eseed.is_exhausted());
    }
}

/// Tests the key schedule of the hybrid suite with a vector of draft-ietf-hpke-pq. The vector has the same KEM and KDF,
/// but AEAD 0x0003. Exported secrets depend on the id of the AEAD, but not on its cipher, so a type with this id
/// suffices.
#[test]
fn the_hybrid_key_schedule_matches_the_hpke_draft() {
    let sk = unhex("3ec47fa82dd5689d27c6190e724c74ec8f608df3331ce331929e37b829676630");
    let sk = <Hybrid as Kem>::PrivateKey::from_bytes(&sk).unwrap();
    let mut ikm = entropy(concat!(
        "2a1c0a3745fe8a48fb62034d300f54dfe1974a5b2e169e580a8789cb1cf5fd19",
        "0fc00f3fd899594e01a8b15334b9f3fa03d8de44da86e19f5776850fb689e6c8",
    ));
    let info =
        unhex("34663634363532303666366532303631323034373732363536333639363136653230353537323665");
    let (_, context) = setup_sender_with_rng::<Numbered3, Kdf, Hybrid>(
        &OpModeS::Base,
        &Hybrid::sk_to_pk(&sk),
        &info,
        &mut ikm,
    )
    .unwrap();
    for (exporter_context, expected) in [
        (b"pseudorandom0", "5a78d37f40e078c17ef43fa40963f1ff7dcdee56e366da9099dc181c3eccaee5"),
        (b"pseudorandom1", "19b8f5e1d7c02e44ad99d8332124b5c71fa9e81c5327ca485054f859e442bde5"),
    ] {
        let mut exported = [0; 32];
        context.export(exporter_context, &mut exported).unwrap();
        assert_eq!(hex::encode(exported), expected);
    }
}

/// An AEAD type with the id of ChaCha20-Poly1305, for the key schedule only. This type never encrypts.
struct Numbered3;

impl Aead for Numbered3 {
    type AeadImpl = aes_gcm::Aes256Gcm;
    const AEAD_ID: u16 = 3;
}
