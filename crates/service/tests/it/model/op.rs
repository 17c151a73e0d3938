//! Operations on the service. An operation refers to things by a number modulo their count, so every list of operations
//! is valid.

mod strategy;

use super::usage::{Terms, Window};

pub(super) use strategy::ops;

/// One of the existing things of a kind.
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

/// The credentials of a request with a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Who {
    pub(super) token: Token,
    pub(super) key: Named,
}

/// The credentials of a request without a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub(super) token: Token,
    pub(super) account: Pick,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Absent,
    /// Any earlier session.
    Any(Pick),
    Malformed,
    /// The newest live session of the account, or of the key's account; begins one if needed.
    Own,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Named {
    Absent,
    Key(Pick),
    Malformed,
    Unknown,
    /// The body that would name the key is malformed.
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
    /// The same as enforcing for partners, which are only suspended and restored.
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
    /// To the first instant of the next window.
    Into(Window),
    Hours(u8),
    /// To the last instant of this window.
    LastOf(Window),
    Millis(u16),
    Seconds(u8),
}
