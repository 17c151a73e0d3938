//! The settings of the web pages.

/// The settings of the web pages.
#[derive(Debug, Clone)]
pub struct WebSettings {
    /// The maximum number of dashboard pages per minute and session. All sessions of an account together can request
    /// four times as many. A form counts as four pages. 0 turns the limit off.
    pub dashboard_per_minute: u32,
    /// The maximum number of live event logs of one account on this node. A live log streams new entries to a browser.
    /// If the account opens one more live log, its oldest one ends. 0 turns live logs off.
    pub live_logs_per_account: usize,
    /// The maximum number of live event logs of all accounts together on this node. 0 turns live logs off.
    pub live_logs: usize,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self { dashboard_per_minute: 120, live_logs_per_account: 4, live_logs: 200 }
    }
}
