//! The web pages of Sealpost: dashboard, documentation, badges and the console of operators, with their assets.
//!
//! [`console_routes`] mounts the console of operators. [`routes`] mounts all other pages in an actix-web server that
//! also serves the API of [`sealpost_api`]: `App::new().configure(sealpost_web::routes(state))`.
//!
//! | folder or file | content |
//! |---|---|
//! | `dashboard/pages` | one file per dashboard page, with its forms |
//! | `dashboard/session.rs` | the signed-in user |
//! | `dashboard/forms.rs` | forms that perform their action only once |
//! | `dashboard/response.rs` | responses of the dashboard: layout, sidebar and error pages |
//! | `dashboard/charts` | the charts of daily numbers and of recent attempts, and the usage meters |
//! | `console` | the pages of operators |
//! | `docs` | the guides, the API reference and the error pages |
//! | `landing` | the page at `/`, for browsers |
//! | `badge_page.rs` | the page of a badge |
//! | `log_page.rs` | the page that verifies proofs of the transparency log |
//! | `not_found.rs` | the response to an unknown path |
//! | `host_cookie.rs` | the attributes of all cookies |
//! | `html` | tools of all pages: layout, headers, caching, forms, results after a redirect, and formats of values |
//! | `assets.rs` | stylesheets, scripts and icon |
//!
//! The pages work without JavaScript. A Content Security Policy prevents them from loading anything from other origins.

mod assets;
mod badge_page;
mod console;
mod dashboard;
mod docs;
mod host_cookie;
mod html;
mod landing;
mod log_page;
mod not_found;
mod routes;
mod state;

pub use console::{ConsoleState, routes as console_routes};
pub use not_found::no_such_page;
pub use routes::routes;
pub use state::{WebSettings, WebState};
