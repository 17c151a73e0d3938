//! Starts an actix-web server that serves the API and one page of its own. Then calls the API and the page.
//!
//! `cargo run -p sealpost-api --example mount`
#![expect(clippy::print_stdout, reason = "an example shows its result")]
#![expect(clippy::disallowed_methods, reason = "an embedder brings the clock")]

use std::{
    error::Error,
    net::TcpListener,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use actix_web::{App, HttpServer, web};
use sealpost_api::{ApiSettings, ApiState};
use sealpost_domain::{Clock, Did, Timestamp};
use sealpost_service::{Issuer, Parts, Sealpost, Settings, built_in_circuits, unlock};
use sealpost_storage::{Database, DatabaseUrl, Settings as DatabaseSettings};
use sealpost_wallet::Keyring;
use sealpost_webhooks::{AddressGuard, AddressPolicy, Dispatcher, Settings as WebhookSettings};

#[actix_web::main]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let socket = TcpListener::bind("127.0.0.1:0")?;
    let base_url = format!("http://{}", socket.local_addr()?);
    let state = web::Data::new(api(&folder.path().join("sealpost.db"), &base_url)?);

    let mounted = state.clone();
    let server = HttpServer::new(move || {
        App::new()
            .configure(sealpost_api::routes(mounted.clone()))
            .route("/", web::get().to(async || "Hello from my own server."))
    });
    let server = server.workers(1).disable_signals().listen(socket)?.run();
    let handle = server.handle();
    actix_web::rt::spawn(server);

    web::block(move || call(&base_url)).await??;
    handle.stop(true).await;
    state.sealpost.stop();
    Ok(())
}

/// Calls the server as a client would.
fn call(base_url: &str) -> Result<(), ureq::Error> {
    let page = ureq::get(base_url).call()?.body_mut().read_to_string()?;
    println!("{page}");
    let request = ureq::post(format!("{base_url}/v1/did/activate"));
    let mut response = request.content_type("application/json").send(r#"{"label": "Alice"}"#)?;
    println!("{}", response.body_mut().read_to_string()?);
    Ok(())
}

fn api(file: &Path, base_url: &str) -> Result<ApiState, Box<dyn Error>> {
    let settings = ApiSettings { base_url: base_url.to_owned(), ..ApiSettings::default() };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let (sealpost, issuer) = service(file, base_url, &clock)?;
    Ok(ApiState::new(settings, Arc::new(sealpost), issuer, clock))
}

/// Starts the service with an embedded database. `crates/service/examples/embed.rs` explains the parts.
fn service(
    file: &Path,
    base_url: &str,
    clock: &Arc<dyn Clock>,
) -> Result<(Sealpost, Arc<Issuer>), Box<dyn Error>> {
    let database =
        Database::open(&DatabaseUrl::Sqlite(file.to_owned()), DatabaseSettings::default())?;
    database.migrate()?;
    let keyring = Arc::new(Keyring::parse(&Keyring::fresh_line(1)?)?);
    unlock(&keyring, &database)?;
    let database = Arc::new(database);
    let issuer = Arc::new(Issuer::open(
        Arc::<Database>::clone(&database),
        Arc::clone(&keyring),
        Arc::clone(clock),
        Did::web("seal.example.org", ""),
    )?);
    let dispatcher = Dispatcher::start(
        WebhookSettings::default(),
        Arc::<Database>::clone(&database),
        Arc::clone(&keyring),
        Arc::clone(clock),
        None,
    )?;
    let parts = Parts {
        issuer: Arc::clone(&issuer),
        base_url: base_url.to_owned(),
        circuits: built_in_circuits()?,
        store: database,
        dispatch: Arc::new(dispatcher),
        guard: Arc::new(AddressGuard::new(AddressPolicy::default())),
        keyring,
        clock: Arc::clone(clock),
    };
    Ok((Sealpost::start(parts, Settings::default())?, issuer))
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
