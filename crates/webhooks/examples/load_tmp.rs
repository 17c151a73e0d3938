//! tmp
#![allow(warnings, clippy::all, clippy::pedantic, clippy::restriction)]
use sealpost_domain::{ports::*, *};
use sealpost_wallet::*;
use sealpost_webhooks::*;
use std::{
    collections::*,
    sync::{Arc, atomic::*},
    time::*,
};
use tokio::io::*;

struct Sink(AtomicUsize, AtomicUsize, AtomicUsize);
impl Outbox for Sink {
    fn claim(&self, _: &Claim) -> std::result::Result<Vec<LeasedDelivery>, StoreError> {
        Ok(vec![])
    }
    fn settle(&self, s: &[Settlement]) -> std::result::Result<(), StoreError> {
        self.2.fetch_add(1, Ordering::SeqCst);
        for x in s {
            if x.outcome == Outcome::Succeeded {
                self.0.fetch_add(1, Ordering::SeqCst);
            } else {
                if self.1.fetch_add(1, Ordering::SeqCst) < 3 {
                    eprintln!("{x:?}");
                }
            }
        }
        Ok(())
    }
    fn release(
        &self,
        _: &[(DeliveryId, LeaseToken)],
        _: Timestamp,
    ) -> std::result::Result<(), StoreError> {
        Ok(())
    }
}
struct C;
impl Clock for C {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(
            SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
        )
    }
}
fn cpu() -> BTreeMap<String, f64> {
    let mut m = BTreeMap::new();
    for e in std::fs::read_dir("/proc/self/task").unwrap() {
        let p = e.unwrap().path();
        let name = std::fs::read_to_string(p.join("comm")).unwrap().trim().to_owned();
        let s = std::fs::read_to_string(p.join("schedstat")).unwrap();
        *m.entry(name).or_insert(0.0) += s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9;
    }
    m
}
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let ntargets: u16 = std::env::args().nth(2).unwrap().parse().unwrap();
    let lanes: usize = std::env::args().nth(3).unwrap().parse().unwrap();
    let (tx, rx) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .name("receiver".into())
        .spawn(move || {
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(
                async {
                    let l = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                    tx.send(l.local_addr().unwrap()).unwrap();
                    loop {
                        let (mut s, _) = l.accept().await.unwrap();
                        s.set_nodelay(true);
                        tokio::spawn(async move {
                            let mut buf = vec![0u8; 8192];
                            let mut have = 0;
                            loop {
                                let k = s.read(&mut buf[have..]).await.unwrap_or(0);
                                if k == 0 {
                                    return;
                                }
                                have += k;
                                let text = &buf[..have];
                                if let Some(p) = text.windows(4).position(|w| w == b"\r\n\r\n") {
                                    let head = std::str::from_utf8(&text[..p])
                                        .unwrap()
                                        .to_ascii_lowercase();
                                    let len: usize = head
                                        .split("content-length: ")
                                        .nth(1)
                                        .unwrap()
                                        .split("\r\n")
                                        .next()
                                        .unwrap()
                                        .parse()
                                        .unwrap();
                                    if have >= p + 4 + len {
                                        have = 0;
                                        s.write_all(
                                            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
                                        )
                                        .await
                                        .unwrap();
                                    }
                                }
                            }
                        });
                    }
                },
            )
        })
        .unwrap();
    let addr = rx.recv().unwrap();
    let keyring =
        Arc::new(Keyring::parse("1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap());
    let sink = Arc::new(Sink(0.into(), 0.into(), 0.into()));
    let targets: Vec<Arc<Target>> = (0..ntargets)
        .map(|i| {
            let webhook_id =
                WebhookId::new(C.now(), [0,0,0,0,0,0,0,1,(i>>8) as u8,i as u8]);
            Arc::new(Target {
                webhook_id,
                url: format!("http://{addr}/hook"),
                secret: WebhookSecret::generate().unwrap().wrap(&keyring, &webhook_id).unwrap(),
            })
        })
        .collect();
    let d = Dispatcher::start(
        Settings { policy: AddressPolicy { dev: true }, arbiters: lanes, ..Settings::default() },
        sink.clone(),
        keyring,
        Arc::new(C),
    )
    .unwrap();
    let metas: Vec<Arc<EnvelopeMeta>> = (0..n)
        .map(|i| {
            Arc::new(EnvelopeMeta {
                id: EnvelopeId::new(
                    C.now(),
                    [0,0,0,0,0,0,0,(i>>16) as u8, (i>>8 & 255) as u8,(i & 255) as u8],
                ),
                sender: "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
                recipient: "ak_00000000000000000000000001".parse().unwrap(),
                suite: Suite::Hybrid,
                hash: EnvelopeHash([1; 32]),
                payload_size_bytes: 1234,
                timestamp: C.now(),
            })
        })
        .collect();
    for round in 0..2 {
        let before = cpu();
        let base = sink.0.load(Ordering::SeqCst);
        let b2 = sink.2.load(Ordering::SeqCst);
        let t = Instant::now();
        let mut i = 0;
        while i < n {
            let k = d.room().saturating_sub(5500).min(256).min(n - i);
            if k == 0 {
                std::thread::sleep(Duration::from_micros(300));
                continue;
            }
            let (lease, lease_until) = d.lease();
            d.submit(
                (i..i + k)
                    .map(|j| LeasedDelivery {
                        meta: metas[j].clone(),
                        target: targets[j % targets.len()].clone(),
                        attempts: 0,
                        lease,
                        lease_until,
                    })
                    .collect(),
            );
            i += k;
        }
        while sink.0.load(Ordering::SeqCst) + sink.1.load(Ordering::SeqCst) - base < n {
            std::thread::sleep(Duration::from_millis(1));
            if t.elapsed().as_secs() > 60 {
                break;
            }
        }
        let el = t.elapsed().as_secs_f64();
        println!(
            "round {round}: {n} in {el:.2}s = {:.0}/s, failed {}, settles {}",
            n as f64 / el,
            sink.1.load(Ordering::SeqCst),
            sink.2.load(Ordering::SeqCst) - b2
        );
        for (k, v) in cpu() {
            println!(
                "   {k}: {:.1} us each",
                (v - before.get(&k).unwrap_or(&0.0)) * 1e6 / n as f64
            );
        }
    }
    println!("fds {}", std::fs::read_dir("/proc/self/fd").unwrap().count());
    println!(
        "rss {}",
        std::fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .find(|l| l.starts_with("VmRSS"))
            .unwrap()
    );
    let t = Instant::now();
    d.stop();
    println!("stop {:?}", t.elapsed());
}
