//! What there is too much of.

use std::time::Duration;

use sealpost_domain::{Refusal, Window};

use super::{Meaning, Retry};

pub(super) const MONTHLY_LIMIT_EXCEEDED: Meaning = Meaning {
    means: "The plan's messages of this month are used up.",
    when: &["A send would be one more than the plan allows in a calendar month of UTC."],
    remedy: &[
        "Wait for the next month; `Retry-After` counts the seconds to it.",
        "Change to a larger plan, or talk to sales; `detail` names the way out of your plan. It holds within seconds.",
    ],
    retry: Retry::AfterWaiting,
    example: || {
        Refusal::MonthlyLimitExceeded {
            limit: 1_000,
            way_out: "wait for the next month or change to a larger plan",
            retry_after: Duration::from_secs(839_002),
        }
        .into()
    },
};

pub(super) const PAYLOAD_TOO_LARGE: Meaning = Meaning {
    means: "The body or the message is over the limit; `detail` names the limit.",
    when: &[
        "The message has more bytes of UTF-8 than 256 KiB (by default). Then `field` is `message`.",
        "The whole body has more than 2 MiB (by default). It is refused before it is read.",
    ],
    remedy: &[
        "Send less, or split the message.",
        "Send large things another way, and their address in a message.",
    ],
    retry: Retry::Changed,
    example: || Refusal::MessageTooLarge { limit_bytes: 262_144 }.into(),
};

pub(super) const QUOTA_EXCEEDED: Meaning = Meaning {
    means: "A cap that is no rate is reached.",
    when: &[
        "An account would have more than 100 keys (by default) that are not revoked.",
        "A key would have more than 16 webhooks.",
        "A key would have more than 100 badges that hold.",
    ],
    remedy: &[
        "Revoke a key, or delete a webhook, that is no longer used.",
        "Use a badge that holds, or wait until one expires.",
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

pub(super) const RATE_LIMIT_EXCEEDED: Meaning = Meaning {
    means: "A rate limit is reached: the plan's requests a minute or a day, its messages a second, or what one address \
            or one account may do.",
    when: &[
        "The key has used its requests of this minute or day, aligned to UTC.",
        "The key sends faster than its plan's throughput, which allows a burst of one second.",
        "One client address activates or logs in too often.",
        "One account ends sessions or replaces its login secret too often.",
    ],
    remedy: &[
        "Wait as long as `Retry-After` says; then the same request can succeed.",
        "Look at `RateLimit` on every answer and slow down before it reaches 0.",
        "Change to a larger plan. What is refused here does not count as used.",
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
