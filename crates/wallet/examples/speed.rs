//! How long the wallet's work takes on one core: `cargo run --release -p sealpost-wallet --example speed`.
#![expect(clippy::print_stdout, reason = "prints its figures")]

use std::{
    error::Error,
    hint::black_box,
    time::{Duration, Instant},
};

use sealpost_domain::{ApiKeyId, EnvelopeId, Suite, Timestamp};
use sealpost_wallet::{Draft, Identity, Keyring, Root, SessionToken, open, random, seal};

fn main() -> Result<(), Box<dyn Error>> {
    let keyring = Keyring::parse(&Keyring::fresh_line(1)?)?;
    let now = Timestamp::from_millis(1_767_225_600_000);
    let (alice, bob) = (ApiKeyId::new(now, random()?), ApiKeyId::new(now, random()?));
    let wrapped = Root::generate()?.wrap(&keyring, &alice)?;
    let sender = Identity::new(Root::unwrap(&keyring, &alice, &wrapped)?)?;
    let recipient = Identity::new(Root::generate()?)?;
    let id = EnvelopeId::new(now, random()?);
    let draft = Draft { id, sender: alice, recipient: bob, timestamp: now };

    for suite in [Suite::Classic, Suite::Hybrid] {
        let key = recipient.sealing_public_key(suite, 1)?;
        for size in [512, 4096, 262_144] {
            let message = vec![b'x'; size];
            let envelope = seal(&draft, &message, &sender, &key)?;
            let name = format!("{suite:?}, {size} bytes");
            measure(&format!("seal {name}"), || seal(&draft, &message, &sender, &key));
            measure(&format!("open {name}"), || open(&envelope, &recipient, &sender.did()));
        }
        measure(&format!("sealing public key {suite:?}"), || {
            recipient.sealing_public_key(suite, 1)
        });
    }
    measure("unwrap a root and derive its identity", || {
        Root::unwrap(&keyring, &alice, &wrapped).and_then(Identity::new)
    });
    let token = SessionToken::generate()?;
    measure("check and hash a session token", || SessionToken::hash_of(token.expose()));
    Ok(())
}

/// The best of several runs: what else the machine does can only make it slower.
fn measure<T>(name: &str, mut work: impl FnMut() -> T) {
    let mut run = || {
        let start = Instant::now();
        for _ in 0..ITERATIONS {
            black_box(work());
        }
        start.elapsed() / ITERATIONS
    };
    let best = (0..RUNS).map(|_| run()).min().unwrap_or(Duration::ZERO);
    println!("{name:<40} {best:>12.2?}");
}

const ITERATIONS: u32 = 200;
const RUNS: u32 = 10;
