//! Uses the wallet alone: activates two identities, seals a message from one to the other, and
//! opens it.
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use sealpost_domain::{
    AccountId, ApiKeyId, EnvelopeId, MessageContext, OwnedKey, Suite, Timestamp,
};
use sealpost_wallet::{EnvelopeDraft, Identity, Keyring, Root, open, random, seal};

fn main() -> Result<(), Box<dyn Error>> {
    let keyring = Keyring::parse(&Keyring::fresh_line(1)?)?;
    let now = Timestamp::from_millis(1_767_225_600_000);

    // A service stores the wrapped roots, and unwraps them when it needs a key.
    let (alice, bob) = (ApiKeyId::new(now, random()?), ApiKeyId::new(now, random()?));
    let account_id = AccountId::new(now, random()?);
    let owned = |id| OwnedKey { id, account_id };
    let alice_root = Root::generate()?.wrap(&keyring, &owned(alice))?;
    let bob_root = Root::generate()?.wrap(&keyring, &owned(bob))?;
    let sender = Identity::new(Root::unwrap(&keyring, &owned(alice), &alice_root)?)?;
    let recipient = Identity::new(Root::unwrap(&keyring, &owned(bob), &bob_root)?)?;
    println!("{alice} is {}", sender.did().as_str());
    println!("{bob} is {}", recipient.did().as_str());

    let draft = EnvelopeDraft {
        id: EnvelopeId::new(now, random()?),
        sender: alice,
        recipient: bob,
        timestamp: now,
        context: MessageContext::default(),
    };
    let to = recipient.sealing_public_key(Suite::Hybrid, 1)?;
    let envelope = seal(&draft, b"Meet me at the usual place.", &sender, &to)?;
    println!("sealed as {}, {}", envelope.meta.suite.algorithm(), envelope.meta.hash);

    let message = open(&envelope, &recipient, &sender.did())?;
    println!("opened: {}", std::str::from_utf8(&message)?);
    println!("opened by the sender: {:?}", open(&envelope, &sender, &sender.did()).err());
    Ok(())
}
