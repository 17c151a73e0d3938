//! The paths of the dashboard, with the handlers of their pages and forms.

use actix_web::{Handler, Resource, Responder, Route, guard, web};
use futures_util::future::LocalBoxFuture;

use super::{
    pages as p,
    response::{Frame, PageResponse, web_state},
    session::SignedInUser,
};
use crate::state::WebState;

/// Mounts all pages and forms of the dashboard.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .service(
            at("/dashboard/sign-in", "GET, POST")
                .route(web::get().to(p::sign_in::show))
                .route(post(p::sign_in::submit)),
        )
        .service(
            at("/dashboard/open-account", "GET, POST")
                .route(web::get().to(p::open_account::show))
                .route(post(p::open_account::submit)),
        )
        .service(
            at("/dashboard/recover", "GET, POST")
                .route(web::get().to(p::recover::show))
                .route(post(p::recover::submit)),
        )
        .service(at("/dashboard/recovered", "GET").route(web::get().to(p::recover::show_recovered)))
        .service(at("/dashboard/sign-out", "POST").route(web::post().to(p::account::sign_out)))
        .service(at("/dashboard", "GET").route(web::get().to(p::overview::show)))
        .service(at("/dashboard/account", "GET").route(web::get().to(p::account::show)))
        .service(at("/dashboard/activity", "GET").route(web::get().to(p::activity::show)))
        .service(
            at("/dashboard/account/close", "GET, POST")
                .route(web::get().to(p::close_account::show))
                .route(web::post().to(p::close_account::submit)),
        )
        .service(
            at("/dashboard/account/export", "GET, POST")
                .route(web::get().to(p::export::show))
                .route(post(p::export::submit)),
        )
        .service(
            at("/dashboard/account/opened", "GET")
                .route(web::get().to(p::open_account::show_opened)),
        )
        .service(
            at("/dashboard/account/sessions", "GET, POST")
                .route(web::get().to(p::account::ask_sessions))
                .route(web::post().to(p::account::end_session)),
        )
        .service(
            at("/dashboard/account/secret", "GET, POST")
                .route(web::get().to(p::account::ask_secrets))
                .route(web::post().to(p::account::replace_secrets)),
        )
        .service(
            at("/dashboard/account/secrets", "GET").route(web::get().to(p::account::show_secrets)),
        )
        .service(
            at("/dashboard/tokens", "GET, POST")
                .route(web::get().to(p::tokens::show))
                .route(post(p::tokens::create)),
        )
        .service(at("/dashboard/tokens/{token}", "GET").route(web::get().to(p::tokens::show_token)))
        .service(
            at("/dashboard/tokens/{token}/revoke", "POST").route(web::post().to(p::tokens::revoke)),
        )
        .configure(list_routes)
        .configure(key_routes)
        .service(
            web::resource("/dashboard/{rest}*")
                .guard(guard::Any(guard::Get()).or(guard::Post()))
                .default_service(web::to(not_found)),
        );
}

/// Mounts the lists of all identities of the account.
fn list_routes(config: &mut web::ServiceConfig) {
    config
        .service(at("/dashboard/sent", "GET").route(web::get().to(p::sent::show)))
        .service(
            at("/dashboard/events", "GET, POST")
                .route(web::get().to(p::events::show))
                .route(post(p::events::redeliver)),
        )
        .service(at("/dashboard/events/live", "GET").route(web::get().to(p::live_events::follow)))
        .service(at("/dashboard/webhooks", "GET").route(web::get().to(p::account_webhooks::show)));
}

