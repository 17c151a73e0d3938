//! One webhook request by awc to the receiver, on one thread, without the dispatcher.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use awc::{
    ClientBuilder, Connector,
    http::header::{CONTENT_TYPE, HeaderName, HeaderValue},
};
use futures_util::future::join_all;
use sealpost_domain::{EnvelopeMeta, EnvelopeReceived};
use sealpost_webhooks::sign;

use crate::{
    measure::{clock::now, cpu},
    report::share,
    stage::receiver::Receiver,
};

pub(crate) fn measure(receiver: &Receiver, meta: &EnvelopeMeta, budget: Duration) -> f64 {
    let (url, prepared) = (receiver.url(0), PreparedRequest::new(receiver, meta));
    actix_rt::System::new().block_on(async {
        let client = ClientBuilder::new()
            .connector(Connector::new().limit(IN_FLIGHT))
            .disable_redirects()
            .disable_timeout()
            .finish();
        let (until, before, count) = (Instant::now() + budget, cpu::of_this_thread(), Cell::new(0));
        let one_after_another = || async {
            while Instant::now() < until {
                let mut request = client.post(&*url);
                for (name, value) in &prepared.headers {
                    request.headers_mut().insert(name.clone(), value.clone());
                }
                let response = request.send_body(prepared.body.clone()).await;
                let mut response = response.expect("the receiver responds");
                assert!(response.status().is_success(), "{}", response.status());
                response.body().await.expect("the response can be read to its end");
                count.set(count.get() + 1);
            }
        };
        join_all((0..IN_FLIGHT).map(|_| one_after_another())).await;
        share(cpu::of_this_thread().saturating_sub(before), count.get())
    })
}

/// The request of a dispatcher.
struct PreparedRequest {
    headers: [(HeaderName, HeaderValue); 5],
    body: Vec<u8>,
}

impl PreparedRequest {
    fn new(receiver: &Receiver, meta: &EnvelopeMeta) -> Self {
        let timestamp_s = now().as_seconds();
        let id = meta.id.to_string();
        let body = serde_json::to_vec(&EnvelopeReceived::from(meta)).expect("it is JSON");
        let signature = sign(receiver.secret(0), &id, timestamp_s, &body);
        let value = |text: &str| HeaderValue::try_from(text).expect("it is ASCII");
        let headers = [
            (CONTENT_TYPE, value("application/json")),
            (HeaderName::from_static("webhook-id"), value(&id)),
            (HeaderName::from_static("webhook-timestamp"), value(&timestamp_s.to_string())),
            (HeaderName::from_static("x-service-signature"), value(&signature)),
            (HeaderName::from_static("webhook-signature"), value(&signature)),
        ];
        Self { headers, body }
    }
}

/// The dispatcher's number of requests in flight to one target.
const IN_FLIGHT: usize = 8;
