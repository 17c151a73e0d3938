//! Tests of the provider `vault` against a strict imitation of the published HTTP API of the transit engine. The
//! imitation accepts no request that the API would reject.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, atomic::AtomicU16, atomic::Ordering},
    thread,
};

use serde_json::{Value, json};

use super::*;

#[derive(Default)]
struct State {
    /// The plaintexts in base64. A ciphertext is `vault:v1:` and the base64 of an index.
    plaintexts: Mutex<Vec<String>>,
    /// The status of all responses. 0 responds with the status that the real API would return.
    forced: AtomicU16,
}

struct Imitation {
    state: Arc<State>,
    vault: Vault,
    token_file: tempfile::NamedTempFile,
}

impl Imitation {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &shared);
            }
        });
        let token_file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&token_file, format!("{TOKEN}\n")).unwrap();
        let vault = Vault {
            service: KeyService { name: "vault", ca_file: None },
            address,
            mount: "team/transit".to_owned(),
            key: "sealpost".to_owned(),
            token_file: token_file.path().to_owned(),
        };
        Self { state, vault, token_file }
    }

    fn force(&self, status: u16) -> ProviderError {
        self.state.forced.store(status, Ordering::Relaxed);
        let error = self.vault.check().unwrap_err();
        self.state.forced.store(0, Ordering::Relaxed);
        error
    }
}

fn serve(mut stream: TcpStream, state: &State) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            text => head.push(text.to_owned()),
        }
    }
    let header = |name: &str| {
        let pairs = head.iter().skip(1).filter_map(|line| line.split_once(':'));
        let mut found = pairs.filter(|(found, _)| found.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim().to_owned())
    };
    let length = header("content-length").unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let token = header("x-vault-token");
    let (status, response) = match state.forced.load(Ordering::Relaxed) {
        0 if token.as_deref() != Some(TOKEN) => (403, errors("permission denied")),
        0 => respond(&head[0], &body, state),
        307 => (307, Value::Null),
        status => (status, errors("forced")),
    };
    let response = response.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Location: http://127.0.0.1:1/\r\nContent-Length: {}\r\n\r\n{response}",
        response.len()
    )
    .unwrap();
}

fn respond(request: &str, body: &[u8], state: &State) -> (u16, Value) {
    let Ok(Value::Object(body)) = serde_json::from_slice(body) else {
        return (400, errors("failed to parse JSON input"));
    };
    let only = |name: &str| body.get(name).filter(|_| body.len() == 1).and_then(Value::as_str);
    let mut plaintexts = state.plaintexts.lock().unwrap();
    match request.strip_suffix(" HTTP/1.1") {
        Some("POST /v1/team/transit/encrypt/sealpost") => match only("plaintext") {
            Some(plaintext) if STANDARD.decode(plaintext).is_ok() => {
                plaintexts.push(plaintext.to_owned());
                let ciphertext =
                    format!("vault:v1:{}", STANDARD.encode((plaintexts.len() - 1).to_string()));
                (
                    200,
                    json!({"request_id": "1", "lease_id": "", "data": {"ciphertext": ciphertext, "key_version": 1}}),
                )
            }
            _ => (400, errors("illegal base64 data")),
        },
        Some("POST /v1/team/transit/decrypt/sealpost") => {
            let index = only("ciphertext")
                .and_then(|text| text.strip_prefix("vault:v1:"))
                .and_then(|text| STANDARD.decode(text).ok())
                .and_then(|index| String::from_utf8(index).ok()?.parse::<usize>().ok());
            match index.and_then(|index| plaintexts.get(index)) {
                Some(plaintext) => (
                    200,
                    json!({"request_id": "1", "lease_id": "", "data": {"plaintext": plaintext}}),
                ),
                None => (400, errors("invalid ciphertext: no prefix")),
            }
        }
        _ => (404, errors("no handler for route")),
    }
}

fn errors(text: &str) -> Value {
    json!({"errors": [text]})
}

#[test]
fn a_key_is_wrapped_and_unwrapped() {
    let imitation = Imitation::start();
    let vault = &imitation.vault;
    assert_eq!(vault.describe(), "vault:team/transit/sealpost");
    vault.check().unwrap();
    let wrapped = vault.wrap(&[7; 32]).unwrap();
    assert!(wrapped.starts_with(b"vault:v1:"));
    assert_eq!(*vault.unwrap(&wrapped).unwrap(), [7; 32]);
    // The token is read for each call.
    fs::write(&imitation.token_file, "another").unwrap();
    let error = vault.unwrap(&wrapped).unwrap_err();
    assert!(
        matches!(&error, ProviderError::Refused { reason } if reason.contains("permission denied"))
    );
    assert!(!error.to_string().contains("another"), "{error}");
}

#[test]
fn a_decision_is_a_refusal_and_a_state_of_the_server_is_not() {
    let imitation = Imitation::start();
    for status in [400, 403, 404] {
        assert!(matches!(imitation.force(status), ProviderError::Refused { .. }), "{status}");
    }
    // Redirects are not followed: the token would go to another server.
    for status in [307, 412, 429, 472, 473, 500, 502, 503] {
        assert!(matches!(imitation.force(status), ProviderError::Unreachable { .. }), "{status}");
    }
    let garbage = imitation.vault.unwrap(b"vault:v1:***").unwrap_err();
    assert!(matches!(garbage, ProviderError::Refused { .. }));
    let gone = Vault { address: "http://127.0.0.1:1".to_owned(), ..imitation.vault };
    assert!(matches!(gone.wrap(&[1; 32]), Err(ProviderError::Unreachable { .. })));
}

const TOKEN: &str = "hvs.token";
