//! The operations of the model test. An operation selects an account, key or other object by a number modulo their
//! count. Therefore every list of operations is valid.

mod strategy;

use super::usage::{Terms, Window};

pub(super) use strategy::ops;

/// Selects one of the existing objects of a kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pick(pub(super) u8);

impl Pick {
    pub(super) fn of(self, count: usize) -> Option<usize> {
        usize::from(self.0).checked_rem(count)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Op {
    Activate { who: Holder, handle: Option<Pick>, body: Body },
    Advance(Step),
    Assign { account: Pick, partner: Pick },
    Decide { subject: Subject, verb: Verb },
    Delete { who: Who, key: Pick, webhook: Webhook },
    Enable { who: Who, key: Pick, webhook: Webhook },
    List { who: Who },
    Login { account: Pick, secret: Secret },
    Logout { who: Holder, everywhere: Everywhere },
    Move { key: Pick, event: Event },
    Open { who: Opener, envelope: Asked },
    Plan { key: Pick, plan: Plan },
    Redeliver { who: Who, key: Pick, webhook: Webhook, envelope: Asked },
    Register { who: Who, url: Url },
    RotateWebhook { who: Who, key: Pick, webhook: Webhook },
    RotateSecret { who: Holder },
    Send { who: Who, to: To, message: Message, name: Option<Pick>, times: u8 },
    Status { who: Who, body: Body, times: u8 },
}

/// The credentials of a request that acts as a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Who {
    pub(super) token: Token,
    pub(super) key: Named,
}

/// The credentials of a request without an API key. [`Token::Own`] uses a session of `account`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub(super) token: Token,
    pub(super) account: Pick,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Absent,
    /// The token of any session so far, ended or not.
    Any(Pick),
    Malformed,
    /// The newest live session of the account, or of the account that owns the key. Logs in first if there is none.
    Own,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Named {
    Absent,
    Key(Pick),
    Malformed,
    Unknown,
    /// No key, because the body that should contain the key is malformed.
    Unreadable,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Opener {
    Any(Who),
    Recipient,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Body {
    Faulty,
    Sound,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Asked {
    Envelope(Pick),
    Faulty,
    Malformed,
    Unknown,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Webhook {
    Any(Pick),
    Faulty,
    Malformed,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Url {
    Faulty,
    Private,
    Public,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Secret {
    Current,
    Former,
    Malformed,
    Others,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Everywhere {
    No,
    Yes,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum To {
    Handle(Pick),
    Key(Pick),
    Malformed,
    Nobody,
    RawDid,
    Shouted(Pick),
    Unknown,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Message {
    Faulty,
    Longest,
    Small(Pick),
    TooLong,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    Deactivate,
    Reactivate,
    Revoke,
    Rotate,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Subject {
    Account(Pick),
    Key(Pick),
    Partner(Pick),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Enforce,
    Lift,
    /// For partners, the same as `Enforce`, because partners are only suspended and restored.
    Propose,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Plan {
    Builder,
    Enterprise(Terms),
    Explorer,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Advances the clock to the first millisecond of the next window.
    Into(Window),
    Hours(u8),
    /// Advances the clock to the last millisecond of the current window.
    LastOf(Window),
    Millis(u16),
    Seconds(u8),
}
