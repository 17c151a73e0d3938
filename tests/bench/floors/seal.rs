//! Sealing and signing alone, on one core.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use sealpost_domain::{ApiKeyId, ChannelId, Envelope, EnvelopeId, MessageContext, Suite};
use sealpost_wallet::{
    ChannelDraft, ChannelSender, EnvelopeDraft, Identity, Root, SealingPublicKey, random, seal,
};

use crate::{
    measure::cpu,
    report::share,
    stage::{MESSAGE_BYTES, identities::PAST},
};

pub(crate) fn measure(suite: Suite, budget: Duration) -> f64 {
    let case = Case::new(suite);
    let (until, before, mut count) = (Instant::now() + budget, cpu::of_this_thread(), 0);
    while Instant::now() < until {
        black_box(case.seal());
        count += 1;
    }
    share(cpu::of_this_thread().saturating_sub(before), count)
}

/// Creates an envelope in its stored form.
pub(crate) fn envelope(suite: Suite) -> Envelope {
    Case::new(suite).seal()
}

struct Case {
    draft: EnvelopeDraft,
    sender: Identity,
    to: To,
    message: Vec<u8>,
}

/// The key or channel for sealing.
enum To {
    Channel(ChannelSender),
    Key(SealingPublicKey),
}

impl Case {
    fn new(suite: Suite) -> Self {
        let identity = || {
            let root = Root::generate().expect("the system has random bytes");
            Identity::new(root).expect("a root makes an identity")
        };
        let bytes = || random().expect("the system has random bytes");
        let draft = EnvelopeDraft {
            id: EnvelopeId::new(PAST, bytes()),
            sender: ApiKeyId::new(PAST, bytes()),
            recipient: ApiKeyId::new(PAST, bytes()),
            timestamp: PAST,
            context: MessageContext::default(),
        };
        let key = identity().sealing_public_key(suite, 1).expect("a root has sealing keys");
        let (sender, message) = (identity(), vec![b'x'; MESSAGE_BYTES]);
        let to = match suite {
            Suite::Channel => {
                let id = ChannelId::new(PAST, bytes());
                let of = ChannelDraft { id, sender: draft.sender, recipient: draft.recipient };
                let begun = ChannelSender::begin(&of, u32::MAX, &sender, &key);
                To::Channel(begun.expect("the channel can begin").0)
            }
            Suite::Classic | Suite::Hybrid => To::Key(key),
        };
        Self { draft, sender, to, message }
    }

    fn seal(&self) -> Envelope {
        let Self { draft, sender, to, message } = self;
        let sealed = match to {
            To::Channel(channel) => channel.seal(draft, message, sender),
            To::Key(key) => seal(draft, message, sender, key),
        };
        sealed.expect("the message can be sealed")
    }
}
