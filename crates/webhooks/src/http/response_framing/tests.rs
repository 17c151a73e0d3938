//! Tests of the pure reader of responses: tables of single responses, and random bytes in random parts.

use proptest::{collection::vec, prelude::*, sample::select};

use super::*;

/// The result after one [`ResponseFraming`] has read the bytes of a connection with one request: its output, its first
/// fault and its final state.
#[derive(Debug, PartialEq)]
struct Reading {
    output: Vec<u8>,
    fault: Option<ResponseError>,
    end: End,
}

#[derive(Debug, PartialEq, Clone, Copy)]
enum End {
    Due,
    Reusable,
    Ended,
}

use End::{Due, Ended, Reusable};

fn read(parts: &[&[u8]]) -> Reading {
    let (mut framing, mut output, mut fault) = (ResponseFraming::default(), Vec::new(), None);
    for part in parts {
        fault = fault.or(framing.read(part, &mut output).err());
    }
    let end = match framing.state {
        State::Head | State::Body(_) => Due,
        State::Idle => Reusable,
        State::Ended => Ended,
    };
    Reading { output, fault, end }
}

/// Reads the bytes at once, byte by byte, and in two parts of every length. All readings must have the same meaning.
#[track_caller]
fn read_in_parts(input: &str) -> Reading {
    let bytes = input.as_bytes();
    let whole = read(&[bytes]);
    for split in 0..=bytes.len() {
        let (first, second) = bytes.split_at(split);
        let reading = read(&[first, second]);
        assert_eq!(decoded(&reading), decoded(&whole), "{input:?} split at {split}");
    }
    assert_eq!(
        decoded(&read(&bytes.chunks(1).collect::<Vec<_>>())),
        decoded(&whole),
        "{input:?} byte by byte"
    );
    whole
}

/// Joins the chunks of the output, because their lengths depend on the parts of the input.
fn decoded(reading: &Reading) -> (String, Option<ResponseError>, End) {
    let output = reading.output.as_slice();
    let head_end = output.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let (head, body) = output.split_at(head_end.map_or(output.len(), |end| end + 4));
    let head = String::from_utf8_lossy(head).replace("\r\n\r\n", "\n\n");
    let is_chunked = head.contains("transfer-encoding: chunked");
    let body = if is_chunked { joined(body) } else { body.to_vec() };
    (head + &String::from_utf8_lossy(&body), reading.fault, reading.end)
}

fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(line_end) = chunks.iter().position(|byte| *byte == b'\r') {
        let size = usize::from_str_radix(str::from_utf8(&chunks[..line_end]).unwrap(), 16).unwrap();
        let data = &chunks[line_end + 2..];
        body.extend_from_slice(if size == 0 { b"(end)" } else { &data[..size] });
        chunks = &data[size + 2..];
    }
    body
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const OK_OUT: &str = "HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok";

#[test]
fn interim_responses_are_removed() {
    for interim in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 100\r\n\r\n",
        "HTTP/1.0 100 Continue\r\n\r\n",
        "HTTP/1.1 102 Processing\r\nx: y\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload,\r\n </b>\r\n\r\n",
        "HTTP/1.1 199 Unknown\r\ncontent-length: 5\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 150 Bare\n\n",
    ] {
        for count in [1, 2, 30] {
            let reading = read_in_parts(&[&interim.repeat(count), OK].concat());
            assert_eq!(reading, Reading { output: OK_OUT.into(), fault: None, end: Reusable });
        }
        let reading = read_in_parts(interim);
        assert_eq!(reading, Reading { output: Vec::new(), fault: None, end: Due });
    }
}

#[test]
fn each_response_has_one_end() {
    for (fields, body, written, end) in RESPONSES {
        let reading = read_in_parts(&format!("\r\n\nHTTP/{fields}\r\n\r\n{body}"));
        assert_eq!(decoded(&reading), (format!("HTTP/{written}"), None, *end), "{fields}");
    }
}

