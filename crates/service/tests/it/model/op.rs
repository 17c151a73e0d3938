//! What can be done to the service. An operation names things by a number that is taken modulo how many there are, so
//! that every list of operations is a sound one.

mod strategy;

use super::usage::{Terms, Window};

pub(super) use strategy::ops;

/// One of so many, whatever there are by then.
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

/// Who says they are calling.
#[derive(Debug, Clone, Copy)]
pub(super) struct Who {
    pub(super) token: Token,
    pub(super) key: Named,
}

/// Who says they are calling where no key is named.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub(super) token: Token,
    pub(super) account: Pick,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Absent,
    /// Of any session that ever began.
    Any(Pick),
    Malformed,
    /// Of the newest live session of the account, or of the key's, begun now where there is none.
    Own,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Named {
    Absent,
    Key(Pick),
    Malformed,
    Unknown,
    /// The body that would name it cannot be read.
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
    /// For partners, who are suspended and restored and nothing else, the same as to enforce.
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
    /// To the first instant of the next one.
    Into(Window),
    Hours(u8),
    /// To the last instant of this one.
    LastOf(Window),
    Millis(u16),
    Seconds(u8),
}
