//! Tests of the issuer keys, with which the service signs: their publication in `did.json`, and their rotation on every
//! node.

use std::time::Duration;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};

use crate::support::{
    Database, SOON, Server, at_once, eventually, on_both, on_embedded, read_did_document, run,
    text, wait_until,
};

on_both!(
    the_document_is_public_short_lived_and_the_same_everywhere,
    servers_started_at_the_same_time_share_one_key,
    a_rotated_key_is_published_on_every_node_before_it_signs,
);
on_embedded!(
    libraries_of_other_authors_read_every_form_of_the_keys,
    a_base_url_with_a_path_has_a_did_with_a_path,
    an_invalid_base_url_is_rejected_at_startup,
);

fn document(server: &Server) -> Value {
    let response = server.get("/.well-known/did.json");
    assert_eq!(response.status, 200);
    response.json()
}

/// Returns the ids of the published issuer keys.
fn kids(server: &Server) -> Vec<String> {
    methods(&document(server), "JsonWebKey")
        .iter()
        .map(|method| text(&method["publicKeyJwk"], "kid"))
        .collect()
}

/// Returns the keys of a document that have this form. Each form has all keys, in the same order.
fn methods<'a>(document: &'a Value, form: &str) -> Vec<&'a Value> {
    let methods = document["verificationMethod"].as_array().unwrap();
    methods.iter().filter(|method| method["type"] == form).collect()
}

/// Returns the issuer keys in the text form of Standard Webhooks libraries (`whpk_…`).
fn webhook_keys(document: &Value) -> Vec<String> {
    let of = |form| -> Vec<_> {
        let methods = methods(document, form).into_iter();
        methods.map(|method| text(method, "standardWebhooksKey")).collect()
    };
    assert_eq!(of("JsonWebKey"), of("Multikey"));
    of("JsonWebKey")
}

/// Converts the JSON Web Key of a verification method to the text form of Standard Webhooks libraries.
fn of_jwk(method: &Value) -> String {
    let bytes = URL_SAFE_NO_PAD.decode(text(&method["publicKeyJwk"], "x")).unwrap();
    format!("whpk_{}", STANDARD.encode(bytes))
}

fn the_document_is_public_short_lived_and_the_same_everywhere(database: &Database) {
    let nodes = database.serve_on_every_node();
    let response = eventually("the document names the log", SOON, || {
        let response = nodes[0].get("/.well-known/did.json");
        response.json().get("service").is_some().then_some(response)
    });
    let log = response.json()["service"][0].clone();
    assert_eq!(log["serviceEndpoint"], format!("{}/log", nodes[0].url));
    let key = nodes[0].get("/log/").body;
    assert_eq!(format!("{}\n", text(&log, "logKey")).into_bytes(), key);
    assert_eq!(response.header("content-type"), Some("application/did+json"));
    assert_eq!(response.header("cache-control"), Some("public, max-age=3"));
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    let document = response.json();
    let did = nodes[0].url.replace("http://127.0.0.1:", "did:web:127.0.0.1%3A");
    let kid = text(&document["verificationMethod"][0]["publicKeyJwk"], "kid");
    let multibase = text(&document["verificationMethod"][1], "publicKeyMultibase");
    let ids = json!([format!("{did}#{kid}"), format!("{did}#{multibase}")]);
    assert_eq!((&document["id"], &document["assertionMethod"]), (&json!(did), &ids));
    assert_eq!(nodes[0].get("/did.json").json(), document);
    assert_eq!(webhook_keys(&document), [of_jwk(&document["verificationMethod"][0])]);
    for node in &nodes {
        assert_eq!(kids(node), std::slice::from_ref(&kid));
        node.post("/.well-known/did.json").response().refused(405, "METHOD_NOT_ALLOWED");
    }
}

fn libraries_of_other_authors_read_every_form_of_the_keys(database: &Database) {
    let server = database.serve();
    database.operate(&["issuer", "rotate"]);
    let document = eventually("both keys are published", SOON, || {
        let document = document(&server);
        (methods(&document, "JsonWebKey").len() == 2).then_some(document)
    });
    let read = read_did_document(&document);
    let ids = |form| -> Vec<_> {
        methods(&document, form).iter().map(|method| text(method, "id")).collect()
    };
    assert_eq!(read.by_pydid, ids("Multikey"));
    // JSON-LD has a property of this IRI for each of the four methods, because no context drops a member.
    let expanded = read.by_jsonld.to_string();
    assert_eq!(expanded.matches("urn:sealpost:standardWebhooksKey").count(), 4, "{expanded}");
    assert_eq!(expanded.matches("https://w3id.org/security#publicKeyMultibase").count(), 2);
    assert_eq!(expanded.matches("https://w3id.org/security#publicKeyJwk").count(), 2);
}

fn servers_started_at_the_same_time_share_one_key(database: &Database) {
    if database.postgres_url().is_none() {
        // An embedded database has one server. The server loads the same key after a restart.
        let server = database.serve();
        let before = kids(&server);
        server.stop();
        assert_eq!(kids(&database.serve()), before);
        return;
    }
    // The servers also migrate the database at the same time.
    let database = Database::empty_postgres();
    let nodes = at_once(3, |_| database.serve());
    assert_eq!(database.count("issuer_keys"), 1);
    assert!(nodes.iter().all(|node| kids(node) == kids(&nodes[0])));
}

fn a_rotated_key_is_published_on_every_node_before_it_signs(database: &Database) {
    let nodes = database.serve_on_every_node();
    let first = kids(&nodes[0]).remove(0);
    let fresh = text(&database.operate(&["issuer", "rotate"]), "kid");
    for node in &nodes {
        let expected = [first.clone(), fresh.clone()];
        eventually("the key is published", Duration::from_secs(5), || {
            (kids(node) == expected).then_some(())
        });
    }
    let statuses = || {
        let keys = database.operate_lines(&["issuer", "list"]);
        keys.iter().map(|key| (text(key, "kid"), text(key, "status"))).collect::<Vec<_>>()
    };
    let is = |of: &str, status: &str| (of.to_owned(), status.to_owned());
    assert_eq!(
        statuses(),
        [is(&first, "signing"), is(&fresh, "announced")],
        "the new key is published before it signs"
    );
    wait_until("the key signs", || statuses() == [is(&first, "past"), is(&fresh, "signing")]);
    let entry = &database.operate(&["audit", "list"])["entries"][0];
    assert_eq!(entry["action"], "issuer.rotate");
    assert!(text(entry, "detail").contains(&fresh));
    let listed = database.operate_lines(&["issuer", "list"]);
    let keys: Vec<_> = listed.iter().map(|key| text(key, "whpk")).collect();
    assert_eq!(
        keys,
        webhook_keys(&document(&nodes[0])),
        "operators and receivers see the same keys"
    );
    let lines = run(database.admin_command(&["issuer", "list"])).stdout;
    assert!(lines.lines().zip(&keys).all(|(line, key)| line.ends_with(key)), "{lines}");
}

fn a_base_url_with_a_path_has_a_did_with_a_path(database: &Database) {
    let server = database.serve_with(&["--base-url", "https://Example.org:8443/seal/"]);
    assert_eq!(document(&server)["id"], "did:web:example.org%3A8443:seal");
}

fn an_invalid_base_url_is_rejected_at_startup(database: &Database) {
    for address in ["example.org", "https://example.org/?a", "ftp://example.org"] {
        let ended = run(database.command(&["--base-url", address]));
        assert_eq!(ended.status, Some(1));
        assert!(ended.stderr.contains("--base-url"), "{}", ended.stderr);
    }
}
