//! The guides: the Markdown files in the folder `docs` of the repository, compiled into the binary.

mod addresses;
mod code_blocks;
mod files;
mod links;
mod markdown;
mod pages;
mod tables;

#[cfg(test)]
mod tests;

pub(super) use files::{FILES, SourceFile};
pub(super) use markdown::Heading;
pub(super) use pages::pages;

/// A group of guides for one kind of reader.
pub(super) struct GuideGroup {
    pub(super) title: &'static str,
    pub(super) guides: &'static [Guide],
}

/// A guide.
pub(super) struct Guide {
    /// The path of the page below `/docs`.
    pub(super) name: &'static str,
    /// The name of the guide in lists. If `None`, the first heading is the name.
    label: Option<&'static str>,
    /// A description in one sentence, for the list of guides.
    pub(super) about: &'static str,
    /// The path of the source file in the repository.
    source: &'static str,
    markdown: &'static str,
}

impl Guide {
    /// Returns the name of the guide in lists.
    pub(super) fn title(&self) -> &'static str {
        let first = self.markdown.lines().next().unwrap_or_default();
        self.label.unwrap_or_else(|| first.trim_start_matches("# "))
    }

    /// Returns the path of the page, without the path of the base URL.
    pub(super) fn path(&self) -> String {
        format!("/docs/{}", self.name)
    }
}

/// Returns the headings of each guide, in order.
pub(super) fn headings() -> impl Iterator<Item = (&'static Guide, Vec<Heading>)> {
    all().map(|guide| (guide, markdown::headings(guide.markdown)))
}

/// Returns the code block that directly follows the HTML comment `<!-- FILE -->` in a guide. Returns `None` if there is
/// no such guide or comment.
pub(super) fn quoted_file(guide: &str, file: &str) -> Option<&'static str> {
    let guide = all().find(|other| other.name == guide)?;
    let (_, block) = guide.markdown.split_once(&format!("<!-- {file} -->\n```"))?;
    let (_, program) = block.split_once('\n')?;
    program.split("\n```").next()
}

/// Returns all guides in order.
fn all() -> impl Iterator<Item = &'static Guide> {
    GROUPS.iter().flat_map(|group| group.guides)
}

/// Defines a guide from a file in the folder `docs`, or from another file of the repository with a label.
macro_rules! guide {
    ($name:literal, $about:literal) => {
        Guide {
            name: $name,
            label: None,
            about: $about,
            source: concat!("docs/", $name, ".md"),
            markdown: include_str!(concat!("../../docs/", $name, ".md")),
        }
    };
    ($name:literal, $label:expr, $source:literal, $about:literal) => {
        Guide {
            name: $name,
            label: $label,
            about: $about,
            source: $source,
            markdown: include_str!(concat!("../../", $source)),
        }
    };
}

/// All guides, in the order of the navigation.
pub(super) const GROUPS: &[GuideGroup] = &[
    GuideGroup {
        title: "Start",
        guides: &[
            guide!(
                "quickstart",
                "From nothing to a message that is sealed, delivered, verified and opened."
            ),
            guide!("concepts", "Accounts, identities, handles, policies, envelopes and webhooks."),
        ],
    },
    GuideGroup {
        title: "Clients",
        guides: &[
            guide!(
                "python",
                Some("Python"),
                "clients/python/README.md",
                "Send, receive and open with Python 3.10 or later, Flask and FastAPI."
            ),
            guide!(
                "typescript",
                Some("TypeScript"),
                "clients/typescript/README.md",
                "Send, receive and open with Node, Deno or a browser, Fetch and Express."
            ),
            guide!(
                "rust",
                Some("Rust"),
                "crates/client/README.md",
                "Send, receive and open with tokio, axum and actix-web."
            ),
            guide!("command-line", "Send, receive and open with one program, in a shell."),
            guide!(
                "clients",
                Some("All clients"),
                "clients/README.md",
                "First steps, credentials, retries and errors, equal in all clients."
            ),
        ],
    },
    GuideGroup {
        title: "Build",
        guides: &[
            guide!("sending", "Sends, their guarantees, and safe repetition."),
            guide!(
                "receiving",
                "Receivers in Python, TypeScript, Rust and Go, their retries and tests."
            ),
            guide!("recipes", "Context, lists, batches and changed webhooks, in four languages."),
            guide!("access", "API tokens, recovery, and what to do about a stolen secret."),
            guide!("behind-nat", "Receivers on your machine or in a private network."),
            guide!("building-a-client", "What a client does for its caller, shown in 60 lines."),
            guide!("agents", "Tools for agents, their limits, and the set-up of clients."),
            guide!("limits", "Plans, their limits, and how to behave at a limit."),
            guide!("replacing-a-key", "How to move an identity to a new key."),
            guide!("badges", "Purity badges, their verification, and compliance circuits."),
            guide!("embedding", "The crates as parts of other Rust programs."),
        ],
    },
    GuideGroup {
        title: "Operate",
        guides: &[
            guide!(
                "production-checklist",
                "Deployment shapes, and what to check before the first caller arrives."
            ),
            guide!("operating", "The tasks of an operator, each with its page."),
            guide!(
                "operating/installation",
                "Build, packages, image, Compose, Kubernetes, and upgrades."
            ),
            guide!("operating/tls", "Certificates, proxies, load balancers and health checks."),
            guide!("operating/keys", "The key file: creation, rotation and loss."),
            guide!("operating/postgresql", "Rights, encryption, failover and PgBouncer."),
            guide!(
                "operating/backup",
                "Backups, the revocation journal, a drill, and the move to PostgreSQL."
            ),
            guide!(
                "operating/administration",
                "Commands and console of operators, invites and reserved handles."
            ),
            guide!("operating/sizing", "Memory, disks, limits of connections, and wrong clocks."),
            guide!("operating/monitoring", "Log, spans, metrics, dashboard and alerts."),
            guide!(
                "operating/hostile-tenants",
                "Measured attacks, and their effect on an honest tenant."
            ),
            guide!("settings", "All settings of a server, with their defaults."),
            guide!("scaling", "Several nodes, large rates, and a design for sharding."),
            guide!("performance", "Measured results, and how to repeat them."),
        ],
    },
    GuideGroup {
        title: "Help",
        guides: &[
            guide!("troubleshooting", "Symptoms, their causes and their fixes."),
            guide!("faq", "Short answers to frequent questions."),
            guide!("glossary", "The words of the API, the dashboard and the guides."),
            guide!("comparison", "Sealpost beside services for webhooks, agents and credentials."),
        ],
    },
    GuideGroup {
        title: "Security",
        guides: &[
            guide!("trust", "The effect of each leak, and the parts that you have to trust."),
            guide!("transparency", "The log of identities and badges, which only grows."),
            guide!("sealing", "The format of envelopes, byte by byte."),
            guide!("security", None, "SECURITY.md", "How to report a vulnerability."),
        ],
    },
    GuideGroup {
        title: "Inside",
        guides: &[
            guide!("architecture", "The parts of the program, and the reasons for them."),
            guide!("design", "Grid, colours, words and components of the pages."),
        ],
    },
];
