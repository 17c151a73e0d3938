//! Generates random lists of operations.

use proptest::{prelude::*, sample::select};

use super::{
    super::usage::{Terms, Window},
    Asked, Body, Event, Everywhere, Holder, Message, Named, Op, Opener, Pick, Plan, Secret, Step,
    Subject, To, Token, Url, Verb, Webhook, Who,
};

/// Generates the operations of one test case.
pub(in super::super) fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 1..=80)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        30 => send(),
        8 => (opener(), asked()).prop_map(|(who, envelope)| Op::Open { who, envelope }),
        8 => step().prop_map(Op::Advance),
        6 => (who(), body(), times()).prop_map(|(who, body, times)| Op::Status { who, body, times }),
        4 => (who(), url()).prop_map(|(who, url)| Op::Register { who, url }),
        1 => who().prop_map(|who| Op::List { who }),
        2 => (who(), pick(), webhook())
            .prop_map(|(who, key, webhook)| Op::Delete { who, key, webhook }),
        6 => managing(),
        14 => account_op(),
        20 => operator_op(),
    ]
}

fn managing() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => (who(), pick(), webhook())
            .prop_map(|(who, key, webhook)| Op::Enable { who, key, webhook }),
        2 => (who(), pick(), webhook())
            .prop_map(|(who, key, webhook)| Op::RotateWebhook { who, key, webhook }),
        3 => (who(), pick(), webhook(), asked()).prop_map(|(who, key, webhook, envelope)| {
            Op::Redeliver { who, key, webhook, envelope }
        }),
    ]
}

fn account_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (opening(), handle(), body())
            .prop_map(|(who, handle, body)| Op::Activate { who, handle, body }),
        3 => (pick(), select(SECRETS)).prop_map(|(account, secret)| Op::Login { account, secret }),
        3 => (holder(), select(vec![Everywhere::No, Everywhere::Yes]))
            .prop_map(|(who, everywhere)| Op::Logout { who, everywhere }),
        1 => holder().prop_map(|who| Op::RotateSecret { who }),
    ]
}

fn operator_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (pick(), select(EVENTS)).prop_map(|(key, event)| Op::Move { key, event }),
        6 => (pick(), plan()).prop_map(|(key, plan)| Op::Plan { key, plan }),
        6 => (subject(), select(VERBS)).prop_map(|(subject, verb)| Op::Decide { subject, verb }),
        2 => (pick(), pick()).prop_map(|(account, partner)| Op::Assign { account, partner }),
    ]
}

fn send() -> impl Strategy<Value = Op> {
    let message = prop_oneof![
        12 => pick().prop_map(Message::Small),
        1 => select(vec![Message::Longest, Message::TooLong, Message::Faulty]),
    ];
    let name = prop_oneof![3 => Just(None), 2 => pick().prop_map(Some)];
    let times = prop_oneof![6 => Just(1), 2 => Just(3), 1 => Just(12)];
    (who(), to(), message, name, times).prop_map(|(who, to, message, name, times)| Op::Send {
        who,
        to,
        message,
        name,
        times,
    })
}

/// Generates an index. Prefers small numbers, so that many operations affect the same account, key or envelope.
fn pick() -> impl Strategy<Value = Pick> + Clone {
    prop_oneof![2 => 0_u8..3, 1 => 0_u8..12].prop_map(Pick)
}

fn who() -> impl Strategy<Value = Who> {
    let key = prop_oneof![
        24 => pick().prop_map(Named::Key),
        1 => select(vec![Named::Absent, Named::Malformed, Named::Unknown, Named::Unreadable]),
    ];
    (token(), key).prop_map(|(token, key)| Who { token, key })
}

fn token() -> impl Strategy<Value = Token> {
    prop_oneof![
        30 => Just(Token::Own),
        2 => pick().prop_map(Token::Any),
        1 => select(vec![Token::Absent, Token::Malformed]),
    ]
}

fn holder() -> impl Strategy<Value = Holder> {
    (token(), pick()).prop_map(|(token, account)| Holder { token, account })
}

/// Generates the caller of an activation. About half of the activations open a new account.
fn opening() -> impl Strategy<Value = Holder> {
    let newcomer = Holder { token: Token::Absent, account: Pick(0) };
    prop_oneof![Just(newcomer), holder()]
}

fn opener() -> impl Strategy<Value = Opener> {
    prop_oneof![3 => Just(Opener::Recipient), 1 => who().prop_map(Opener::Any)]
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        12 => pick().prop_map(Asked::Envelope),
        1 => select(vec![Asked::Faulty, Asked::Malformed, Asked::Unknown]),
    ]
}

fn to() -> impl Strategy<Value = To> {
    prop_oneof![
        8 => pick().prop_map(To::Key),
        8 => pick().prop_map(To::Handle),
        2 => pick().prop_map(To::Shouted),
        2 => select(vec![To::Malformed, To::Nobody, To::RawDid, To::Unknown]),
    ]
}

fn webhook() -> impl Strategy<Value = Webhook> {
    prop_oneof![
        6 => pick().prop_map(Webhook::Any),
        1 => select(vec![Webhook::Faulty, Webhook::Malformed]),
    ]
}

fn url() -> impl Strategy<Value = Url> {
    prop_oneof![6 => Just(Url::Public), 1 => select(vec![Url::Faulty, Url::Private])]
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![9 => Just(Body::Sound), 1 => Just(Body::Faulty)]
}

fn times() -> impl Strategy<Value = u8> {
    prop_oneof![4 => Just(1), 1 => Just(21)]
}

fn handle() -> impl Strategy<Value = Option<Pick>> {
    prop_oneof![1 => Just(None), 2 => pick().prop_map(Some)]
}

fn subject() -> impl Strategy<Value = Subject> {
    prop_oneof![
        pick().prop_map(Subject::Account),
        pick().prop_map(Subject::Key),
        pick().prop_map(Subject::Partner),
    ]
}

/// Generates a plan: two thirds are enterprise plans with one tight limit.
fn plan() -> impl Strategy<Value = Plan> {
    let tight = select(vec![0, 1, 2, 2, 5]);
    let which = select(vec![0, 0, 0, 1, 2, 3]);
    let overage = prop::bool::weighted(0.3);
    let terms = (which, tight, overage).prop_map(|(which, tight, overage)| {
        let or = |at, ample| if which == at { tight } else { ample };
        Plan::Enterprise(Terms {
            per_month: or(0, 100),
            per_second: or(1, 100),
            per_minute: or(2, 50),
            per_day: or(3, 200),
            overage,
        })
    });
    prop_oneof![1 => Just(Plan::Explorer), 1 => Just(Plan::Builder), 4 => terms]
}

fn step() -> impl Strategy<Value = Step> {
    let window =
        || prop_oneof![4 => Just(Window::Minute), 1 => Just(Window::Day), 1 => Just(Window::Month)];
    prop_oneof![
        3 => (1_u16..1000).prop_map(Step::Millis),
        5 => (1_u8..=8).prop_map(Step::Seconds),
        4 => window().prop_map(Step::Into),
        2 => window().prop_map(Step::LastOf),
        1 => (1_u8..=13).prop_map(Step::Hours),
    ]
}

const EVENTS: &[Event] =
    &[Event::Deactivate, Event::Reactivate, Event::Reactivate, Event::Revoke, Event::Rotate];
const SECRETS: &[Secret] =
    &[Secret::Current, Secret::Current, Secret::Former, Secret::Malformed, Secret::Others];
const VERBS: &[Verb] = &[Verb::Enforce, Verb::Lift, Verb::Lift, Verb::Lift, Verb::Propose];