#[test]
fn bytes_without_one_meaning_are_a_fault() {
    let many = ["HTTP/1.1 200 OK\r\n", &"x: y\r\n".repeat(95), "\r\n"].concat();
    let long = ["HTTP/1.1 200 OK\r\nx: ", &"y".repeat(65_536)].concat();
    let hints = "HTTP/1.1 103 Hints\r\n\r\n".repeat(3_000);
    for (input, fault) in [
        ("SSH-2.0", ResponseError::NotHttp),
        ("\u{15}\u{3}", ResponseError::NotHttp),
        ("HTTP/2.0 200 OK\r\n\r\n", ResponseError::NotHttp),
        ("HTTP/1.2 200 OK\r\n\r\n", ResponseError::Malformed(httparse::Error::Version)),
        ("HTTP/1.1 20 OK\r\n\r\n", ResponseError::Malformed(httparse::Error::Status)),
        ("HTTP/1.1 2000 OK\r\n\r\n", ResponseError::Malformed(httparse::Error::Status)),
        ("HTTP/1.1 000 OK\r\n\r\n", ResponseError::Status(0)),
        ("HTTP/1.1 099 OK\r\n\r\n", ResponseError::Status(99)),
        ("HTTP/1.1 101 Go\r\nupgrade: h2c\r\n\r\n", ResponseError::Switch),
        (
            "HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
            ResponseError::Malformed(httparse::Error::HeaderName),
        ),
        (
            "HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n",
            ResponseError::Malformed(httparse::Error::HeaderValue),
        ),
        ("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: 0x1\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1,\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551616\r\n\r\n", ResponseError::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\n", ResponseError::Length),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
            ResponseError::Length,
        ),
        (&many, ResponseError::TooLarge),
        (&long, ResponseError::TooLarge),
        (&hints, ResponseError::TooLarge),
    ] {
        let short = input.get(..60).unwrap_or(input);
        let reading = read(&input.as_bytes().chunks(7).collect::<Vec<_>>());
        assert_eq!(
            reading,
            Reading { output: Vec::new(), fault: Some(fault), end: Ended },
            "{short:?}"
        );
    }
    // The fault is in the body, so the head with its status is already in the output.
    for body in ["x", "2 x", "2\r\nokx", "11111111111111111\r\n", "\r\n"] {
        let head = "HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n";
        let reading = read_in_parts(&[head, body].concat());
        let expected = body != "2 x";
        assert_eq!((reading.fault == Some(ResponseError::Chunk)), expected, "{body:?}");
        assert!(reading.output.starts_with(b"HTTP/1.1 500 \r\n"), "{reading:?}");
    }
}

#[test]
fn a_connection_that_ends_before_the_final_head_is_cut() {
    for (input, result) in [
        ("", Err(ResponseError::Cut)),
        ("HTTP/1.1 200 OK\r\n", Err(ResponseError::Cut)),
        ("HTTP/1.1 100 Continue\r\n\r\n", Err(ResponseError::Cut)),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", Ok(())),
        (OK, Ok(())),
    ] {
        let mut framing = ResponseFraming::default();
        framing.read(input.as_bytes(), &mut Vec::new()).unwrap();
        assert_eq!(framing.end(), result, "{input:?}");
        assert!(framing.has_ended());
    }
}

#[test]
fn only_a_complete_request_may_be_followed_by_another() {
    let mut framing = ResponseFraming::default();
    for _ in 0..3 {
        framing.expect_response();
        let mut output = Vec::new();
        framing.read(OK.as_bytes(), &mut output).unwrap();
        assert_eq!(output, OK_OUT.as_bytes());
        assert!(!framing.has_ended());
    }
    framing.expect_response();
    framing.end_after_response();
    framing.read(OK.as_bytes(), &mut Vec::new()).unwrap();
    assert!(framing.has_ended());
    framing.expect_response();
    assert!(framing.has_ended(), "an ended connection stays ended");
}

proptest! {
    /// The division of the bytes into parts does not change their meaning. A fault ends the connection.
    #[test]
    fn parts_do_not_change_the_meaning(
        pieces in vec(prop_oneof![select(PIECES).prop_map(|it| it.as_bytes().to_vec()), vec(any::<u8>(), 0..4)], 0..12),
        splits in vec(1..40_usize, 1..40),
    ) {
        let bytes = pieces.concat();
        let mut parts = Vec::new();
        let (mut rest, mut lengths) = (bytes.as_slice(), splits.iter().cycle());
        while !rest.is_empty() {
            let (part, others) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
            parts.push(part);
            rest = others;
        }
        let (whole, divided) = (read(&[bytes.as_slice()]), read(&parts));
        prop_assert_eq!(decoded(&divided), decoded(&whole));
        prop_assert!(whole.fault.is_none() || whole.end == Ended);
    }
}

const PIECES: &[&str] = &[
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.0 500 Oh\r\n",
    "HTTP/1.1 204\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "Content-Length: 3\r\n",
    "Content-Length: \r\n 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "x: a\r\n\tb\r\n",
    "\r\n",
    "\n",
    "3\r\nabc\r\n",
    "3;x\r\nabc\r\n",
    "0\r\n\r\n",
    "0\r\nx: y\r\n\r\n",
    "abc",
];

