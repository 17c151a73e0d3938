//! Starts servers with a console, and sends requests as the operators in their password file.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
    sync::OnceLock,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sealpost_wallet::FormId;
use serde_json::Value;
use tempfile::NamedTempFile;

use super::{Client, Database, Response, Server, binary, private_file};

/// An operator in the password file. Alice may make changes, and Vera may only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Staff {
    Alice,
    Vera,
}

impl Staff {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Alice => "alice",
            Self::Vera => "vera",
        }
    }

    pub(crate) fn password(self) -> &'static str {
        match self {
            Self::Alice => "correct horse: battery",
            Self::Vera => "staple + battery & horse",
        }
    }

    /// Returns the value of the header `Authorization`.
    pub(crate) fn authorization(self) -> String {
        authorization(self.name(), self.password())
    }
}

/// Returns the value of the header `Authorization` for a name and a password.
pub(crate) fn authorization(name: &str, password: &str) -> String {
    format!("Bearer {}", STANDARD.encode(format!("{name}:{password}")))
}

/// A server with a console, and a client of its operations address.
pub(crate) struct ConsoleServer {
    pub(crate) server: Server,
    pub(crate) ops: Client,
    pub(crate) file: NamedTempFile,
}

impl ConsoleServer {
    /// Starts a server in development mode with more arguments.
    #[track_caller]
    pub(crate) fn start(database: &Database, more: &[&str]) -> Self {
        let file = private_file(&format!("# staff\n{LINES}"));
        let path = file.path().display().to_string();
        let server = database.serve_with(&[&["--console-password-file", &path], more].concat());
        let ops = Client::new(&server.ops_url);
        Self { server, ops, file }
    }

    /// Posts a JSON body to a path below `/admin/v1`. Checks that the OpenAPI document has the response.
    #[track_caller]
    pub(crate) fn post(&self, by: Staff, path: &str, body: &Value) -> Response {
        let request = self.ops.post(&format!("/admin/v1{path}"));
        let response = request.header("Authorization", &by.authorization()).json(body).response();
        self.check(path, &response);
        response
    }

    /// Posts a request of Alice that must succeed, and returns its result.
    #[track_caller]
    pub(crate) fn act(&self, path: &str, body: &Value) -> Value {
        self.post(Staff::Alice, path, body).ok()
    }

    /// Posts a request of Alice that must be refused.
    #[track_caller]
    pub(crate) fn refused(&self, path: &str, body: &Value, status: u16, code: &str) -> Value {
        denied(&self.post(Staff::Alice, path, body), status, code)
    }

    #[track_caller]
    fn check(&self, path: &str, response: &Response) {
        // The document is the same on all servers.
        static DOCUMENT: OnceLock<Value> = OnceLock::new();
        let document = DOCUMENT.get_or_init(|| self.ops.get("/admin/v1/openapi.json").ok_cached());
        let operation = &document["paths"][format!("/admin/v1{path}")]["post"];
        let status = response.status.to_string();
        let documented = &operation["responses"][&status];
        assert!(documented.is_object(), "{path} answered {status}, which is not documented");
        if response.status >= 400 {
            let code = response.json()["code"].as_str().unwrap().to_owned();
            let examples = &documented["content"]["application/problem+json"]["examples"];
            assert!(examples[&code].is_object(), "{path} answered {code}, which is not documented");
        }
    }
}

impl Response {
    /// Returns the body of a response that clients may cache.
    #[track_caller]
    pub(crate) fn ok_cached(&self) -> Value {
        assert_eq!(self.status, 200);
        self.json()
    }
}

/// Checks that the response is a problem document with this status and code. Returns the document.
#[track_caller]
pub(crate) fn denied(response: &Response, status: u16, code: &str) -> Value {
    let problem = response.json();
    assert_eq!((response.status, problem["code"].as_str()), (status, Some(code)), "{problem}");
    assert_eq!(response.header("content-type"), Some("application/problem+json"));
    assert_eq!(response.header("www-authenticate").is_some(), status == 401);
    problem
}

/// Runs `sealpost console hash` with this text on standard input. Returns its exit status and its output.
pub(crate) fn hash(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command: Command = binary(&["console", "hash"]);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    // The command may end before it reads its input.
    drop(process.stdin.take().unwrap().write_all(input.as_bytes()));
    let ended = process.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ended.status.code(), text(ended.stdout), text(ended.stderr))
}

/// The lines of the password file. The hashes cost as little as the service accepts, because each request of an operator
/// computes one.
pub(crate) const LINES: &str = "\
alice:operator:$argon2id$v=19$m=7168,t=1,p=1$c2VhbHBvc3QtdGVzdHMtMQ$FYier4yJUaxEzATMYjqR6UVDjjas2ElSgrGPRYCVriA
vera:viewer:$argon2id$v=19$m=7168,t=1,p=1$c2VhbHBvc3QtdGVzdHMtMg$s/V/dLt/oEdXOajpwCH5VY6GBgmDfw35Z/qSSLYtPjg
";

/// A browser with a session of the console.
pub(crate) struct Desk<'a> {
    pub(crate) ops: &'a Client,
    /// The session cookie as `name=value`.
    pub(crate) cookie: String,
}

impl<'a> Desk<'a> {
    #[track_caller]
    pub(crate) fn sign_in(ops: &'a Client, staff: Staff) -> Self {
        let response = sign_in(ops, staff.name(), staff.password());
        assert_eq!(response.status, 303, "{}", String::from_utf8_lossy(&response.body));
        assert_eq!(response.header("location"), Some("/console"));
        let cookie = response.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Self { ops, cookie }
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.ops.request("GET", path).header("Cookie", &self.cookie).response()
    }

    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let response = self.get(path);
        assert_eq!(response.status, 200, "{path}: {}", String::from_utf8_lossy(&response.body));
        String::from_utf8(response.body).unwrap()
    }

    #[track_caller]
    pub(crate) fn form_token(&self) -> String {
        let page = self.page("/console");
        let (_, rest) = page.split_once("name=\"form_token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// Submits a form of this session with its form token.
    #[track_caller]
    pub(crate) fn submit(&self, path: &str, form: &str) -> Response {
        let form = format!("form_token={}&{form}", self.form_token());
        self.post(path, &form, &[("Sec-Fetch-Site", "same-origin")])
    }

    /// Submits a form with a fresh id, and with these headers.
    pub(crate) fn post(&self, path: &str, form: &str, headers: &[(&str, &str)]) -> Response {
        let id = FormId::generate().unwrap();
        self.post_as_is(path, &format!("{form}&form_id={}", id.expose()), headers)
    }

    /// Submits a form whose fields include its id.
    pub(crate) fn post_as_is(&self, path: &str, form: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = self.ops.post(path).header("Cookie", &self.cookie);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.body(FORM, form.as_bytes()).response()
    }
}

/// Submits the form to sign in.
pub(crate) fn sign_in(ops: &Client, name: &str, password: &str) -> Response {
    let encode =
        |text: &str| text.bytes().fold(String::new(), |all, byte| format!("{all}%{byte:02x}"));
    let form = format!("name={}&password={}", encode(name), encode(password));
    ops.post("/console/sign-in").body(FORM, form.as_bytes()).response()
}

/// Replaces the content of a file.
pub(crate) fn rewrite(file: &NamedTempFile, content: &str) {
    fs::write(file.path(), content).unwrap();
}

const FORM: &str = "application/x-www-form-urlencoded";
