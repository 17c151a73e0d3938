//! What an operator does to a database while servers run on it: the commands, and what nobody should do by hand.

use std::process::Command;

use diesel::{
    Connection as _, PgConnection, RunQueryDsl as _, SqliteConnection,
    connection::SimpleConnection, dsl::sql, sql_types::BigInt,
};
use serde_json::Value;

use super::{AttemptSummary, Client, Database, Identity, binary, run};

impl Database {
    /// `sealpost admin` with these arguments, on this database.
    pub(crate) fn admin_command(&self, arguments: &[&str]) -> Command {
        let mut command = binary(&["admin"]);
        command.args(arguments).args(["--data-dir", &self.data()]);
        if let Some(url) = self.postgres_url() {
            command.args(["--database-url", url]);
        }
        let takes_keys = matches!(arguments, ["kek", ..] | ["issuer", "rotate", ..]);
        if takes_keys && self.postgres_url().is_some() {
            command.arg("--kek-file").arg(self.kek_file());
        }
        command
    }

    /// Does it, and gives the one JSON object that it prints.
    #[track_caller]
    pub(crate) fn operate(&self, arguments: &[&str]) -> Value {
        let AttemptSummary { status, stdout, stderr } =
            run(self.admin_command(&[arguments, &["--json"]].concat()));
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{arguments:?}: {stdout}");
        let value: Value = serde_json::from_str(&stdout).unwrap();
        assert!(value.is_object() && stdout.ends_with('\n'), "{stdout}");
        value
    }

    /// The one line that it says when it does not do it.
    #[track_caller]
    pub(crate) fn operate_in_vain(&self, status: i32, arguments: &[&str]) -> String {
        let ended = run(self.admin_command(arguments));
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(status), ""), "{ended:?}");
        assert!(ended.stderr.starts_with("sealpost: ") && ended.stderr.ends_with('\n'));
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        ended.stderr
    }

    /// Puts a key on enterprise: requests a minute and a day, messages a month and a second.
    #[track_caller]
    pub(crate) fn set_enterprise(&self, key: &str, numbers: [u32; 4]) {
        let [minute, day, month, second] = numbers.map(|number| number.to_string());
        let terms = ["--per-minute", &minute, "--per-day", &day, "--per-month", &month];
        let plan = ["plan", "set", key, "enterprise", "--per-second", &second];
        self.operate(&[&plan[..], &terms].concat());
    }

    /// Two newcomers who may ask as often as they like.
    #[track_caller]
    pub(crate) fn busy_pair(&self, client: &Client) -> (Identity, Identity) {
        let (alice, bob) = (client.newcomer(), client.newcomer());
        for who in [&alice, &bob] {
            self.set_enterprise(&who.key, [100_000, 100_000, 100_000, 10_000]);
        }
        (alice, bob)
    }

    /// Statements past the service.
    pub(crate) fn by_hand(&self, statements: &str) {
        match self.postgres_url() {
            Some(url) => PgConnection::establish(url).unwrap().batch_execute(statements).unwrap(),
            None => self.sqlite().batch_execute(statements).unwrap(),
        }
    }

    /// How many rows there are, of what follows `FROM`.
    pub(crate) fn count(&self, of: &str) -> i64 {
        let query = sql::<BigInt>(&format!("SELECT count(*) FROM {of}"));
        match self.postgres_url() {
            Some(url) => query.get_result(&mut PgConnection::establish(url).unwrap()).unwrap(),
            None => query.get_result(&mut self.sqlite()).unwrap(),
        }
    }

    fn sqlite(&self) -> SqliteConnection {
        let mut connection =
            SqliteConnection::establish(&self.file().display().to_string()).unwrap();
        connection.batch_execute("PRAGMA busy_timeout = 10000").unwrap();
        connection
    }
}
