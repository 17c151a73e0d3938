//! How long the wallet's work takes on one core: `cargo bench -p sealpost-wallet`. The last column is the ratio to the
//! same work in the hybrid suite, which holds better than a figure.
#![expect(clippy::print_stdout, reason = "prints its figures")]

use std::{
    error::Error,
    hint::black_box,
    time::{Duration, Instant},
};

use sealpost_domain::{ApiKeyId, Channel, ChannelId, EnvelopeId, Suite, Timestamp};
use sealpost_wallet::{
    ChannelDraft, ChannelReceiver, ChannelSender, Draft, Identity, Keyring, Root, SessionToken,
    WalletError, open, random, seal,
};

fn main() -> Result<(), Box<dyn Error>> {
    let pair = Pair::new()?;
    for size in [256, 512, 4096, 262_144] {
        measure_suites(&pair, &vec![b'x'; size])?;
    }
    measure_channel(&pair)?;
    measure_keys(&pair)
}

/// A sender and a recipient.
struct Pair {
    sender: Identity,
    recipient: Identity,
    draft: Draft,
}

impl Pair {
    fn new() -> Result<Self, WalletError> {
        let now = Timestamp::from_millis(1_767_225_600_000);
        let draft = Draft {
            id: EnvelopeId::new(now, random()?),
            sender: ApiKeyId::new(now, random()?),
            recipient: ApiKeyId::new(now, random()?),
            timestamp: now,
        };
        let (sender, recipient) =
            (Identity::new(Root::generate()?)?, Identity::new(Root::generate()?)?);
        Ok(Self { sender, recipient, draft })
    }

    fn begin(&self) -> Result<(ChannelSender, Channel), WalletError> {
        let key = self.recipient.sealing_public_key(Suite::Channel, 1)?;
        self.begin_to(&key)
    }

    fn begin_to(
        &self,
        key: &sealpost_wallet::SealingPublicKey,
    ) -> Result<(ChannelSender, Channel), WalletError> {
        let Draft { sender, recipient, timestamp, .. } = self.draft;
        let draft = ChannelDraft { id: ChannelId::new(timestamp, random()?), sender, recipient };
        ChannelSender::begin(&draft, u32::MAX, &self.sender, key)
    }
}

/// Sealing and opening a message in every suite; in a channel, once it runs.
fn measure_suites(pair: &Pair, message: &[u8]) -> Result<(), Box<dyn Error>> {
    let Pair { sender, recipient, draft } = pair;
    let size = message.len();
    let (mut sealing, mut opening) = (Vec::new(), Vec::new());
    for suite in [Suite::Hybrid, Suite::Classic] {
        let key = recipient.sealing_public_key(suite, 1)?;
        let envelope = seal(draft, message, sender, &key)?;
        sealing.push((suite, time(|| seal(draft, message, sender, &key))));
        opening.push((suite, time(|| open(&envelope, recipient, &sender.did()))));
    }
    let (channel, stored) = pair.begin()?;
    let receiver = ChannelReceiver::accept(&stored, recipient, &sender.did())?;
    let envelope = channel.seal(draft, message, sender)?;
    sealing.push((Suite::Channel, time(|| channel.seal(draft, message, sender))));
    opening.push((Suite::Channel, time(|| receiver.open(&envelope))));
    for (work, times) in [("seal", sealing), ("open", opening)] {
        let hybrid = times.first().map_or(Duration::ZERO, |(_, took)| *took);
        for (suite, took) in times {
            let ratio = took.as_secs_f64() / hybrid.as_secs_f64();
            println!(
                "{:<44} {took:>12.2?} {ratio:>8.2}",
                format!("{work} {size} bytes, {suite:?}")
            );
        }
    }
    Ok(())
}

/// What is done once for many envelopes.
fn measure_channel(pair: &Pair) -> Result<(), Box<dyn Error>> {
    let Pair { sender, recipient, .. } = pair;
    let key = recipient.sealing_public_key(Suite::Channel, 1)?;
    let (_, stored) = pair.begin()?;
    show("begin a channel", time(|| pair.begin_to(&key)));
    show("accept a channel", time(|| ChannelReceiver::accept(&stored, recipient, &sender.did())));
    Ok(())
}

fn measure_keys(pair: &Pair) -> Result<(), Box<dyn Error>> {
    let keyring = Keyring::parse(&Keyring::fresh_line(1)?)?;
    let id = pair.draft.sender;
    let wrapped = Root::generate()?.wrap(&keyring, &id)?;
    for suite in [Suite::Hybrid, Suite::Classic] {
        let took = time(|| pair.recipient.sealing_public_key(suite, 1));
        show(&format!("derive a sealing public key, {suite:?}"), took);
    }
    show(
        "unwrap a root and derive its identity",
        time(|| Root::unwrap(&keyring, &id, &wrapped).and_then(Identity::new)),
    );
    let token = SessionToken::generate()?;
    show("check and hash a session token", time(|| SessionToken::hash_of(token.expose())));
    Ok(())
}

fn show(name: &str, took: Duration) {
    println!("{name:<44} {took:>12.2?}");
}

/// The best of several runs: what else the machine does can only make it slower.
fn time<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut run = || {
        let start = Instant::now();
        for _ in 0..ITERATIONS {
            black_box(work());
        }
        start.elapsed() / ITERATIONS
    };
    (0..RUNS).map(|_| run()).min().unwrap_or(Duration::ZERO)
}

/// Short and many, so that some are left alone by whatever else runs.
const ITERATIONS: u32 = 10;
const RUNS: u32 = 300;
