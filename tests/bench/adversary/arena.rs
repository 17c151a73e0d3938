//! The environment of an attack: a server with default settings on a new database, a bystander and the
//! bystander's receiver.

use std::{net::Ipv4Addr, path::PathBuf, sync::Arc, time::Duration};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use super::{
    Trial,
    bystander::{Bystander, Experience},
    client::Client,
};
use crate::{
    load::{Load, Pace},
    stage::{
        MESSAGE_BYTES,
        database::{Engine, Place},
        identities::{Identities, Population},
        receiver::Receiver,
        server::Server,
    },
};

/// A database before the server starts.
pub(crate) struct Ground {
    pub(crate) place: Place,
    pub(crate) message_bytes: usize,
    receiver: Receiver,
    identities: Identities,
}

/// A running server and its bystander. Fields are dropped in this order.
pub(crate) struct Arena {
    pub(crate) server: Server,
    pub(crate) receiver: Receiver,
    pub(crate) identities: Identities,
    bystander: Bystander,
    _place: Place,
}

impl Ground {
    pub(crate) fn new(engine: &Engine) -> Self {
        let population = Population { senders: 8, recipients: 8, ..Population::MANY };
        let receiver = Receiver::start_on(BYSTANDER_ADDRESS, population.recipients);
        let place = engine.place();
        let identities = population.activate(&place, &receiver);
        Self { place, message_bytes: MESSAGE_BYTES, receiver, identities }
    }

    /// Starts a server for HTTP.
    pub(crate) fn serve(self) -> Arena {
        let server = Server::serve_with(&self.place, SUITE, &[]);
        self.arena(server, None)
    }

    /// Starts a server for HTTPS.
    pub(crate) fn serve_tls(self) -> Arena {
        let Certificate { chain, key, client } = Certificate::issue(&self.place);
        let tls = ["--tls-cert".as_ref(), chain.as_os_str(), "--tls-key".as_ref(), key.as_os_str()];
        let server = Server::serve_with(&self.place, SUITE, &tls);
        self.arena(server, Some(client))
    }

    fn arena(self, server: Server, tls: Option<Arc<ClientConfig>>) -> Arena {
        let Self { place, message_bytes, receiver, identities } = self;
        let client = Client { server: server.address, address: BYSTANDER_ADDRESS, tls };
        let bystander = Bystander { client, requests: identities.sends(message_bytes) };
        Arena { server, receiver, identities, bystander, _place: place }
    }
}

impl Arena {
    /// Measures the bystander without an attack, after a warm-up.
    pub(crate) fn watch_alone(&self, trial: &Trial<'_>) -> Experience {
        self.watch(trial.pick(Duration::from_secs(1), Duration::from_millis(200)));
        self.watch(trial.alone())
    }

    /// Measures the bystander for this time.
    pub(crate) fn watch(&self, span: Duration) -> Experience {
        self.bystander.watch(&self.receiver, span)
    }

    /// Returns a load of these requests without a warm-up, at this pace on 16 connections.
    pub(crate) fn load(&self, requests: Vec<Vec<u8>>, pace: Pace, span: Duration) -> Load {
        Load {
            addresses: vec![self.server.address],
            requests: Arc::new(requests),
            connections: 16,
            pace,
            warm_up: Duration::ZERO,
            span,
        }
    }
}

/// A self-signed certificate of the server.
struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    client: Arc<ClientConfig>,
}

impl Certificate {
    fn issue(place: &Place) -> Self {
        let names = vec![Ipv4Addr::LOCALHOST.to_string()];
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).expect("there is randomness");
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).expect("the certificate is valid");
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider supports the default versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            chain: place.put_secret("chain.pem", &cert.pem()),
            key: place.put_secret("key.pem", &signing_key.serialize_pem()),
            client: Arc::new(config),
        }
    }
}

const SUITE: &str = "hybrid";

/// The address of the bystander and of its receiver. The attackers use another one, because limits per address
/// must not count both together.
const BYSTANDER_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 77);
