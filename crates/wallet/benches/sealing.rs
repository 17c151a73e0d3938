//! Measures the wallet crate on one core: `cargo bench -p sealpost-wallet`. Compare the results of cipher suites only
//! within one run.

use std::{error::Error, hint::black_box};

use criterion::Criterion;
use sealpost_domain::{
    AccountId, ApiKeyId, Channel, ChannelId, EnvelopeId, MessageContext, OwnedKey, Suite, Timestamp,
};
use sealpost_wallet::{
    ChannelDraft, ChannelReceiver, ChannelSender, EnvelopeDraft, Identity, Keyring, Root,
    SealingPublicKey, SessionToken, WalletError, open, random, seal,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let pair = Pair::new()?;
    for size in [256, 4096, 262_144] {
        messages(&mut criterion, &pair, &vec![b'x'; size])?;
    }
    channels(&mut criterion, &pair)?;
    keys(&mut criterion, &pair)?;
    criterion.final_summary();
    Ok(())
}

/// A sender, a recipient, and the metadata (draft) of an envelope from the sender to the recipient.
struct Pair {
    sender: Identity,
    recipient: Identity,
    draft: EnvelopeDraft,
}

impl Pair {
    fn new() -> Result<Self, WalletError> {
        let now = Timestamp::from_millis(1_767_225_600_000);
        let draft = EnvelopeDraft {
            id: EnvelopeId::new(now, random()?),
            sender: ApiKeyId::new(now, random()?),
            recipient: ApiKeyId::new(now, random()?),
            timestamp: now,
            context: MessageContext::default(),
        };
        let (sender, recipient) =
            (Identity::new(Root::generate()?)?, Identity::new(Root::generate()?)?);
        Ok(Self { sender, recipient, draft })
    }

    fn begin(&self) -> Result<(ChannelSender, Channel), WalletError> {
        let key = self.recipient.sealing_public_key(Suite::Channel, 1)?;
        self.begin_to(&key)
    }

    fn begin_to(&self, key: &SealingPublicKey) -> Result<(ChannelSender, Channel), WalletError> {
        let EnvelopeDraft { sender, recipient, timestamp, .. } = self.draft;
        let draft = ChannelDraft { id: ChannelId::new(timestamp, random()?), sender, recipient };
        ChannelSender::begin(&draft, u32::MAX, &self.sender, key)
    }
}

/// Measures sealing and opening of a message in every cipher suite. A channel is set up before the measurement.
fn messages(criterion: &mut Criterion, pair: &Pair, message: &[u8]) -> Result<(), WalletError> {
    let Pair { sender, recipient, draft } = pair;
    let size = message.len();
    let name = |work: &str, suite: Suite| format!("{work} {size} bytes, {suite:?}");
    for suite in [Suite::Hybrid, Suite::Classic] {
        let key = recipient.sealing_public_key(suite, 1)?;
        let envelope = seal(draft, message, sender, &key)?;
        criterion.bench_function(&name("seal", suite), |bencher| {
            bencher.iter(|| seal(draft, black_box(message), sender, &key));
        });
        criterion.bench_function(&name("open", suite), |bencher| {
            bencher.iter(|| open(black_box(&envelope), recipient, &sender.did()));
        });
    }
    let (channel, stored) = pair.begin()?;
    let receiver = ChannelReceiver::accept(&stored, recipient, &sender.did())?;
    let envelope = channel.seal(draft, message, sender)?;
    criterion.bench_function(&name("seal", Suite::Channel), |bencher| {
        bencher.iter(|| channel.seal(draft, black_box(message), sender));
    });
    criterion.bench_function(&name("open", Suite::Channel), |bencher| {
        bencher.iter(|| receiver.open(black_box(&envelope)));
    });
    Ok(())
}

/// Measures the setup of a channel by its sender and by its recipient.
fn channels(criterion: &mut Criterion, pair: &Pair) -> Result<(), WalletError> {
    let Pair { sender, recipient, .. } = pair;
    let key = recipient.sealing_public_key(Suite::Channel, 1)?;
    let (_, stored) = pair.begin()?;
    criterion.bench_function("begin a channel", |bencher| bencher.iter(|| pair.begin_to(&key)));
    criterion.bench_function("accept a channel", |bencher| {
        bencher.iter(|| ChannelReceiver::accept(black_box(&stored), recipient, &sender.did()));
    });
    Ok(())
}

fn keys(criterion: &mut Criterion, pair: &Pair) -> Result<(), Box<dyn Error>> {
    let keyring = Keyring::parse(&Keyring::fresh_line(1)?)?;
    let account_id = AccountId::new(pair.draft.timestamp, random()?);
    let id = OwnedKey { id: pair.draft.sender, account_id };
    let wrapped = Root::generate()?.wrap(&keyring, &id)?;
    for suite in [Suite::Hybrid, Suite::Classic] {
        criterion.bench_function(&format!("derive a sealing public key, {suite:?}"), |bencher| {
            bencher.iter(|| pair.recipient.sealing_public_key(suite, black_box(1)));
        });
    }
    criterion.bench_function("unwrap a root and derive its identity", |bencher| {
        bencher.iter(|| Root::unwrap(&keyring, &id, black_box(&wrapped)).and_then(Identity::new));
    });
    let token = SessionToken::generate()?;
    criterion.bench_function("check and hash a session token", |bencher| {
        bencher.iter(|| SessionToken::hash_of(black_box(token.expose())));
    });
    Ok(())
}
