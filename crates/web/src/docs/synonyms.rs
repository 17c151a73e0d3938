//! Words that readers search for, but that the matching heading of a guide does not contain.

/// The headings of guides, with further words in lower case that lead to them.
pub(super) const SYNONYMS: &[(&str, &str)] = &[
    ("/docs/access#recovery", "lost forgot forgotten password login secret reset account"),
    ("/docs/agents#agents", "mcp ai llm claude cursor assistant"),
    (
        "/docs/behind-nat#receiving-behind-nat",
        "localhost 127.0.0.1 ngrok firewall local development private network",
    ),
    ("/docs/clients#clients", "sdk library package install"),
    ("/docs/concepts#policy", "spam block unsubscribe allowlist blocklist"),
    ("/docs/faq#can-a-web-page-call-the-api", "cors browser origin preflight frontend javascript"),
    ("/docs/faq#can-i-poll-for-messages", "inbox polling list fetch received messages"),
    ("/docs/faq#how-do-i-close-my-account", "delete remove erase account user gdpr"),
    ("/docs/faq#how-large-can-a-message-be", "attachment file upload maximum size"),
    ("/docs/faq#is-it-end-to-end-encrypted", "e2e e2ee encryption privacy"),
    ("/docs/limits#limits", "rate limit throttling 429 too many requests quota price pricing"),
    ("/docs/python#sealpost-for-python", "sdk library pip pypi package install django"),
    ("/docs/receiving#retries", "backoff schedule redelivery"),
    (
        "/docs/receiving#rotating-a-secret",
        "webhook signing secret lost leaked forgotten new replace whsec",
    ),
    (
        "/docs/receiving#steps-of-a-receiver",
        "clock skew drift ntp timestamp too old replay verify signature",
    ),
    ("/docs/rust#rust-client", "sdk library cargo crate package install"),
    (
        "/docs/typescript#sealpost-for-typescript",
        "sdk library npm javascript node deno bun package install",
    ),
];
