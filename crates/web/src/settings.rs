//! The settings of the web pages.

/// The settings of the web pages.
#[derive(Debug, Clone)]
pub struct WebSettings {
    /// The maximum number of dashboard pages per minute and session. All sessions of an account together can request
    /// four times as many. A form counts as four pages. 0 turns the limit off.
    pub dashboard_per_minute: u32,
    /// The contact address for users who need larger limits: an `https:` or `mailto:` URL. The dashboard links to it
    /// beside a limit that is nearly used up. `None` shows no link.
    pub sales_contact: Option<String>,
    /// The maximum number of event logs that one account follows live on this node. Opening one more ends the oldest. 0
    /// turns live logs off.
    pub live_logs_per_account: usize,
    /// The maximum number of event logs that all accounts follow live on this node. 0 turns live logs off.
    pub live_logs: usize,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self {
            dashboard_per_minute: 120,
            sales_contact: None,
            live_logs_per_account: 4,
            live_logs: 200,
        }
    }
}
