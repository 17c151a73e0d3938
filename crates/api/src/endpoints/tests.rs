use std::{collections::BTreeSet, fs, path::Path};

use sealpost_domain::Refusal;

use super::*;
use crate::request::{Fields, RequestBody as _, similar};

#[test]
fn the_document_has_exactly_the_endpoints_of_the_table() {
    let mut rows = BTreeSet::new();
    let mut left_out = Vec::new();
    for Row { method, path, endpoint } in table() {
        if endpoint.operation.is_left_out {
            left_out.push(path);
        } else {
            let row = (path.to_owned(), method.as_str().to_ascii_lowercase());
            assert!(rows.insert(row), "{path} is in the table twice");
        }
    }
    let files = ["/log/", "/log/checkpoint", "/log/tile/{path}*"];
    assert_eq!(left_out, [["/v1/webhooks/relay"].as_slice(), &files].concat());
    let document = openapi("http://127.0.0.1:8080");
    let mut documented = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            documented.insert((path.clone(), method.clone()));
        }
    }
    assert_eq!(documented, rows, "the document and the table of endpoints differ");
}

#[test]
fn operation_ids_are_unique() {
    let document = openapi("http://127.0.0.1:8080");
    let items = document["paths"].as_object().unwrap().values();
    let operations = items.flat_map(|item| item.as_object().unwrap().values());
    let ids: Vec<_> = operations.map(|operation| operation["operationId"].as_str()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    assert!(ids.iter().all(|id| id.is_some_and(|id| !id.is_empty())), "{ids:?}");
}

/// Checks the form of the operation ids. Client generators use the ids as names of functions.
#[test]
fn operation_ids_are_a_verb_and_a_noun() {
    for row in table() {
        let id = row.endpoint.operation.id;
        let noun = VERBS.split(' ').find_map(|verb| id.strip_prefix(verb));
        assert!(
            noun.is_some_and(|noun| noun.starts_with(|first: char| first.is_ascii_uppercase())),
            "{id} is no verb with a noun: rename it, or add the verb to VERBS"
        );
    }
}

#[test]
fn an_empty_member_of_an_update_is_named_before_an_invalid_one() {
    for (body, field) in [
        (r#"{"webhook_id": 5, "url": ""}"#, "url"),
        (r#"{"webhook_id": 5, "events": []}"#, "events"),
        (r#"{"webhook_id": "", "url": ""}"#, "webhook_id"),
    ] {
        let update = UpdateWebhook::read(&mut Fields::parse(body.as_bytes()).unwrap());
        assert_eq!(update.err(), Some(Refusal::MissingField { field }), "{body}");
    }
}

/// Checks that no member of a request has a name similar to the name of a required member. If the required member were
/// missing, the error would otherwise report the other, valid member as its misspelling.
#[test]
fn no_member_of_a_request_is_similar_to_a_required_one() {
    let document = openapi("http://127.0.0.1:8080");
    let mut bodies = Vec::new();
    for row in table() {
        let operation = &document["paths"][row.path][row.method.as_str().to_ascii_lowercase()];
        collect_objects(&document, &operation["requestBody"]["content"], &mut bodies);
    }
    assert!(bodies.len() > 20, "{}", bodies.len());
    for body in bodies {
        let members = body["properties"].as_object().unwrap().keys();
        for required in body["required"].as_array().into_iter().flatten() {
            let required: &'static str = required.as_str().unwrap().to_owned().leak();
            for member in members.clone().filter(|member| *member != required) {
                assert_eq!(similar(member, &[required]), None, "{member}");
            }
        }
    }
}

/// Collects all schemas of objects with named members below `value`, following references.
fn collect_objects(document: &Value, value: &Value, found: &mut Vec<Value>) {
    if let Some(reference) = value["$ref"].as_str() {
        let pointer = reference.trim_start_matches('#');
        return collect_objects(document, document.pointer(pointer).unwrap(), found);
    }
    if value["properties"].is_object() {
        found.push(value.clone());
    }
    let inner = value.as_object().into_iter().flat_map(|object| object.values());
    for part in inner.chain(value.as_array().into_iter().flatten()) {
        collect_objects(document, part, found);
    }
}

/// Checks that routes are created only from the table. Any other route would be missing from the OpenAPI document.
#[test]
fn only_the_table_makes_routes() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            let has_routes = ["web::resource", "web::scope", "#[get(", "#[post(", "#[route("]
                .iter()
                .any(|pattern| text.contains(pattern));
            assert!(
                !has_routes || MAY_HAVE_ROUTES.contains(&&*name),
                "{name} has routes outside the table: add the endpoint to table() in crates/api/src/endpoints.rs"
            );
        }
    }
}

const VERBS: &str = "\
    activate check close connect create delete enable end export get issue list manage open \
    recover redeliver register resolve revoke rotate send set test update validate verify";
/// The only files that may create routes: the router, and this test, which contains the patterns it searches for.
const MAY_HAVE_ROUTES: &[&str] = &["mount.rs", "admin/endpoints.rs", "endpoints/tests.rs"];
