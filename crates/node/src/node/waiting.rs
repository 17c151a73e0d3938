//! Serves status 503 at the addresses of a node that waits for its key provider.

use std::{io, net::TcpListener, sync::Arc};

use actix_web::{App, HttpRequest, HttpResponse, web};
use sealpost_api::ConnectionProblems;
use zeroize::Zeroizing;

use super::serving::{anonymous_connections, bounds};
use crate::{
    clock::SystemClock,
    error::NodeError,
    listening::{self, RunningServer, tls::ReloadableCertificate},
    settings::{
        ProviderName, Settings,
        base_url::BaseUrl,
        quorum::{Progress, Quorum, Share},
    },
};

/// The HTTP servers of a node that waits for its keys. They respond to almost all requests with status 503.
pub(super) struct Waiting(Vec<RunningServer>);

impl Waiting {
    /// Starts the servers on the sockets. The node itself uses the same sockets after the wait. At the operations
    /// address, `/livez` responds with status 200, and `/kek/shares` accepts the shares of a [quorum](Quorum). A quorum
    /// is a wrapping key that is split among operators.
    pub(super) fn serve(
        settings: &Settings,
        base_url: &BaseUrl,
        (api, ops): (&TcpListener, Option<&TcpListener>),
        certificate: Option<&Arc<ReloadableCertificate>>,
    ) -> Result<Self, NodeError> {
        let failed = |error: io::Error| NodeError::caused("the addresses cannot be served", error);
        let problems =
            || ConnectionProblems::new(base_url.as_str().to_owned(), Arc::new(SystemClock));
        let bounds = || bounds(settings, 1, anonymous_connections(settings), problems());
        let shared = web::Data::new(problems());
        let refuse = move || {
            App::new().app_data(shared.clone()).default_service(web::to(
                async |problems: web::Data<ConnectionProblems>, request: HttpRequest| {
                    problems.unavailable(&request)
                },
            ))
        };
        let tls = certificate.map(ReloadableCertificate::config).transpose()?;
        let socket = api.try_clone().map_err(failed)?;
        let mut servers = vec![listening::serve(socket, tls, bounds(), refuse).map_err(failed)?];
        if let Some(ops) = ops {
            let quorum = match &settings.keys.provider {
                Some(ProviderName::Quorum(quorum)) => Some(web::Data::new(quorum.clone())),
                Some(_) | None => None,
            };
            let health = move || {
                let app = App::new()
                    .route("/livez", web::get().to(async || "ok\n"))
                    .default_service(web::to(async || {
                        HttpResponse::ServiceUnavailable().body("waiting for the key provider\n")
                    }));
                match &quorum {
                    None => app,
                    Some(quorum) => {
                        app.app_data(quorum.clone()).route("/kek/shares", web::post().to(add_share))
                    }
                }
            };
            let socket = ops.try_clone().map_err(failed)?;
            servers.push(listening::serve(socket, None, bounds(), health).map_err(failed)?);
        }
        Ok(Self(servers))
    }

    /// Ends the servers. Connections that have not been accepted stay in the queues of the sockets.
    pub(super) async fn stop(self) {
        for server in self.0 {
            server.stop(true).await;
        }
    }
}

/// Adds a share to the quorum. The body of the request is the text of the share. Responds with the number of shares so
/// far, or with status 400 if the share is rejected.
///
/// Responds with status 403 to requests of web pages, because a malicious page could send forged shares. Browsers send
/// `Origin` or `Sec-Fetch-Site` with such requests. Other programs send neither header.
async fn add_share(
    quorum: web::Data<Quorum>,
    request: HttpRequest,
    body: web::Bytes,
) -> HttpResponse {
    if ["origin", "sec-fetch-site"].iter().any(|name| request.headers().contains_key(*name)) {
        return HttpResponse::Forbidden().body("give shares with a program, not with a web page\n");
    }
    let text = Zeroizing::new(String::from_utf8_lossy(&body).into_owned());
    match text.parse::<Share>().and_then(|share| quorum.add(share)) {
        Ok(Progress { given, needed }) => {
            HttpResponse::Ok().body(format!("{given} of {needed} shares\n"))
        }
        Err(fault) => {
            tracing::warn!(%fault, "a share was rejected");
            HttpResponse::BadRequest().body(format!("{fault}\n"))
        }
    }
}
