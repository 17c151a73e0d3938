//! The error of a program that receives events.

use std::error::Error;

/// The reason why a program cannot process an event. The service sends the event again later.
pub type HandlerError = Box<dyn Error + Send + Sync>;
