//! Documentation of the errors that only the API for operators returns.

use sealpost_domain::{KeyEvent, KeyStatus, Refusal};

use super::{ErrorDocumentation, Retry};

pub(super) const ACTION_REFUSED: ErrorDocumentation = ErrorDocumentation {
    summary: "An operator's act is refused, because the present state of its subject forbids it.",
    causes: &[
        "The key has a state that forbids the act: for example, a revoked key cannot be reactivated.",
        "The act would change nothing: for example, the council action is already in force.",
        "The handle belongs to another key, or the key already has a handle.",
    ],
    remedies: &["Read `detail`, which names the state. Look at the subject before the next act."],
    retry: Retry::Changed,
    example: || {
        let illegal = KeyStatus::Revoked.apply(KeyEvent::Reactivate);
        Refusal::ActionRefused(illegal.map_or_else(|why| why.to_string(), |_| String::new())).into()
    },
};

pub(super) const INSUFFICIENT_ROLE: ErrorDocumentation = ErrorDocumentation {
    summary: "The operator has the role viewer, which may not change anything.",
    causes: &["The line of the operator in the console's password file has the role `viewer`."],
    remedies: &[
        "Use the credentials of an operator with the role `operator`.",
        "Change the role in the password file, and send SIGHUP to each server.",
    ],
    retry: Retry::Changed,
    example: || Refusal::RoleInsufficient.into(),
};

pub(super) const SUBJECT_NOT_FOUND: ErrorDocumentation = ErrorDocumentation {
    summary: "The subject of an operator's request does not exist.",
    causes: &["No API key, account, partner, badge, webhook or decision has this name."],
    remedies: &["Compare the name with a list, such as `POST /admin/v1/keys/list`."],
    retry: Retry::Changed,
    example: || Refusal::SubjectNotFound("such API key").into(),
};
