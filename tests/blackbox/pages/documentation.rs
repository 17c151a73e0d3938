//! Tests of the documentation pages, the landing page and the OpenAPI document.

use std::{collections::BTreeSet, process::Command};

use serde_json::json;

use crate::support::{
    Client, Database, Response, Server, run_in_browser, search_documentation, text,
};

fn get_as_browser(client: &Client, path: &str) -> Response {
    let accepted = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    client.request("GET", path).header("Accept", accepted).response()
}

fn html(response: &Response) -> String {
    assert_eq!(response.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = response.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(response.header(name), Some(value));
    }
    String::from_utf8(response.body.clone()).unwrap()
}

/// Returns the paths of the links and embedded files on a page that belong to the service.
fn targets(html: &str) -> impl Iterator<Item = String> + '_ {
    let values = ["href=\"", "src=\""].into_iter().flat_map(|way| html.split(way).skip(1));
    values
        .filter_map(|rest| rest.split(['"', '#']).next())
        .filter(|to| to.starts_with('/'))
        .map(str::to_owned)
}

#[test]
fn all_links_of_the_pages_work() {
    let server = Server::shared();
    let (mut seen, mut open) = (BTreeSet::new(), vec!["/".to_owned()]);
    while let Some(path) = open.pop() {
        // Other tests follow the links of the dashboard.
        if path.starts_with("/dashboard") || !seen.insert(path.clone()) {
            continue;
        }
        let response = get_as_browser(&server, &path);
        assert_eq!(response.status, 200, "{path}");
        if response.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            open.extend(targets(&html(&response)));
        }
    }
    // The guides and their files, the endpoints, the error codes, and the assets.
    assert!(seen.len() > 100, "{seen:?}");
    for path in ["/docs/quickstart", "/docs/reference/sendMessage", "/docs/operating/alerts.yml"] {
        assert!(seen.contains(path), "{path} is not linked");
    }
}

#[test]
fn the_search_of_the_documentation_needs_no_server() {
    let server = Server::shared();
    let index = server.get("/docs/search.json");
    assert_eq!(index.header("content-type"), Some("application/json"));
    let searches = [
        ("raw_did", "/docs/errors/RAW_DID_REJECTED"),
        ("CORS", "/docs/faq#can-a-web-page-call-the-api"),
        ("localhost", "/docs/behind-nat#receiving-behind-nat"),
        ("clock skew", "/docs/receiving#steps-of-a-receiver"),
        ("delete account", "/docs/faq#how-do-i-close-my-account"),
        ("webhook secret lost", "/docs/receiving#rotating-a-secret"),
        ("SDK", "/docs/python#sealpost-for-python"),
        ("no such words", ""),
    ];
    let seen = search_documentation(&format!("{}/docs", server.url), &searches.map(|(it, _)| it));
    for (number, (words, place)) in searches.into_iter().enumerate() {
        assert_eq!(seen["found"][number][0].as_str().unwrap_or_default(), place, "{words}: {seen}");
        assert_eq!(seen["next_steps"][number], json!(place.is_empty()), "{words}: {seen}");
    }
    assert_eq!(seen["visible"], json!([false, true, false]), "the results cover the page: {seen}");
    assert_eq!(seen["focused_by_slash"], true, "{seen}");
    assert_eq!(seen["complaints"], json!([]), "{seen}");
    assert_eq!(seen["without_script"], false, "{seen}");
}

/// Chooses the second tab of the first group, and looks at the address of the service.
#[test]
fn guides_have_tabs_and_the_address_of_the_service() {
    let server = Server::shared();
    let page = html(&server.get("/docs/recipes"));
    assert!(page.contains(&format!("export SEALPOST_URL={}", server.url)), "{page}");
    let paths = ["/docs/recipes", "/docs/receiving", "/docs/reference/sendMessage"];
    run_in_browser("tabs.mjs", &server.url, &paths);
}

#[test]
fn pages_of_the_documentation_show_the_place_of_the_reader() {
    let server = Server::shared();
    run_in_browser("place.mjs", &server.url, &[]);
}

/// Visits all guides, the landing page, some endpoints and one error with axe, in all forms.
#[test]
fn public_pages_have_no_fault_in_a_browser() {
    let server = Server::shared();
    let list = server.get("/llms.txt");
    assert_eq!(list.header("content-type"), Some("text/plain; charset=utf-8"));
    let listed = String::from_utf8(list.body).unwrap();
    let guides = listed.split(['(', ')']).filter_map(|part| part.strip_prefix(&server.url));
    let mut paths: Vec<_> = guides.filter(|path| path.starts_with("/docs/")).collect();
    assert!(paths.len() > 20, "{paths:?}");
    paths.extend(["/", "/docs", "/docs/errors", "/docs/errors/INVALID_FIELD"]);
    paths.extend([
        "/docs/reference",
        "/docs/reference/sendMessage",
        "/docs/reference/sendMessages",
        "/docs/reference/manageWebhooks",
        "/docs/reference/receiveEnvelope",
    ]);
    let paths = serde_json::to_string(&paths).unwrap();
    run_in_browser("public_pages.mjs", &server.url, &[&paths]);
}

