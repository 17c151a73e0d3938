//! Tests of the system resolver with a name server on loopback.

use std::{
    cell::Cell,
    net::{Ipv4Addr, Ipv6Addr, UdpSocket},
    thread,
};

use hickory_resolver::{
    config::{ConnectionConfig, NameServerConfig, ResolverConfig},
    net::runtime::TokioRuntimeProvider,
    proto::{
        op::Message,
        rr::{RData, Record},
    },
};

use super::*;

/// The address families that a name server knows. The name server never responds to queries for another family.
#[derive(Clone, Copy)]
struct Known {
    v4: bool,
    v6: bool,
}

const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

/// Resolves a name with a name server that knows every name.
fn resolve(name: &str, known: Known) -> Result<Vec<IpAddr>, ResolveFailure> {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    thread::spawn(move || respond(&socket, known));
    actix_rt::Runtime::new().unwrap().block_on(async {
        let create = move || Some(with_server(port));
        SystemResolver::new(create, || [None; 2], Instant::now()).resolve(name).await
    })
}

/// Creates a resolver with a single name server, on this port of loopback.
fn with_server(port: u16) -> TokioResolver {
    let mut connection = ConnectionConfig::udp();
    connection.port = port;
    let server = NameServerConfig::new(Ipv4Addr::LOCALHOST.into(), true, vec![connection]);
    let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
    let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    builder.with_options(options()).build().unwrap()
}

fn respond(socket: &UdpSocket, known: Known) {
    let mut bytes = [0; 4096];
    while let Ok((length, client)) = socket.recv_from(&mut bytes) {
        let query = Message::from_vec(&bytes[..length]).unwrap();
        let question = query.queries[0].clone();
        let address = match question.query_type() {
            RecordType::A if known.v4 => V4,
            RecordType::AAAA if known.v6 => V6,
            _ => continue,
        };
        let mut response = Message::response(query.id, query.op_code);
        response.add_answer(Record::from_rdata(question.name().clone(), 60, RData::from(address)));
        response.add_query(question);
        socket.send_to(&response.to_vec().unwrap(), client).unwrap();
    }
}

#[test]
fn every_name_of_a_url_is_resolved() {
    for name in [
        "example.test",
        "my_host.example.test",
        "_dmarc.example.test",
        "a_.b_c.test",
        "xn--mnchen-3ya.test",
        "single",
        "1a.test",
        "a--b.test",
        "-a.test",
        "a!b$c.test",
    ] {
        let found = resolve(name, Known { v4: true, v6: true });
        assert_eq!(found.map(|it| it.len()), Ok(2), "{name}");
    }
}

#[test]
fn a_family_without_response_delays_the_other_one_only_shortly() {
    for (known, addresses) in
        [(Known { v4: true, v6: false }, vec![V4]), (Known { v4: false, v6: true }, vec![V6])]
    {
        let start = Instant::now();
        assert_eq!(resolve("example.test", known), Ok(addresses));
        assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
    }
}

#[test]
fn a_changed_file_is_read_again_and_a_faulty_one_keeps_the_resolver() {
    let start = Instant::now();
    let created = Rc::new(Cell::new(0));
    let times = Rc::new(Cell::new([None, Some((1, 0))]));
    actix_rt::Runtime::new().unwrap().block_on(async {
        let (count, file_times) = (Rc::clone(&created), Rc::clone(&times));
        let create = move || {
            count.set(count.get() + 1);
            (count.get() != 3).then(|| with_server(53))
        };
        let resolver = SystemResolver::new(create, move || file_times.get(), start);
        let created_by = |seconds| {
            assert!(resolver.current(start + Duration::from_secs(seconds)).is_some());
            created.get()
        };
        assert_eq!([0, 60].map(created_by), [1, 1]);
        times.set([Some((1, 0)), Some((1, 0))]);
        assert_eq!([64, 65, 70].map(created_by), [1, 2, 2]);
        times.set([Some((1, 0)), None]);
        assert_eq!([75, 80].map(created_by), [3, 3], "the third creation fails");
    });
}
