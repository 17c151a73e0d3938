//! Tests that witnesses without a response delay neither the cosignatures of other witnesses nor the stop.

#![cfg(test)]

use std::{
    future::pending,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use sealpost_client::{Client, Login};
use sealpost_node::{LogWitness, Node, NodeThread, Settings, Witness};
use sealpost_transparency::VerifierKey;

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn serve(folder: &Path, log_witnesses: Vec<LogWitness>) -> NodeThread {
    let settings = Settings { dev: true, log_witnesses, ..Settings::default() };
    let node = Node::builder().settings(settings).data_dir(folder.join("data"));
    node.listen(ANY_PORT).ops_listen(None).spawn().unwrap()
}

/// Starts a witness, which runs until the process ends. Returns its keys and its URL.
fn witness(folder: &Path, log: VerifierKey) -> (Vec<VerifierKey>, String) {
    let folder = folder.join("witness");
    let witness = Witness::bind("w.example.org", &folder, ANY_PORT, vec![log]).unwrap();
    let (keys, url) = (witness.keys(), format!("http://{}", witness.address()));
    thread::spawn(move || {
        actix_rt::System::new().block_on(async {
            let _running = witness.start().unwrap();
            pending::<()>().await;
        });
    });
    (keys, url)
}

/// Stops the service. The connections of clients close meanwhile.
async fn stop(service: NodeThread) {
    tokio::task::spawn_blocking(move || drop(service)).await.unwrap();
}

#[tokio::test]
async fn silent_witnesses_delay_neither_the_others_nor_the_stop() {
    let folder = tempfile::tempdir().unwrap();
    let service = serve(folder.path(), Vec::new());
    let client = Client::builder(service.base_url()).build().unwrap();
    let carol = client.activate("Carol", None, None).await.unwrap();
    let login = Login::new(carol.account_id, carol.login_secret.unwrap());
    let log = loop {
        if let Some(key) = service.sealpost().transparency_log.key().await.unwrap() {
            break VerifierKey::parse(&key).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    drop(client);
    stop(service).await;

    let (keys, url) = witness(folder.path(), log);
    // The system accepts their connections, but nothing responds.
    let silent = [(); 4].map(|()| TcpListener::bind(ANY_PORT).unwrap());
    let mut witnesses: Vec<_> = silent
        .iter()
        .map(|silent| format!("http://{}", silent.local_addr().unwrap()))
        .map(|url| LogWitness { key: keys[1].clone(), url })
        .collect();
    witnesses.push(LogWitness { key: keys[0].clone(), url });
    let service = serve(folder.path(), witnesses);
    let client = Client::builder(service.base_url()).login(login).api_key(carol.api_key_id);
    let client = client.build().unwrap();
    let sent = client.send(&carol.api_key_id.to_string(), "hello").await.unwrap();
    // The first round waits for all witnesses.
    client.evidence(sent.envelope_id).await.unwrap();
    assert!(client.evidence(sent.envelope_id).await.unwrap().cosigned);
    drop(client);
    let began = Instant::now();
    stop(service).await;
    assert!(began.elapsed() < Duration::from_secs(15));
}