/// Mounts the pages and forms of identities, with their webhooks and events.
fn key_routes(config: &mut web::ServiceConfig) {
    config
        .service(
            at("/dashboard/keys", "GET, POST")
                .route(web::get().to(p::identities::show))
                .route(post(p::new_identity::submit)),
        )
        .service(at("/dashboard/keys/new", "GET").route(web::get().to(p::new_identity::show)))
        .service(at("/dashboard/keys/{key}", "GET").route(web::get().to(p::identity::show)))
        .service(
            at("/dashboard/keys/{key}/revoke", "GET, POST")
                .route(web::get().to(p::revoke::show))
                .route(web::post().to(p::revoke::submit)),
        )
        .service(
            at("/dashboard/keys/{key}/senders", "GET, POST")
                .route(web::get().to(p::senders::show))
                .route(post(p::senders::submit)),
        )
        .service(
            at("/dashboard/keys/{key}/events", "GET, POST")
                .route(web::get().to(p::events::show))
                .route(post(p::events::redeliver)),
        )
        .service(
            at("/dashboard/keys/{key}/events/live", "GET")
                .route(web::get().to(p::live_events::follow)),
        )
        .service(
            at("/dashboard/keys/{key}/events/{event}", "GET, POST")
                .route(web::get().to(p::event::show))
                .route(post(p::event::act)),
        )
        .service(at("/dashboard/keys/{key}/sent", "GET").route(web::get().to(p::sent::show)))
        .service(
            at("/dashboard/keys/{key}/sent/{envelope}", "GET")
                .route(web::get().to(p::sent::show_receipt)),
        )
        .service(
            at("/dashboard/keys/{key}/webhooks", "GET, POST")
                .route(web::get().to(p::webhooks::show))
                .route(post(p::webhooks::register)),
        )
        .service(
            at("/dashboard/keys/{key}/webhooks/{webhook}", "GET, POST")
                .route(web::get().to(p::webhook::show))
                .route(post(p::webhook::act)),
        )
        .service(
            at("/dashboard/keys/{key}/webhooks/{webhook}/change", "GET, POST")
                .route(web::get().to(p::change_webhook::show))
                .route(post(p::change_webhook::submit)),
        )
        .service(
            at("/dashboard/keys/{key}/webhooks/{webhook}/secret", "GET")
                .route(web::get().to(p::webhook::show_secret)),
        );
}

async fn not_found(app: web::Data<WebState>, user: Option<SignedInUser>) -> PageResponse {
    let public = || Frame::public(&app.site);
    PageResponse::not_found(user.as_ref().map_or_else(public, SignedInUser::frame))
}

fn at(path: &str, allowed: &'static str) -> Resource {
    let reject = async move |app: web::Data<WebState>| {
        PageResponse::method_not_allowed(Frame::public(&app.site), allowed)
    };
    web::resource(path).app_data(query_config()).default_service(web::to(reject))
}

/// Makes [`web::Query`] respond with an error page. Without this configuration, a browser gets a problem document
/// (JSON, RFC 9457).
fn query_config() -> web::QueryConfig {
    web::QueryConfig::default().error_handler(|_error, request| match web_state(request) {
        Ok(app) => PageResponse::invalid_query(Frame::public(&app.site)).into(),
        Err(page) => page.into(),
    })
}

/// Returns the route of a form, whose handler runs to its end: see [`Detached`]. The handlers of forms that end sessions,
/// tokens or keys are not detached, because [`EndingUser::run`] runs their work to its end. A handler that still waits
/// for a slot ends with the connection.
pub(crate) fn post<H, Args>(handler: H) -> Route
where
    H: Handler<Args>,
    H::Output: Responder + 'static,
    H::Future: 'static,
    Args: actix_web::FromRequest + 'static,
{
    web::post().to(Detached(handler))
}

/// The handler of a form. Runs to its end even if the browser closes the connection, for example after a second click.
/// actix-web drops other handlers when the connection closes. For a form, the action could then be performed, but its
/// result would not be stored.
#[derive(Clone)]
struct Detached<H>(H);

impl<H, Args> Handler<Args> for Detached<H>
where
    H: Handler<Args>,
    H::Output: 'static,
    H::Future: 'static,
{
    type Output = H::Output;
    type Future = LocalBoxFuture<'static, H::Output>;

    fn call(&self, args: Args) -> Self::Future {
        let work = actix_web::rt::spawn(self.0.call(args));
        Box::pin(async move {
            match work.await.map_err(tokio::task::JoinError::try_into_panic) {
                Ok(output) => output,
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                // The worker is stopping, and nothing waits for the response.
                Err(Err(_cancelled)) => std::future::pending().await,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn a_form_acts_after_its_browser_has_closed_the_connection() {
        let (acts, mut acted) = tokio::sync::mpsc::channel(1);
        let handler = Detached(move || {
            let acts = acts.clone();
            async move {
                tokio::task::yield_now().await;
                acts.send("done").await
            }
        });
        let response = handler.call(());
        drop((response, handler));
        assert_eq!(acted.recv().await, Some("done"));
    }
}
