//! The context of a message: its thread, the envelope that it replies to, and its type. The sender signs the context,
//! but the context is not encrypted.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{EnvelopeId, FormatError};

/// The context of an envelope. All members are optional. `reply_to` is always an envelope that the sender has sent or
/// received.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct MessageContext {
    /// The thread of the message; null if the sender gave none.
    pub thread: Option<ThreadId>,
    /// The envelope that the message replies to; null if the message is no reply.
    pub reply_to: Option<EnvelopeId>,
    /// The type of the message, such as `text/plain`; null if the sender gave none.
    #[serde(rename = "type")]
    pub message_type: Option<MessageType>,
}

impl MessageContext {
    /// Returns true if no member is present. The sealed bytes of an envelope omit an empty context.
    pub const fn is_empty(&self) -> bool {
        self.thread.is_none() && self.reply_to.is_none() && self.message_type.is_none()
    }
}

macro_rules! context_text {
    ($(#[$doc:meta])* $name:ident, $pattern:literal, $named:literal, $allowed:pat) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize)]
        #[schemars(extend("pattern" = $pattern))]
        pub struct $name(#[schemars(with = "String")] Box<str>);

        impl $name {
            /// Parses the text from a request or a database row. Fails if the length is not 1 to 64, or if a character
            /// is not allowed.
            pub fn parse(text: &str) -> Result<Self, FormatError> {
                let is_allowed = text.bytes().all(|byte| matches!(byte, $allowed));
                if (1..=LENGTH_MAX).contains(&text.len()) && is_allowed {
                    Ok(Self(text.into()))
                } else {
                    Err(FormatError(concat!("must have 1 to 64 of these characters: ", $named)))
                }
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

context_text! {
    /// The name of a thread: 1 to 64 of `A-Z a-z 0-9 . _ : -`. Senders choose the names freely.
    ThreadId, "^[A-Za-z0-9._:-]{1,64}$", "A-Z a-z 0-9 . _ : -",
    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b':' | b'-'
}

context_text! {
    /// The type of a message: 1 to 64 of `a-z 0-9 . _ / + -`, such as `text/plain` or `order.created`.
    MessageType, "^[a-z0-9._/+-]{1,64}$", "a-z 0-9 . _ / + -",
    b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'/' | b'+' | b'-'
}

const LENGTH_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_types_have_their_own_characters_and_a_bounded_length() {
        let long = "x".repeat(64);
        for thread in ["A", "order:2026-11_7.b", &long] {
            assert!(ThreadId::parse(thread).is_ok(), "{thread}");
        }
        for thread in ["", "a b", "a/b", "ü", "a\n", &format!("{long}x")] {
            assert!(ThreadId::parse(thread).is_err(), "{thread}");
        }
        for name in ["text/plain", "order.created", "application/ld+json", "a_b-1", &long] {
            assert!(MessageType::parse(name).is_ok(), "{name}");
        }
        for name in ["", "Text", "a:b", "a b", "text/plain;x=1", &format!("{long}x")] {
            assert!(MessageType::parse(name).is_err(), "{name}");
        }
    }
}