#[test]
fn only_browsers_get_the_landing_page() {
    let server = Server::shared();
    let page = get_as_browser(&server, "/");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("vary"), Some("Accept"));
    let page = html(&page);
    for link in [
        "/docs",
        "/docs/quickstart",
        "/docs/python",
        "/docs/typescript",
        "/docs/rust",
        "/docs/command-line",
        "/dashboard",
        "/dashboard/open-account",
        "/openapi.json",
        "https://www.apache.org/licenses/LICENSE-2.0",
    ] {
        assert!(page.contains(&format!("href=\"{link}\"")), "{link}");
    }
    assert!(page.contains("The API key names the identity and is no secret."), "{page}");
    let closed = Database::embedded().serve_with(&["--activation", "closed"]);
    let closed = html(&get_as_browser(closed.client(), "/"));
    assert!(!closed.contains("open-account") && !closed.contains("<code>me="), "{closed}");
    server.get("/").refused(404, "NOT_FOUND");
    for accepted in ["*/*", "application/json"] {
        let request = server.request("GET", "/").header("Accept", accepted);
        request.response().refused(404, "NOT_FOUND");
    }
    server.post("/").response().refused(404, "NOT_FOUND");
}

#[test]
fn the_commands_of_the_landing_page_open_a_message() {
    let server = Server::shared();
    let page = html(&get_as_browser(&server, "/"));
    let commands = page.split("<code>").find(|code| code.starts_with("me=")).unwrap();
    let commands = commands.split("</code>").next().unwrap();
    let commands =
        ["string", "flag"].iter().fold(commands.replace("</span>", ""), |text, class| {
            text.replace(&format!("<span class=\"{class}\">"), "")
        });
    let commands = commands.replace("&lt;", "<").replace("&#39;", "'").replace("&quot;", "\"");
    let printed = Command::new("bash").arg("-c").arg(commands).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "Hello, Alice.\n", "{printed:?}");
}

#[test]
fn a_problem_document_links_to_the_page_of_its_code() {
    let server = Server::shared();
    for problem in [
        server.activate(&json!({})).refused(400, "MISSING_FIELD"),
        server.post("/v1/did/status").response().refused(401, "UNAUTHORIZED"),
        server.get("/v1/nowhere").refused(404, "NOT_FOUND"),
        server.get("/v1/did/status").refused(405, "METHOD_NOT_ALLOWED"),
    ] {
        let path = text(&problem, "type").replace(&server.url, "");
        let page = html(&server.get(&path));
        assert!(page.contains(&text(&problem, "code")) && page.contains("What to do"), "{path}");
    }
}

#[test]
fn unknown_documentation_pages_are_not_found() {
    let server = Server::shared();
    for path in ["/docs/errors/NO_SUCH_CODE", "/docs/errors/missing_field", "/docs/nowhere"] {
        let response = server.get(path);
        assert_eq!(response.status, 404, "{path}");
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert!(response.header("x-request-id").is_some());
        assert!(html(&response).contains("No such page"), "{path}");
    }
    server.get("/assets/sealpost.css").refused(404, "NOT_FOUND");
    server.post("/docs").response().refused(405, "METHOD_NOT_ALLOWED");
    server.post("/openapi.json").response().refused(405, "METHOD_NOT_ALLOWED");
}

#[test]
fn pages_are_cached_for_minutes_and_assets_permanently() {
    let server = Server::shared();
    let page = server.get("/docs");
    let asset = targets(&html(&page)).find(|to| to.starts_with("/assets/sealpost.")).unwrap();
    for (path, kept) in [
        ("/docs", "public, max-age=300"),
        ("/docs/errors/KEY_INACTIVE", "public, max-age=300"),
        ("/openapi.json", "public, max-age=300"),
        (asset.as_str(), "public, max-age=31536000, immutable"),
    ] {
        let first = server.get(path);
        assert_eq!(first.header("cache-control"), Some(kept), "{path}");
        let name = first.header("etag").unwrap().to_owned();
        let again = server.request("GET", path).header("If-None-Match", &name);
        let again = again.try_response().unwrap();
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        assert_eq!(again.header("etag"), Some(name.as_str()));
    }
}

#[test]
fn the_document_and_its_commands_use_the_public_base_url() {
    let server = Database::embedded().serve_with(&["--base-url", "https://example.org/seal/"]);
    let document = server.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{"url": "https://example.org/seal"}]));
    let page = html(&server.get("/docs/reference/activateIdentity"));
    assert!(page.contains("https://example.org/seal/v1/did/activate"));
    for path in ["/docs/reference/activateIdentity", "/docs/receiving", "/docs/files", "/"] {
        let page = html(&get_as_browser(&server, path));
        assert!(targets(&page).all(|to| to.starts_with("/seal/")), "{path}");
    }
}
