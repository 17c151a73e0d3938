//! `sealpost restore`: replaces the embedded database by a backup.

use sealpost_node::{
    restore,
    settings::{DatabaseSettings, KeySettings},
};
use sealpost_service::{DatabaseRecovered, Operator};

use crate::{admin::actor, cli::RestoreArgs, command_error::CommandError, terminal::print};

/// Restores the backup, and prints the changes that the revocation journal caused.
pub(crate) fn run(args: &RestoreArgs) -> Result<(), CommandError> {
    let settings = DatabaseSettings::from(&args.database);
    let keys = (!args.without_keys).then(|| KeySettings::try_from(&args.keks)).transpose()?;
    let restored = restore(&settings, keys.as_ref(), &args.file, &args.journal, |store, clock| {
        Operator::new(store, clock, actor::name())
            .by_process(actor::process())
            .giving_reason("restore of a backup")
    })?;
    let DatabaseRecovered {
        keys_revoked,
        keys_deactivated,
        accounts_closed,
        accounts_erased,
        secrets_replaced,
        badges_revoked,
        api_tokens_revoked,
        api_tokens_ended,
        sessions_ended,
    } = restored.recovery.database;
    let journals = match &restored.recovery.journals[..] {
        [] => "no revocation journal was found: repeat revocations by hand\n".to_owned(),
        files => {
            let lines = files.iter().map(|file| {
                let is_foreign = restored.recovery.foreign_journals.contains(file);
                format!("applied {}{}\n", file.display(), if is_foreign { FOREIGN } else { "" })
            });
            lines.collect::<Vec<_>>().concat()
        }
    };
    let damaged = match restored.recovery.damaged_lines {
        0 => String::new(),
        lines => format!("skipped {lines} damaged lines: compare with the audit trail\n"),
    };
    let replaced = restored.replaced.map_or_else(String::new, |file| {
        format!(
            "the replaced database is {}: delete it when you no longer need it\n",
            file.display()
        )
    });
    let log = if restored.lacks_log { WITHOUT_LOG } else { "" };
    let tokens = api_tokens_revoked.saturating_add(api_tokens_ended);
    let report = format!(
        "restored {} to {}\n{log}{journals}{damaged}revoked {keys_revoked} keys and {badges_revoked} badges, deactivated \
         {keys_deactivated} keys, closed {accounts_closed} and erased {accounts_erased} accounts, replaced the secrets of \
         {secrets_replaced} accounts, ended {sessions_ended} sessions and {tokens} API tokens\n{replaced}",
        args.file.display(),
        restored.database.display()
    );
    print(report)
}

const FOREIGN: &str = ", which belongs to another database: repeat revocations by hand, or restore again with the journal \
    of this database";
const WITHOUT_LOG: &str = "the backup is the file of a server, without a write-ahead log beside it: if the server was \
    killed, its newest changes are missing; then restore again with its file sealpost.db-wal beside the backup\n";
