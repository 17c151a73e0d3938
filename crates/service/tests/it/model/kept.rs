//! Compares the service with the model for fixed lists of operations.

use super::{
    op::{
        Asked, Event, Everywhere, Holder, Message, Named, Op, Pick, Secret, Step, To, Token, Url,
        Webhook, Who,
    },
    run::{CLASSIC, run, settings},
    usage::Window,
};
use crate::support::World;

fn send_as(token: Token, key: Named) -> Op {
    let (to, message) = (To::Key(Pick(1)), Message::Small(Pick(0)));
    Op::Send { who: Who { token, key }, to, message, name: None, times: 1 }
}

#[test]
fn an_ended_session_is_refused_before_an_unknown_key() {
    let first_session = Token::Any(Pick(0));
    let second_session = Holder { token: Token::Any(Pick(1)), account: Pick(0) };
    let ops = [
        send_as(Token::Own, Named::Key(Pick(0))),
        Op::Login { account: Pick(0), secret: Secret::Current },
        Op::Logout { who: second_session, everywhere: Everywhere::Yes },
        send_as(first_session, Named::Key(Pick(0))),
        send_as(first_session, Named::Unknown),
        send_as(first_session, Named::Malformed),
        send_as(first_session, Named::Absent),
        send_as(first_session, Named::Unreadable),
    ];
    run(World::with(settings()), CLASSIC, &ops).unwrap();
}

#[test]
fn a_revocation_deletes_repeated_deliveries_to_younger_webhooks() {
    let bob = Who { token: Token::Own, key: Named::Key(Pick(1)) };
    let again = |webhook| Op::Redeliver {
        who: bob,
        key: Pick(1),
        webhook: Webhook::Any(Pick(webhook)),
        envelope: Asked::Envelope(Pick(0)),
    };
    let ops = [
        send_as(Token::Own, Named::Key(Pick(0))),
        Op::Register { who: bob, url: Url::Public },
        again(0),
        again(1),
        Op::Move { key: Pick(1), event: Event::Revoke },
    ];
    run(World::with(settings()), CLASSIC, &ops).unwrap();
}

#[test]
fn an_expired_envelope_is_not_delivered_again() {
    let bob = Who { token: Token::Own, key: Named::Key(Pick(1)) };
    let again = Op::Redeliver {
        who: bob,
        key: Pick(1),
        webhook: Webhook::Any(Pick(0)),
        envelope: Asked::Envelope(Pick(0)),
    };
    let ops = [
        send_as(Token::Own, Named::Key(Pick(0))),
        Op::Register { who: bob, url: Url::Public },
        again,
        Op::Advance(Step::Into(Window::Month)),
        Op::Advance(Step::Into(Window::Month)),
        again,
    ];
    run(World::with(settings()), CLASSIC, &ops).unwrap();
}
