//! Example: prints status changes of an API key, and parses recipients of messages. Uses no other crate of the
//! workspace.
//!
//! `cargo run -p sealpost-domain --example states`

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use sealpost_domain::{ApiKeyId, KeyEvent, KeyStatus, Recipient, Refusal, Timestamp};

fn main() -> Result<(), Box<dyn Error>> {
    let now: Timestamp = "2027-01-31T12:00:00Z".parse()?;
    let id = ApiKeyId::new(now, [7; 10]);

    let mut status = KeyStatus::Active;
    for event in [KeyEvent::StartRotation, KeyEvent::FinishRotation, KeyEvent::Revoke] {
        status = status.apply(event)?;
        println!("{id}: {event:?} leads to {status}");
    }
    if let Err(error) = status.apply(KeyEvent::Reactivate) {
        println!("{id}: {error}");
    }

    let refusal = Refusal::KeyInactive { status, field: None };
    println!("{}: {refusal}", refusal.code());

    for to in ["@Bob", &id.to_string(), "did:key:z6Mk"] {
        match Recipient::parse(to) {
            Ok(recipient) => println!("{to} is {recipient:?}"),
            Err(error) => println!("{to}: {error}"),
        }
    }
    Ok(())
}
