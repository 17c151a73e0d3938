//! Signed notices: signature, retry schedule, address guard, dispatcher.
