//! Tests that write access to the database alone logs nobody in, widens no right, and undoes no revocation.

use crate::support::{Database, Identity, binary, on_both, run, text};

on_both!(
    a_forged_session_is_no_session,
    a_forged_secret_is_no_login,
    a_forged_api_token_has_no_rights,
    a_key_given_to_another_account_acts_for_nobody,
    rows_of_an_earlier_version_are_adopted_by_command,
);

fn a_forged_session_is_no_session(database: &Database) {
    let server = database.serve();
    let (mallory, victim) = (server.new_identity(), server.new_identity());
    // The account of a session of one's own, and the expiry. The server caches neither session yet.
    let moved = server.new_session(&mallory).token;
    database.by_hand(&format!(
        "UPDATE sessions SET account_id = '{}' WHERE account_id = '{}'",
        victim.account, mallory.account
    ));
    for token in [&moved, &mallory.token] {
        let as_victim = Identity { token: token.clone(), ..victim.clone() };
        server.status(&as_victim).refused(401, "UNAUTHORIZED");
        let list = server.post("/v1/auth/tokens/list").token(token);
        list.response().refused(401, "UNAUTHORIZED");
    }
    let longer = server.new_session(&mallory).token;
    database.by_hand(&format!(
        "UPDATE sessions SET expires_at = expires_at + 1000000 WHERE account_id = '{}'",
        mallory.account
    ));
    let list = |token: &str| server.post("/v1/auth/tokens/list").token(token).response();
    list(&longer).refused(401, "UNAUTHORIZED");
    // A row with the tag of another row.
    let donor = server.new_session(&mallory).token;
    list(&donor).ok();
    database.by_hand(&format!(
        "UPDATE sessions SET account_id = '{0}', \
         tag = (SELECT s.tag FROM sessions AS s WHERE s.account_id = '{0}' LIMIT 1) WHERE account_id = '{1}'",
        victim.account, mallory.account
    ));
    list(&donor).refused(401, "UNAUTHORIZED");
    // The rows of the victim are untouched, and the server explains the refusals.
    server.status(&victim).ok();
    assert!(server.log().contains("a row does not have its tag"), "{}", server.log());
    server.stop();
}

fn a_forged_secret_is_no_login(database: &Database) {
    let server = database.serve();
    let (mallory, victim) = (server.new_identity(), server.new_identity());
    let secret = mallory.login_secret.clone().unwrap();
    let copy = |column: &str| {
        format!("{column} = (SELECT {column} FROM accounts WHERE id = '{}')", mallory.account)
    };
    database.by_hand("CREATE TABLE kept AS SELECT * FROM accounts");
    let restore = || {
        database.by_hand(
            "UPDATE accounts SET login_secret = k.login_secret, recovery_code = k.recovery_code, tag = k.tag, \
             closed_at = k.closed_at FROM kept AS k WHERE k.id = accounts.id",
        );
    };
    for change in [
        copy("login_secret"),
        [copy("login_secret"), copy("recovery_code"), copy("tag")].join(", "),
        "tag = NULL".to_owned(),
    ] {
        database.by_hand(&format!("UPDATE accounts SET {change} WHERE id = '{}'", victim.account));
        server.login(&victim.account, &secret).refused(401, "UNAUTHORIZED");
        restore();
    }
    server.new_session(&victim);
    // A closed account stays closed, with the secrets of another account.
    database.operate(&["account", "close", &victim.account]);
    let reopen = [copy("login_secret"), "closed_at = NULL".to_owned()].join(", ");
    database.by_hand(&format!("UPDATE accounts SET {reopen} WHERE id = '{}'", victim.account));
    server.login(&victim.account, &secret).refused(401, "UNAUTHORIZED");
    // An operator without the keys cannot set secrets; with the keys, the new secrets are authenticated.
    if let Some(url) = database.postgres_url() {
        let mut command = database.admin_command(&["account", "show", &mallory.account]);
        command.args(["--json"]);
        assert!(run(command).stdout.contains(&mallory.account));
        let mut reset = binary(&["admin", "account", "reset-secret"]);
        reset.args([&mallory.account, "--database-url", url]);
        let refused = run(reset);
        assert!(refused.stderr.contains("--kek-file"), "{}", refused.stderr);
    }
    database.operate(&["account", "reset-secret", &mallory.account]);
    server.stop();
}

fn a_forged_api_token_has_no_rights(database: &Database) {
    let server = database.serve();
    let (mallory, victim) = (server.new_identity(), server.new_identity());
    let forge = |change: &str| {
        let token = server.token_with(&mallory, &["read"]);
        let bearer = Identity { token, ..mallory.clone() };
        server.status(&bearer).ok();
        database.by_hand(&format!("UPDATE api_tokens SET {change}"));
        bearer
    };
    let as_victim = format!("account_id = '{}', api_key_id = '{}'", victim.account, victim.key);
    for change in ["scopes = 'read,send,open'", "expires_at = expires_at + 1", &as_victim] {
        let forged = forge(change);
        // The token may be cached: an action that it does not allow reads the row again.
        let sent = server.send(&forged, &mallory.key, "x");
        assert!([401, 403].contains(&sent.status), "{change}: {sent:?}");
    }
    server.stop();
    let server = database.serve();
    for identity in [&mallory, &victim] {
        server.status(identity).ok();
    }
    let listed = server.post("/v1/auth/tokens/list").token(&victim.token).response().ok();
    assert_eq!(listed["tokens"].as_array().unwrap().len(), 3, "the forged tokens are stored");
    server.stop();
}

fn a_key_given_to_another_account_acts_for_nobody(database: &Database) {
    let server = database.serve();
    let (mallory, victim) = (server.new_identity(), server.new_identity());
    let letter = text(&server.send(&mallory, &victim.key, "secret").ok(), "envelope_id");
    let give_to = |account: &str| {
        let key = &victim.key;
        database
            .by_hand(&format!("UPDATE api_keys SET account_id = '{account}' WHERE id = '{key}'"));
    };
    server.stop();
    give_to(&mallory.account);
    let server = database.serve();
    let thief = Identity { key: victim.key.clone(), ..mallory.clone() };
    server.open(&thief, &letter).refused(500, "INTERNAL_ERROR");
    server.send(&thief, &mallory.key, "x").refused(500, "INTERNAL_ERROR");
    server.status(&thief).refused(500, "INTERNAL_ERROR");
    give_to(&victim.account);
    server.stop();
    let server = database.serve();
    assert_eq!(server.open(&victim, &letter).ok()["message"], "secret");
    server.stop();
}

fn rows_of_an_earlier_version_are_adopted_by_command(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let secret = alice.login_secret.clone().unwrap();
    database.by_hand("UPDATE accounts SET tag = NULL; UPDATE sessions SET tag = NULL");
    server.login(&alice.account, &secret).refused(401, "UNAUTHORIZED");
    server.stop();
    let adopted = database.operate(&["kek", "adopt-rows"]);
    assert!(adopted["adopted"].as_u64().unwrap() >= 2, "{adopted}");
    assert_eq!(database.operate(&["kek", "adopt-rows"])["adopted"], 0);
    let server = database.serve();
    server.status(&alice).ok();
    server.new_session(&alice);
    let entries = &database.operate(&["audit", "list", "--limit", "2"])["entries"];
    assert_eq!(entries[0]["action"], "kek.adopt");
    server.stop();
}