/// Each row: the head and the body of a response, the rewritten response, and the state of the connection afterwards.
const RESPONSES: &[(&str, &str, &str, End)] = &[
    // Responses with a length.
    ("1.1 200 OK\r\ncontent-length: 2", "ok", "1.1 200 \r\ncontent-length: 2\n\nok", Reusable),
    ("1.1 500\r\ncontent-length: 0", "", "1.1 500 \r\ncontent-length: 0\n\n", Reusable),
    ("1.1 200 \r\ncontent-length : 2", "ok", "1.1 200 \r\ncontent-length: 2\n\nok", Reusable),
    ("1.1 200 \r\nCONTENT-LENGTH:\r\n 2", "ok", "1.1 200 \r\ncontent-length: 2\n\nok", Reusable),
    ("1.1 200 \r\ncontent-length: 2, 2", "ok", "1.1 200 \r\ncontent-length: 2\n\nok", Reusable),
    ("1.1 200 \r\ncontent-length: 3", "ok", "1.1 200 \r\ncontent-length: 3\n\nok", Due),
    ("1.1 200 gr\u{fc}n \r\ncontent-length: 0", "", "1.1 200 \r\ncontent-length: 0\n\n", Reusable),
    // Chunked bodies, with extensions and trailers.
    (
        "1.1 200 \r\ntransfer-encoding: Chunked",
        "2\r\nok\r\n0\r\n\r\n",
        "1.1 200 \r\ntransfer-encoding: chunked\n\nok(end)",
        Reusable,
    ),
    (
        "1.1 200 \r\ntransfer-encoding: identity, chunked",
        "02;a=\"b\"\r\nok\r\n00 ;x\r\nchecksum: 1\r\nother: 2\r\n\r\n",
        "1.1 200 \r\ntransfer-encoding: chunked\n\nok(end)",
        Reusable,
    ),
    (
        "1.1 200 \r\ntransfer-encoding: chunked\r\ncontent-length: 9",
        "2\r\nok\r\n0\r\n\r\n",
        "1.1 200 \r\nconnection: close\r\ntransfer-encoding: chunked\n\nok(end)",
        Ended,
    ),
    (
        "1.1 200 \r\ntransfer-encoding: gzip, chunked",
        "2\r\nok\r\n0\r\n\r\n",
        "1.1 200 \r\nconnection: close\r\ntransfer-encoding: chunked\n\nok(end)",
        Ended,
    ),
    // Responses without a length: the body ends with the connection.
    ("1.1 200 \r\nx: y", "ok", "1.0 200 \r\nx: y\r\nconnection: close\n\nok", Due),
    ("1.1 200 \r\ntransfer-encoding: identity", "ok", "1.0 200 \r\nconnection: close\n\nok", Due),
    ("1.1 200 \r\nconnection: keep-alive", "ok", "1.0 200 \r\nconnection: close\n\nok", Due),
    ("1.1 200 \r\ntransfer-encoding: gzip", "ok", "1.0 200 \r\nconnection: close\n\nok", Due),
    (
        "1.1 200 \r\ntransfer-encoding: chunked, gzip",
        "ok",
        "1.0 200 \r\nconnection: close\n\nok",
        Due,
    ),
    ("1.0 200 \r\nconnection: keep-alive", "ok", "1.0 200 \r\nconnection: close\n\nok", Due),
    // Statuses whose responses never have a body.
    ("1.1 204 \r\ncontent-length: 7", "", "1.1 204 \r\ncontent-length: 0\n\n", Reusable),
    ("1.1 204 \r\ntransfer-encoding: chunked", "", "1.1 204 \r\ncontent-length: 0\n\n", Reusable),
    ("1.1 304 \r\ncontent-length: 7", "", "1.1 304 \r\ncontent-length: 0\n\n", Reusable),
    ("1.1 304 \r\ntransfer-encoding: chunked", "", "1.1 304 \r\ncontent-length: 0\n\n", Reusable),
    ("1.1 204 \r\ncontent-length: 2", "ok", "1.1 204 \r\ncontent-length: 0\n\n", Ended),
    // The field `connection`.
    (
        "1.1 200 \r\nconnection: x, Close\r\ncontent-length: 2",
        "ok",
        "1.1 200 \r\nconnection: close\r\ncontent-length: 2\n\nok",
        Ended,
    ),
    (
        "1.0 200 \r\ncontent-length: 2",
        "ok",
        "1.1 200 \r\nconnection: close\r\ncontent-length: 2\n\nok",
        Ended,
    ),
    (
        "1.0 200 \r\nconnection: a\r\nconnection: Keep-Alive\r\ncontent-length: 2",
        "ok",
        "1.1 200 \r\ncontent-length: 2\n\nok",
        Reusable,
    ),
    (
        "1.1 200 \r\nupgrade: websocket\r\nconnection: upgrade\r\ncontent-length: 2",
        "ok",
        "1.1 200 \r\ncontent-length: 2\n\nok",
        Reusable,
    ),
    // Bytes after the response that no request asked for.
    ("1.1 200 \r\ncontent-length: 2", "ok\n", "1.1 200 \r\ncontent-length: 2\n\nok", Ended),
    (
        "1.1 500 \r\ncontent-length: 2",
        "okHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "1.1 500 \r\ncontent-length: 2\n\nok",
        Ended,
    ),
    // Other fields, folded and repeated.
    (
        "1.1 429 \r\nhost: a\r\nhost: b\r\nretry-after:\r\n\t7\r\nx: a\r\n b\r\ncontent-length: 0",
        "",
        "1.1 429 \r\nretry-after: 7\r\nx: a   b\r\ncontent-length: 0\n\n",
        Reusable,
    ),
];
