//! Opens an embedded database, stores an account and reads the account back: `cargo run -p sealpost-storage --example
//! embedded -- sqlite:/tmp/example.db`.

use std::{error::Error, sync::Arc};

use sealpost_domain::{
    Account, AccountId, AccountSecrets, Timestamp, TokenHash, ports::Durability,
};
use sealpost_storage::{Database, DatabaseUrl, Settings};
use sealpost_wallet::Keyring;

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn main() -> Result<(), Box<dyn Error>> {
    let url: DatabaseUrl = std::env::args().nth(1).ok_or("give the URL of a database")?.parse()?;
    let database = Database::open(&url, Settings::default())?;
    println!("{url:?}: applied {:?}", database.migrate()?);
    // Authenticates the rows of accounts.
    database.authenticate_rows(Arc::new(Keyring::generate(1)?));

    // Time and random bytes come from the caller.
    let now = Timestamp::from_millis(1_767_225_600_000);
    let [a, b, c, d] = std::process::id().to_be_bytes();
    let id = AccountId::new(now, [a, b, c, d, 0, 0, 0, 0, 0, 0]);
    let secrets =
        AccountSecrets { login_secret: TokenHash([1; 32]), recovery_code: TokenHash([2; 32]) };
    let account = Account { id, secrets, created_at: now };

    database.write(Durability::Durable, |tx| tx.insert_account(&account))?;
    let secret = database.read(|reader| reader.find_login_secret(&id))?;
    println!(
        "{id} has the login secret that was stored: {}",
        secret == Some(account.secrets.login_secret)
    );
    Ok(())
}
