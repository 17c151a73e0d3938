//! The examples at the end of each command's help. A test parses all examples, and fails if a command has none.

use clap::Command;

/// Appends the examples to the help of each command.
pub(crate) fn with_examples(command: Command) -> Command {
    let examples: Vec<_> = examples(&command).collect();
    examples.iter().fold(command, |command, (path, text)| {
        at(command, path, &format!("Examples:\n{}", indented(text)))
    })
}

/// Returns the examples of all commands, each with the words of its command after `sealpost`.
fn examples(command: &Command) -> impl Iterator<Item = (Vec<&'static str>, &'static str)> {
    let own = EXAMPLES.iter().map(|text| (path_of(command, text), *text));
    let named = GROUP_EXAMPLES.iter().chain(&sealpost_shell::EXAMPLES);
    own.chain(named.map(|(path, text)| (path.split_whitespace().collect(), *text)))
}

/// Returns the words of the subcommand with which a text begins.
fn path_of<'t>(mut command: &Command, text: &'t str) -> Vec<&'t str> {
    let is_subcommand = |word: &&str| {
        let inner = command.find_subcommand(word);
        command = inner.unwrap_or(command);
        inner.is_some()
    };
    text.split_whitespace().skip(1).take_while(is_subcommand).collect()
}

fn at(command: Command, path: &[&str], help: &str) -> Command {
    match path {
        [] => command.after_help(help.to_owned()),
        [first, rest @ ..] => {
            let (name, rest, help) = ((*first).to_owned(), rest.to_vec(), help.to_owned());
            command.mut_subcommand(name, move |inner| at(inner, &rest, &help))
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// The examples of the commands without subcommands. Each text has one example per line, and begins with the words of
/// its command.
const EXAMPLES: [&str; 59] = [
    "sealpost serve --dev\n\
     sealpost serve --listen 0.0.0.0:443 --tls-cert chain.pem --tls-key key.pem --base-url https://sealpost.example\n\
     sealpost serve --database-url postgres://sealpost@db/sealpost --kek-file /etc/sealpost/kek",
    "sealpost demo",
    "sealpost doctor\nsealpost doctor --json --database-url postgres://sealpost@db/sealpost --kek-file kek",
    "sealpost backup sealpost-2026-01-31.db",
    "sealpost restore sealpost-2026-01-31.db\n\
     sealpost restore sealpost-2026-01-31.db --journal /mnt/copy/revocations-5f0c2a71.log",
    "sealpost move --from sqlite:./sealpost-data/sealpost.db --to postgres://sealpost@/sealpost\n\
     sealpost move --from sqlite:/var/lib/sealpost/sealpost.db --to postgres://sealpost@db/sealpost \
     --kek-file /etc/sealpost/kek",
    "sealpost migrate --database-url postgres://sealpost@db/sealpost",
    "sealpost completions bash\nsealpost completions zsh\nsealpost completions fish",
    "sealpost man\nsealpost man --dir /usr/local/share/man/man1",
    "sealpost kek new\nsealpost kek new --version 2",
    "sealpost kek shares --threshold 2 --of 3",
    "sealpost listen --forward-to http://127.0.0.1:3000/hook --secret-file secret.txt\n\
     sealpost listen --forward-to http://127.0.0.1:3000/hook --did-json did.json --json\n\
     sealpost listen --register\n\
     sealpost listen --relay --forward-to http://127.0.0.1:3000/hook",
    "sealpost verify --headers headers.txt --body body.json --secret-file secret.txt\n\
     sealpost verify --headers headers.txt --body body.json --did-json did.json",
    "sealpost witness --name witness.example.net --folder witness \
     --log example.org/log+1eebe5bf+AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAh",
    "sealpost verify-proof alice.tlog-proof --policy policy.txt\n\
     sealpost verify-proof alice.tlog-proof --policy policy.txt --at 1764208800 --json",
    "sealpost admin account close acct_01kxk83ffmfe7rw98sdqcq10h0 --yes",
    "sealpost admin account erase acct_01kxk83ffmfe7rw98sdqcq10h0 --yes --json",
    "sealpost admin account list\n\
     sealpost admin account list --limit 1000 --cursor acct_01kxk83ffmfe7rw98sdqcq10h0 --json",
    "sealpost admin account show acct_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin account reset-secret acct_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin assess ak_01kxk83ffmfe7rw98sdqcq10h0 --clarity 0.81 --coherence 0.70 --confidence 0.95 --drift 0.04",
    "sealpost admin attest ak_01kxk83ffmfe7rw98sdqcq10h0 --check identity_verified --valid-until 2027-01-31\n\
     sealpost admin attest ak_01kxk83ffmfe7rw98sdqcq10h0 --check sanctions_screened --failed --reason 'a hit, under review'",
    "sealpost admin badge revoke bdg_01kxk83ffmfe7rw98sdqcq10h0 --reason 'withdrawn'",
    "sealpost admin handle assign support ak_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin handle release bob",
    "sealpost admin invite create\n\
     sealpost admin invite create --uses 10 --expires 7d --note 'workshop in May' --json",
    "sealpost admin invite list",
    "sealpost admin invite revoke ivt_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin log restart --yes",
    "sealpost admin issuer list",
    "sealpost admin issuer rotate",
    "sealpost admin audit list --limit 20\nsealpost admin audit list --after 0 --limit 1000 --json",
    "sealpost admin audit verify",
    "sealpost admin governance propose ak_01kxk83ffmfe7rw98sdqcq10h0 --reason 'under review'",
    "sealpost admin governance enforce ak_01kxk83ffmfe7rw98sdqcq10h0 --reason 'council decision 12'",
    "sealpost admin governance lift acct_01kxk83ffmfe7rw98sdqcq10h0 --reason 'appeal granted'",
    "sealpost admin journal complete --data-dir /var/lib/sealpost",
    "sealpost admin kek adopt-rows --kek-file /etc/sealpost/kek",
    "sealpost admin kek move --to exec:/usr/local/bin/sealpost-kek\n\
     sealpost admin kek move --to exec:/usr/local/bin/sealpost-kek --finish",
    "sealpost admin kek retire 1 --yes",
    "sealpost admin kek rotate --kek-file /etc/sealpost/kek",
    "sealpost admin key show ak_01kxk83ffmfe7rw98sdqcq10h0 --json",
    "sealpost admin key list --status deactivated\n\
     sealpost admin key list --account acct_01kxk83ffmfe7rw98sdqcq10h0 --plan builder --json\n\
     sealpost admin key list --handle alice",
    "sealpost admin key deactivate ak_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin key reactivate ak_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin key rotate ak_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin key revoke ak_01kxk83ffmfe7rw98sdqcq10h0 --yes",
    "sealpost admin partner assign acct_01kxk83ffmfe7rw98sdqcq10h0 acme",
    "sealpost admin partner suspend acme --reason 'contract ended'",
    "sealpost admin partner restore acme --reason 'contract renewed'",
    "sealpost admin plan set ak_01kxk83ffmfe7rw98sdqcq10h0 builder\n\
     sealpost admin plan set ak_01kxk83ffmfe7rw98sdqcq10h0 enterprise --per-minute 5000 --per-day 500000 \
     --per-month 5000000 --per-second 2000\n\
     sealpost admin plan set ak_01kxk83ffmfe7rw98sdqcq10h0 enterprise --per-month 9000000 --keep-limits",
    "sealpost admin recover\n\
     sealpost admin recover --journal node-2/revocations-5f0c2a71.log --journal node-3/revocations-5f0c2a71.log",
    "sealpost admin session end acct_01kxk83ffmfe7rw98sdqcq10h0\nsealpost admin session end --all",
    "sealpost admin token list acct_01kxk83ffmfe7rw98sdqcq10h0 --json",
    "sealpost admin token revoke tok_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin webhook list --account acct_01kxk83ffmfe7rw98sdqcq10h0\n\
     sealpost admin webhook list --key ak_01kxk83ffmfe7rw98sdqcq10h0 --json",
    "sealpost admin webhook disable wh_01kxk83ffmfe7rw98sdqcq10h0",
    "sealpost admin stats --json",
    "sealpost console hash alice --role operator\n\
     sealpost console hash dashboard",
];

/// The examples of commands with subcommands, each with the words of its command.
const GROUP_EXAMPLES: [(&str, &str); 4] = [
    ("", "sealpost serve --dev\nsealpost demo\nsealpost admin key show --help"),
    ("admin", "sealpost admin key show ak_01kxk83ffmfe7rw98sdqcq10h0"),
    ("kek", "sealpost kek new"),
    ("console", "sealpost console hash alice --role operator"),
];

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::{self, Cli};

    /// Returns the words of each command that has no subcommands.
    fn leaves(command: &Command, path: &str) -> Vec<String> {
        let inner: Vec<_> =
            command.get_subcommands().filter(|inner| inner.get_name() != "help").collect();
        if inner.is_empty() {
            return vec![path.to_owned()];
        }
        let below = |inner: &&Command| leaves(inner, format!("{path} {}", inner.get_name()).trim());
        inner.iter().flat_map(below).collect()
    }

    /// Splits a shell line at spaces outside single quotes.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate().flat_map(|(number, part)| {
            if number % 2 == 1 {
                vec![part.to_owned()]
            } else {
                part.split_whitespace().map(str::to_owned).collect()
            }
        });
        parts.collect()
    }

    #[track_caller]
    fn parses(line: &str) {
        let parsed = cli::command().try_get_matches_from(words(line));
        let is_help = |error: &clap::Error| !error.use_stderr();
        assert!(parsed.as_ref().err().is_none_or(is_help), "{line}: {}", parsed.unwrap_err());
    }

    #[test]
    fn every_command_has_an_example_and_every_example_is_parsed() {
        let command = Cli::command();
        for leaf in leaves(&command, "") {
            let of_it = examples(&command).find(|(path, _)| path.join(" ") == leaf);
            let (_, text) = of_it.unwrap_or_else(|| panic!("{leaf} has no example"));
            for line in text.lines() {
                assert!(line.starts_with(&format!("sealpost {leaf}")), "{line}");
            }
        }
        for line in examples(&command).flat_map(|(_, text)| text.lines()) {
            parses(line);
        }
    }

    #[test]
    fn the_files_for_operators_use_existing_commands_and_settings() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating");
        let unit = fs::read_to_string(top.join("sealpost.service")).unwrap();
        let image = fs::read_to_string(top.join("Dockerfile")).unwrap();
        let started = unit.lines().filter_map(|line| line.split_once("/usr/local/bin/"));
        let calls: Vec<_> = started.filter(|(key, _)| key.starts_with("ExecStart")).collect();
        assert_eq!(calls.len(), 2);
        for (_, call) in calls {
            parses(call);
        }
        assert!(image.contains("ENTRYPOINT [\"/usr/local/bin/sealpost\"]\nCMD [\"serve\"]"));
        let command = Cli::command();
        let serve = command.find_subcommand("serve").unwrap();
        let known: Vec<_> = serve.get_arguments().filter_map(clap::Arg::get_env).collect();
        let others = [
            "compose.yml",
            "kubernetes.yml",
            "administration.md",
            "backup.md",
            "installation.md",
            "keys.md",
            "postgresql.md",
            "sizing.md",
            "tls.md",
            "../../bins/sealpost/packaging/debian/env",
        ];
        let others = others.map(|name| fs::read_to_string(top.join(name)).unwrap());
        for word in [unit, image].iter().chain(&others).flat_map(|text| {
            text.split(|symbol: char| !symbol.is_ascii_uppercase() && symbol != '_')
        }) {
            if word.starts_with("SEALPOST_") && word != "SEALPOST_KEK" {
                assert!(known.iter().any(|name| *name == word), "{word}");
            }
        }
    }
}
