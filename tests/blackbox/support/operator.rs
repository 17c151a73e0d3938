//! Operator commands (`sealpost admin`) and direct changes of the database, while servers run.

use std::process::Command;

use diesel::{
    Connection as _, PgConnection, RunQueryDsl as _, SqliteConnection,
    connection::SimpleConnection,
    dsl::sql,
    sql_types::{BigInt, Text},
};
use serde_json::Value;

use super::{Client, Database, Identity, binary, run};

impl Database {
    /// Returns the command `sealpost admin` with these arguments, on this database.
    pub(crate) fn admin_command(&self, arguments: &[&str]) -> Command {
        let mut command = binary(&["admin"]);
        command.args(arguments).args(["--data-dir", &self.data()]);
        if let Some(url) = self.postgres_url() {
            command.args(["--database-url", url]);
        }
        let takes_keys = matches!(
            arguments,
            ["kek" | "issuer", "rotate", ..]
                | ["kek", "move" | "adopt-rows", ..]
                | ["account", "reset-secret", ..]
                | ["journal", "complete", ..]
                | ["recover", ..]
        );
        if takes_keys {
            command.args(self.key_arguments());
        }
        let asks = matches!(
            arguments,
            ["key", "revoke", ..]
                | ["account", "close" | "erase", ..]
                | ["log", "restart", ..]
                | ["kek", "retire", ..]
        );
        if asks && !arguments.contains(&"--help") {
            command.arg("--yes");
        }
        command
    }

    /// Runs an operator command, and returns the JSON object that it prints.
    #[track_caller]
    pub(crate) fn operate(&self, arguments: &[&str]) -> Value {
        let stdout = run(self.admin_command(&[arguments, &["--json"]].concat())).ok();
        let value: Value = serde_json::from_str(&stdout).unwrap();
        assert!(value.is_object() && stdout.ends_with('\n'), "{stdout}");
        value
    }

    /// Runs an operator command, and returns the JSON objects that it prints, one per line.
    #[track_caller]
    pub(crate) fn operate_lines(&self, arguments: &[&str]) -> Vec<Value> {
        let stdout = run(self.admin_command(&[arguments, &["--json"]].concat())).ok();
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs an operator command that must fail with this exit status. Returns its error, a single line.
    #[track_caller]
    pub(crate) fn operate_refused(&self, status: i32, arguments: &[&str]) -> String {
        run(self.admin_command(arguments)).refused(status)
    }

    /// Puts a key on the enterprise plan. `numbers` are the limits: requests per minute and per day, messages per month
    /// and per second.
    #[track_caller]
    pub(crate) fn set_enterprise(&self, key: &str, numbers: [u32; 4]) {
        let [minute, day, month, second] = numbers.map(|number| number.to_string());
        let terms = ["--per-minute", &minute, "--per-day", &day, "--per-month", &month];
        let plan = ["plan", "set", key, "enterprise", "--per-second", &second];
        self.operate(&[&plan[..], &terms].concat());
    }

    /// Creates two API keys in separate accounts with high limits, for tests with many requests.
    #[track_caller]
    pub(crate) fn busy_pair(&self, client: &Client) -> (Identity, Identity) {
        let (alice, bob) = (client.new_identity(), client.new_identity());
        for identity in [&alice, &bob] {
            self.set_enterprise(&identity.key, [100_000, 100_000, 100_000, 10_000]);
        }
        (alice, bob)
    }

    /// Records the scores of a key: clarity, coherence, confidence and drift. Returns the output of the command.
    #[track_caller]
    pub(crate) fn assess(&self, key: &str, scores: [&str; 4]) -> Value {
        let [clarity, coherence, confidence, drift] = scores;
        let metrics = ["--clarity", clarity, "--coherence", coherence, "--confidence", confidence];
        self.operate(&[&["assess", key, "--drift", drift], &metrics[..]].concat())
    }

    /// Returns the entries of the audit trail, oldest first.
    #[track_caller]
    pub(crate) fn audit(&self) -> Vec<Value> {
        self.operate(&["audit", "list"])["entries"].as_array().unwrap().clone()
    }

    /// Executes SQL statements directly on the database.
    pub(crate) fn by_hand(&self, statements: &str) {
        match self.postgres_url() {
            Some(url) => PgConnection::establish(url).unwrap().batch_execute(statements).unwrap(),
            None => self.sqlite().batch_execute(statements).unwrap(),
        }
    }

    /// Counts rows with SQL. `of` is the text after `FROM`: a table, with an optional condition.
    pub(crate) fn count(&self, of: &str) -> i64 {
        let query = sql::<BigInt>(&format!("SELECT count(*) FROM {of}"));
        match self.postgres_url() {
            Some(url) => query.get_result(&mut PgConnection::establish(url).unwrap()).unwrap(),
            None => query.get_result(&mut self.sqlite()).unwrap(),
        }
    }

    /// Reads a text with SQL. `from` is the text after `FROM`: a table with one row, or with a condition.
    pub(crate) fn text(&self, column: &str, from: &str) -> String {
        let query = sql::<Text>(&format!("SELECT {column} FROM {from}"));
        match self.postgres_url() {
            Some(url) => query.get_result(&mut PgConnection::establish(url).unwrap()).unwrap(),
            None => query.get_result(&mut self.sqlite()).unwrap(),
        }
    }

    /// Reads bytes with SQL, as hexadecimal digits.
    pub(crate) fn hex(&self, column: &str, from: &str) -> String {
        let digits = match self.postgres_url() {
            Some(_) => format!("encode({column}, 'hex')"),
            None => format!("lower(hex({column}))"),
        };
        self.text(&digits, from)
    }

    fn sqlite(&self) -> SqliteConnection {
        let mut connection =
            SqliteConnection::establish(&self.file().display().to_string()).unwrap();
        connection.batch_execute("PRAGMA busy_timeout = 10000").unwrap();
        connection
    }
}
