//! Tests that spans of requests, commits and attempts reach a collector, and that a collector that does not respond
//! slows nothing.

#[cfg(not(feature = "otlp"))]
#[test]
fn a_build_without_the_feature_says_so() {
    use crate::support::{Database, run};

    let database = Database::embedded();
    let refused = run(database.command(&["--otlp-endpoint", "http://127.0.0.1:4318"]));
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--features otlp"), "{refused:?}");
}

#[cfg(feature = "otlp")]
mod exported {
    use std::{collections::BTreeMap, net::TcpListener, time::Instant};

    use serde_json::json;

    use crate::support::{Database, Reaction, Receiver, SOON, eventually, on_both};

    on_both!(
        a_send_is_one_trace,
        a_silent_collector_slows_nothing,
        the_log_has_the_cause_of_an_unreachable_collector,
    );

    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const UNSAMPLED: &str = "00-11111111111111111111111111111111-b7ad6b7169203331-00";

    fn a_send_is_one_trace(database: &Database) {
        let collector = Receiver::start();
        let server = database.serve_with(&["--otlp-endpoint", base_of(&collector)]);
        let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 204 }));
        let (alice, bob) = database.busy_pair(&server);
        server.register(&bob, &receiver.url);
        let send = |trace: &str| {
            let body = json!({"to": bob.key, "message": "the sealed text"});
            let request = server.post("/v1/channel/send").by(&alice).header("traceparent", trace);
            request.json(&body).response().ok();
        };
        send(TRACE);
        let header = receiver.await_requests(1)[0].headers["traceparent"].clone();
        let attempt = eventually("the span of the attempt", SOON, || {
            spans_at(&collector).into_iter().find(|span| span.name == "attempt")
        });
        send(UNSAMPLED);
        let unsampled = receiver.await_requests(2)[1].headers["traceparent"].clone();
        assert!(unsampled.to_str().unwrap().starts_with("00-11111111111111111111111111111111-"));
        server.stop();

        let spans = spans_at(&collector);
        let find = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
        let request = find("POST /v1/channel/send");
        let ids: Vec<_> = TRACE.split('-').collect();
        assert_eq!((&*request.trace, &*request.parent), (ids[1], ids[2]));
        assert_eq!((&attempt.trace, &attempt.parent), (&request.trace, &request.id));
        assert_eq!(header, format!("00-{}-{}-01", ids[1], attempt.id));
        assert_eq!((request.kind, attempt.kind, find("commit").kind), (2, 3, 1));
        assert_eq!((request.is_error, attempt.is_error), (false, true));
        let sends = spans.iter().filter(|span| span.name == request.name);
        assert_eq!(sends.count(), 1, "the client does not record the second trace");
        assert!(spans.iter().all(|span| span.took_ns > 0));
        for request in collector.requests() {
            assert_eq!(request.path, "/v1/traces");
            let text = String::from_utf8_lossy(&request.body).into_owned();
            for hidden in ["the sealed text", &alice.token, alice.secret()] {
                assert!(!text.contains(hidden), "a span contains {hidden}");
            }
        }
    }

    fn a_silent_collector_slows_nothing(database: &Database) {
        let collector = Receiver::reacting(|_| Reaction::Ignore);
        let server = database.serve_with(&["--otlp-endpoint", base_of(&collector)]);
        server.get("/v1/ping").ok();
        collector.await_requests(1);
        let start = Instant::now();
        for _ in 0..200 {
            server.get("/v1/ping").ok();
        }
        assert!(start.elapsed() < SOON / 4, "200 requests took {:?}", start.elapsed());
        assert_eq!(
            collector.requests().len(),
            1,
            "the exporter still waits for the first response"
        );
        server.stop();
    }

    fn the_log_has_the_cause_of_an_unreachable_collector(database: &Database) {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let endpoint = format!("http://{closed}/secret-of-the-path");
        let server = database.serve_with(&["--otlp-endpoint", &endpoint]);
        server.get("/v1/ping").ok();
        let line = eventually("the warning", SOON, || {
            let log = server.log();
            log.lines().find(|line| line.contains("takes no spans")).map(str::to_owned)
        });
        assert!(line.contains("Connection refused"), "{line}");
        assert!(!server.log().contains("secret-of-the-path"), "{}", server.log());
        server.stop();
    }

    /// Returns the base URL of a receiver that acts as a collector.
    fn base_of(collector: &Receiver) -> &str {
        collector.url.strip_suffix("/hook").unwrap()
    }

    struct Span {
        trace: String,
        id: String,
        parent: String,
        name: String,
        kind: u64,
        took_ns: u64,
        is_error: bool,
    }

    /// Decodes the spans of all requests: `ExportTraceServiceRequest` of the OTLP specification.
    fn spans_at(collector: &Receiver) -> Vec<Span> {
        let requests = collector.requests();
        let resources = requests.iter().flat_map(|request| fields(&request.body).all(1));
        let scopes = resources.flat_map(|resource| fields(&resource).all(2));
        let spans = scopes.flat_map(|scope| fields(&scope).all(2));
        spans.map(|span| read_span(&fields(&span))).collect()
    }

    fn read_span(span: &Fields) -> Span {
        let id = |number| {
            let bytes = span.all(number).concat();
            bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
        };
        Span {
            trace: id(1),
            id: id(2),
            parent: id(4),
            name: String::from_utf8(span.all(5).remove(0)).unwrap(),
            kind: span.number(6),
            took_ns: span.number(8) - span.number(7),
            is_error: span.all(15).first().is_some_and(|status| fields(status).number(3) == 2),
        }
    }

    /// The fields of a protobuf message by their numbers: byte strings, and integers.
    #[derive(Default)]
    struct Fields {
        bytes: BTreeMap<u64, Vec<Vec<u8>>>,
        numbers: BTreeMap<u64, u64>,
    }

    impl Fields {
        fn all(&self, number: u64) -> Vec<Vec<u8>> {
            self.bytes.get(&number).cloned().unwrap_or_default()
        }

        fn number(&self, number: u64) -> u64 {
            self.numbers.get(&number).copied().unwrap_or_default()
        }
    }

    fn fields(mut message: &[u8]) -> Fields {
        let mut fields = Fields::default();
        while !message.is_empty() {
            let tag = varint(&mut message);
            let (number, wire_type) = (tag >> 3, tag & 7);
            match wire_type {
                0 => {
                    fields.numbers.insert(number, varint(&mut message));
                }
                1 => {
                    let (value, rest) = message.split_first_chunk().unwrap();
                    message = rest;
                    fields.numbers.insert(number, u64::from_le_bytes(*value));
                }
                2 => {
                    let length = usize::try_from(varint(&mut message)).unwrap();
                    let (value, rest) = message.split_at(length);
                    message = rest;
                    fields.bytes.entry(number).or_default().push(value.to_vec());
                }
                5 => message = &message[4..],
                other => panic!("unknown wire type {other}"),
            }
        }
        fields
    }

    fn varint(message: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = message.split_first().unwrap();
            *message = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
}
