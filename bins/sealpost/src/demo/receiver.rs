//! A receiver of notices, as small as one can be.

use std::time::Duration;

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use tokio::sync::mpsc;

use crate::fault::Fault;

/// Where notices arrive.
pub(super) struct Receiver {
    pub(super) url: String,
    notices: mpsc::UnboundedReceiver<Notice>,
}

/// One notice as it came.
pub(super) struct Notice {
    pub(super) id: String,
    pub(super) timestamp: String,
    pub(super) signature: String,
    pub(super) service_signature: String,
    pub(super) body: web::Bytes,
}

impl Receiver {
    /// Listens on a free loopback port.
    pub(super) fn start() -> Result<Self, Fault> {
        let cannot = |error| Fault::caused("the receiver cannot listen", error);
        let (inbox, notices) = mpsc::unbounded_channel();
        let make = move || {
            App::new().app_data(web::Data::new(inbox.clone())).route("/", web::post().to(receive))
        };
        let server = HttpServer::new(make)
            .workers(1)
            .disable_signals()
            .bind(("127.0.0.1", 0))
            .map_err(cannot)?;
        let address = server.addrs().first().copied();
        let address = address.ok_or_else(|| Fault::new("the receiver has no address"))?;
        actix_rt::spawn(server.run());
        Ok(Self { url: format!("http://{address}/"), notices })
    }

    /// The next notice, or a failure where none comes in time.
    pub(super) async fn next(&mut self, within: Duration) -> Result<Notice, Fault> {
        let notice = tokio::time::timeout(within, self.notices.recv()).await.ok().flatten();
        notice.ok_or_else(|| Fault::new("no notice came in time"))
    }
}

async fn receive(
    request: HttpRequest,
    body: web::Bytes,
    inbox: web::Data<mpsc::UnboundedSender<Notice>>,
) -> HttpResponse {
    let header = |name: &str| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let notice = Notice {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
        service_signature: header("x-service-signature"),
        body,
    };
    match inbox.send(notice) {
        Ok(()) => HttpResponse::NoContent().finish(),
        Err(_gone) => HttpResponse::Gone().finish(),
    }
}
