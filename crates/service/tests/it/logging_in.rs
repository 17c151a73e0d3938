//! Logins that meet a change of what they rely on.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use sealpost_domain::{
    Code,
    ports::{Durability, Lookup, OwnerLookup, Store, StoreError, Tx},
};
use sealpost_service::{Login, Scope, Sealpost, Settings};
use sealpost_storage::Database;

use crate::support::{World, refusal};

#[test]
fn a_login_that_the_secret_was_replaced_under_begins_no_session_on_sqlite() {
    a_login_that_the_secret_was_replaced_under_begins_no_session(World::new());
}

#[test]
fn a_login_that_the_secret_was_replaced_under_begins_no_session_on_postgres() {
    a_login_that_the_secret_was_replaced_under_begins_no_session(World::on_postgres(
        Settings::default(),
    ));
}

/// The owner throws everybody out while somebody with the old secret is let in.
fn a_login_that_the_secret_was_replaced_under_begins_no_session(world: World) {
    let activated = world.activate(None, None).unwrap();
    let account_id = activated.account_id.to_string();
    let login = |login_secret| Login { account_id: account_id.clone(), login_secret };
    let old = activated.login_secret.unwrap();
    let owner = world.sealpost.login(&login(old.clone())).unwrap().session_token;
    let database = Arc::clone(&world.database);
    let world = Arc::new(world);
    let meanwhile = {
        let world = Arc::clone(&world);
        move || throw_everybody_out(&world.sealpost, &owner)
    };
    let store = Arc::new(Interrupted { database, is_over: AtomicBool::new(false), meanwhile });
    let node = world.node_on(store, Settings::default());
    let refused = refusal(node.login(&login(old)));
    assert_eq!(refused.code(), Code::Unauthorized);
    assert!(refused.to_string().contains("login_secret is wrong"), "{refused}");
}

fn throw_everybody_out(sealpost: &Sealpost, token: &str) {
    sealpost.rotate_login_secret(Some(token), &Ok(())).unwrap();
    sealpost.logout(Some(token), Ok(Scope::Account)).unwrap();
}

/// A database whose first transaction begins only when something else is done.
struct Interrupted<F> {
    database: Arc<Database>,
    is_over: AtomicBool,
    meanwhile: F,
}

impl<F: Fn() + Send + Sync> Store for Interrupted<F> {
    fn begin(&self, durability: Durability) -> Result<Box<dyn Tx + '_>, StoreError> {
        if !self.is_over.swap(true, Ordering::SeqCst) {
            (self.meanwhile)();
        }
        self.database.begin(durability)
    }

    fn lookup(&self) -> Result<Box<dyn Lookup + '_>, StoreError> {
        self.database.lookup()
    }

    fn owner_lookup(&self) -> Result<Box<dyn OwnerLookup + '_>, StoreError> {
        self.database.owner_lookup()
    }

    fn check(&self) -> Result<(), StoreError> {
        self.database.check()
    }
}
