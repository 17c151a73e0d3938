//! Documentation of the errors about limits: rates, quotas and sizes.

use std::time::Duration;

use sealpost_domain::{AllowanceAdvice, Refusal, Window};

use super::{ErrorDocumentation, Retry};
use crate::response::Problem;

pub(super) const MONTHLY_LIMIT_EXCEEDED: ErrorDocumentation = ErrorDocumentation {
    summary: "All messages of the plan for this month are used.",
    causes: &["One more send would exceed the plan's messages per calendar month (UTC)."],
    remedies: &[
        "Wait for the next month: `Retry-After` is the number of seconds until then.",
        "Change to a larger plan, or ask for a larger allowance; `detail` names the option of the plan, and the contact of the service if it has one. A new plan is in force within seconds.",
    ],
    retry: Retry::AfterWaiting,
    example: || {
        Refusal::MonthlyLimitExceeded {
            limit: 1_000,
            advice: AllowanceAdvice::Upgrade,
            retry_after: Duration::from_secs(839_002),
        }
        .into()
    },
};

pub(super) const HEADERS_TOO_LARGE: ErrorDocumentation = ErrorDocumentation {
    summary: "The head of the request exceeds a limit; `detail` names the limit.",
    causes: &[
        "The request line and the headers exceed 16 KiB (by default).",
        "The request has more than 96 headers.",
    ],
    remedies: &["Send fewer or shorter headers. Often a proxy or a cookie jar adds them."],
    retry: Retry::Changed,
    example: || Problem::HeadTooLarge { limit: 16_384, unit: "bytes" },
};

pub(super) const PAYLOAD_TOO_LARGE: ErrorDocumentation = ErrorDocumentation {
    summary: "The body or the message exceeds a size limit; `detail` names the limit.",
    causes: &[
        "The message exceeds 256 KiB of UTF-8 (by default). Then `field` is `message`.",
        "The whole body exceeds 2 MiB (by default). It is refused before it is read.",
        "The body of an activation, a login or a recovery exceeds 16 KiB, and the request has no session token.",
    ],
    remedies: &[
        "Shorten or split the message.",
        "Store large content elsewhere, and send its address.",
    ],
    retry: Retry::Changed,
    example: || Refusal::MessageTooLarge { limit_bytes: 262_144 }.into(),
};

pub(super) const QUOTA_EXCEEDED: ErrorDocumentation = ErrorDocumentation {
    summary: "A quota is reached: keys, handles, API tokens or stored bytes per account, webhooks, badges or list entries per key, or connections per relay.",
    causes: &[
        "The account would have more than 100 keys (by default) that are not revoked.",
        "The account's revoked keys reserve 100 handles (by default), and the activation names a new one.",
        "The account would have more than 50 API tokens (by default).",
        "The account would store more than 10 GiB (by default) of sealed envelopes that its keys have sent.",
        "The key would have more than 16 webhooks.",
        "The key would have more than 100 valid badges.",
        "The relay of a webhook would have more than four connections, over all nodes.",
        "Four replaced secrets of a webhook still sign its events; `detail` names the time when the oldest ends.",
        "A list of the key's policy would have more than 1,000 keys.",
    ],
    remedies: &[
        "Revoke an unused key or API token, delete an unused webhook, close a connection, or remove keys from the list.",
        "Name a handle that a revoked key of the account reserves.",
        "Wait until older envelopes are deleted at the end of their retention.",
        "Use a valid badge, or wait until a badge expires.",
    ],
    retry: Retry::Changed,
    example: || {
        Refusal::QuotaExceeded {
            limit: 16,
            what: "webhooks of this API key",
            way_out: "delete one that is no longer used",
        }
        .into()
    },
};

pub(super) const RATE_LIMIT_EXCEEDED: ErrorDocumentation = ErrorDocumentation {
    summary: "A rate limit is reached: requests per minute or day, messages per second, or a limit per client address or \
            account.",
    causes: &[
        "The key has used all requests of this minute or day (UTC).",
        "The key sends faster than the throughput of its plan. A burst of one second is allowed.",
        "A client address activates or logs in too often, or sends too many wrong secrets.",
        "A session or its account lists activity, exports the account, or lists or creates API tokens too often.",
        "An account replaces its secrets or tests webhooks too often.",
    ],
    remedies: &[
        "Wait for the time in `Retry-After`; then the same request can succeed.",
        "Read `RateLimit` of each response, and slow down before the rest reaches 0.",
        "Change to a larger plan. Refused requests do not count.",
    ],
    retry: Retry::AfterWaiting,
    example: || {
        Refusal::RateLimited {
            window: Window::Minute,
            limit: 20,
            retry_after: Duration::from_secs(35),
        }
        .into()
    },
};
