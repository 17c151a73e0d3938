//! An envelope in its stored form, of the same size as those of the sends.

use sealpost_domain::{ApiKeyId, ChannelId, Envelope, EnvelopeId, MessageContext, Suite};
use sealpost_wallet::{ChannelDraft, ChannelSender, EnvelopeDraft, Identity, Root, random, seal};

use crate::stage::{MESSAGE_BYTES, identities::PAST};

/// Returns an envelope of this suite. The names of other suites give a hybrid envelope.
pub(crate) fn envelope(suite: &str) -> Envelope {
    let suite = match suite {
        "channel" => Suite::Channel,
        "classic" => Suite::Classic,
        _ => Suite::Hybrid,
    };
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
    let sealed = match suite {
        Suite::Channel => {
            let id = ChannelId::new(PAST, bytes());
            let of = ChannelDraft { id, sender: draft.sender, recipient: draft.recipient };
            let begun = ChannelSender::begin(&of, u32::MAX, &sender, &key);
            begun.expect("the channel can begin").0.seal(&draft, &message, &sender)
        }
        Suite::Classic | Suite::Hybrid => seal(&draft, &message, &sender, &key),
    };
    sealed.expect("the message can be sealed")
}
