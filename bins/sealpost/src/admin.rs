//! `sealpost admin`: what operators do, on the database itself, while servers run or not. Every act goes through
//! [`Operator`] and so into the audit trail.

mod actor;
mod audit;
mod badge;
mod governance;
mod issuer;
mod kek;
mod kek_file;
mod key;
mod output;
mod partner;
mod plan;

use std::sync::Arc;

use sealpost_domain::Clock;
use sealpost_node::{DatabaseSettings, SystemClock, database_error, open_database};
use sealpost_service::{Operator, OperatorError};
use sealpost_storage::{Database, DatabaseUrl};

use self::output::Output;
use crate::{
    cli::{AdminArgs, DatabaseArgs, Noun},
    fault::Fault,
};

/// Does what the operator asks for.
pub(crate) fn run(args: &AdminArgs) -> Result<(), Fault> {
    let desk = Desk::open(&args.database)?;
    let output = Output { json: args.json };
    match &args.noun {
        Noun::Assess(args) => badge::assess(&desk, output, args),
        Noun::Attest(args) => badge::attest(&desk, output, args),
        Noun::Audit(command) => audit::run(&desk, output, command),
        Noun::Badge(command) => badge::run(&desk, output, command),
        Noun::Governance(command) => governance::run(&desk, output, command),
        Noun::Issuer(command) => issuer::run(&desk, output, command),
        Noun::Kek(command) => kek::run(&desk, output, command),
        Noun::Key(command) => key::run(&desk, output, command),
        Noun::Partner(command) => partner::run(&desk, output, command),
        Noun::Plan(command) => plan::run(&desk, output, command),
    }
}

/// An operator, and the database that the acts are on.
struct Desk {
    operator: Operator,
    database: Arc<Database>,
    settings: DatabaseSettings,
}

impl Desk {
    /// Opens the database next to whoever serves it. One that is not there, or is behind, is left alone.
    fn open(args: &DatabaseArgs) -> Result<Self, Fault> {
        let settings = DatabaseSettings::from(args);
        let url = settings.database_url();
        refuse_missing(&url)?;
        let database = Arc::new(open_database(&settings, &url)?);
        let pending = database.pending_migrations().map_err(database_error)?;
        if !pending.is_empty() {
            return Err(Fault::new(format!(
                "the database is {} migrations behind this version; run `sealpost migrate` first",
                pending.len()
            )));
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let operator = Operator::new(Arc::<Database>::clone(&database), clock, actor::name());
        Ok(Self { operator, database, settings })
    }
}

fn refuse_missing(url: &DatabaseUrl) -> Result<(), Fault> {
    match url {
        DatabaseUrl::Sqlite(file) if !file.exists() => Err(Fault::new(format!(
            "there is no database {}; say where it is with --data-dir or --database-url",
            file.display()
        ))),
        DatabaseUrl::Postgres(_) | DatabaseUrl::Sqlite(_) => Ok(()),
    }
}

impl From<OperatorError> for Fault {
    fn from(error: OperatorError) -> Self {
        Self::of(&error)
    }
}
