//! The examples at the end of each command's help. A test of the binary parses them.

/// Pairs of a command, without the word `sealpost`, and the examples of this command.
pub const EXAMPLES: [(&str, &str); 26] = [
    (
        "login",
        "sealpost login --url http://127.0.0.1:8080 --new Alice --handle alice\n\
         sealpost login --url https://sealpost.example --account acct_01kxk83ffmfe7rw98sdqcq10h0 \
         --api-key ak_01kxk83ffmfe7rw98sdqcq10h0",
    ),
    ("evidence", "sealpost evidence env_01kxk83ffmfe7rw98sdqcq10h0"),
    ("send", "sealpost send bob\nsealpost send bob --thread order:7 --type text/plain"),
    ("sent", "sealpost sent\nsealpost sent --recipient bob --since 2026-11-21T00:00:00Z --json"),
    (
        "mcp",
        "sealpost mcp\n\
         sealpost mcp --profile agent --url https://sealpost.example --allow send,open,wait,reply\n\
         sealpost mcp --listen 127.0.0.1:8070 --token-file token.txt",
    ),
    ("open", "sealpost open env_01kxk83ffmfe7rw98sdqcq10h0"),
    ("keys activate", "sealpost keys activate 'Alice at work' --handle alice-work"),
    ("keys find", "sealpost keys find bob"),
    ("keys show", "sealpost keys show\nsealpost keys show --json"),
    ("keys", "sealpost keys show"),
    (
        "tokens create",
        "sealpost tokens create 'night job' --scope send --scope read --expires-in-days 30",
    ),
    ("tokens list", "sealpost tokens list"),
    ("tokens revoke", "sealpost tokens revoke tok_01kxk83ffmfe7rw98sdqcq10h0"),
    ("tokens", "sealpost tokens list"),
    ("watch", "sealpost watch --policy policy.txt --state alice.tlog-proof"),
    ("webhooks delete", "sealpost webhooks delete wh_01kxk83ffmfe7rw98sdqcq10h0"),
    ("webhooks deliveries", "sealpost webhooks deliveries wh_01kxk83ffmfe7rw98sdqcq10h0 --limit 5"),
    ("webhooks enable", "sealpost webhooks enable wh_01kxk83ffmfe7rw98sdqcq10h0"),
    ("webhooks list", "sealpost webhooks list"),
    (
        "webhooks recover",
        "sealpost webhooks recover wh_01kxk83ffmfe7rw98sdqcq10h0 --since 2027-01-31T12:00:00Z --dry-run",
    ),
    (
        "webhooks redeliver",
        "sealpost webhooks redeliver wh_01kxk83ffmfe7rw98sdqcq10h0 env_01kxk83ffmfe7rw98sdqcq10h0",
    ),
    (
        "webhooks register",
        "sealpost webhooks register https://app.example/hook --secret-file secret.txt\n\
         sealpost webhooks register --relay --secret-file relay-secret.txt",
    ),
    (
        "webhooks rotate-secret",
        "sealpost webhooks rotate-secret wh_01kxk83ffmfe7rw98sdqcq10h0 --secret-file new-secret.txt",
    ),
    ("webhooks test", "sealpost webhooks test wh_01kxk83ffmfe7rw98sdqcq10h0"),
    (
        "webhooks update",
        "sealpost webhooks update wh_01kxk83ffmfe7rw98sdqcq10h0 --url https://app.example/new-hook\n\
         sealpost webhooks update wh_01kxk83ffmfe7rw98sdqcq10h0 --pause",
    ),
    ("webhooks", "sealpost webhooks list"),
];
