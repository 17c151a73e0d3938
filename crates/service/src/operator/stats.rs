//! Counts the accounts, keys, webhooks, envelopes and deliveries of the whole service. Also shows failing webhooks,
//! housekeeping and nodes.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use sealpost_domain::{
    LeaseToken, Timestamp,
    ports::{Node, ServiceStats, TaskTurn},
};
use serde::Serialize;

use crate::acts::audited::{Operator, OperatorError};
use crate::{
    housekeeping::task::held_for,
    webhooks::view::{WebhookView, views},
};

/// Numbers about the whole service, for operators.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct StatsView {
    /// Number of accounts.
    pub accounts: u64,
    /// Number of keys by state.
    pub keys: BTreeMap<&'static str, u64>,
    /// Number of keys by plan, without revoked keys.
    pub plans: BTreeMap<String, u64>,
    /// Number of webhooks by status.
    pub webhooks: BTreeMap<&'static str, u64>,
    /// Number of stored envelopes, counted up to 1,000,000.
    pub envelopes: u64,
    /// True if more than 1,000,000 envelopes are stored. `envelopes` is then a lower bound.
    pub envelopes_more: bool,
    /// Number of deliveries that wait for an attempt, counted up to 1,000,000.
    pub waiting_deliveries: u64,
    /// True if more than 1,000,000 deliveries wait. `waiting_deliveries` is then a lower bound.
    pub waiting_deliveries_more: bool,
    /// Number of messages sent in about the last seven days. Summed from the daily counts, which lag behind the sends.
    pub sent_7d: u64,
    /// Number of events delivered in about the last seven days, summed from the daily counts.
    pub delivered_7d: u64,
    /// Size of the whole database in bytes.
    pub database_bytes: u64,
    /// Enabled webhooks with failing deliveries, the longest failing ones first; at most 20.
    pub failing_webhooks: Vec<WebhookView>,
    /// Housekeeping tasks, which delete expired rows and update counts.
    pub housekeeping: Vec<TaskView>,
    /// Servers that use the database, the last seen ones first; at most 100. A row stays for a day after the server has
    /// stopped.
    pub nodes: Vec<NodeView>,
}

/// The progress of a housekeeping task.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct TaskView {
    /// Name of the task.
    pub task: String,
    /// Id of the node that ran the task last.
    pub node: String,
    /// The time up to which the task has processed expired rows.
    pub processed_to: Timestamp,
    /// Seconds between `processed_to` and now. Less than two minutes, unless no node runs the task or a clock is wrong.
    pub behind_seconds: u64,
}

/// A server that uses the database.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct NodeView {
    /// Id of the node, chosen at random at each start.
    pub node: String,
    /// Host name of the server.
    pub host: String,
    /// Version of the program.
    pub version: String,
    /// Public URL of the service in the settings of the node. All nodes need the same.
    pub base_url: String,
    /// Time at which the node was started.
    pub started_at: Timestamp,
    /// Time at which the node last renewed its row. A running node renews its row once a minute.
    pub seen_at: Timestamp,
    /// True if the node was seen within the last three minutes.
    pub is_running: bool,
}

impl Operator {
    /// Returns the numbers of the whole service. Takes longer with more accounts, keys and webhooks, because each one
    /// is counted. Counts at most 1,000,000 envelopes and 1,000,000 waiting deliveries.
    pub fn stats(&self) -> Result<StatsView, OperatorError> {
        let since = self.clock.now().minus(COUNTED_DAYS);
        let now = self.clock.now();
        let store = &self.store;
        let stats = store.read(|reader| reader.stats(since, COUNTED_MAX + 1))?;
        let failing_webhooks = store.read(|reader| {
            let failing = reader.failing_webhooks(FAILING_MAX)?;
            views(reader, failing, now)
        })?;
        let turns = store.read(sealpost_storage::Reader::task_turns)?;
        let nodes = store.read(|reader| reader.nodes(NODES_MAX))?;
        let ServiceStats { envelopes, waiting_deliveries, .. } = stats;
        let (max, by_name) = (u64::from(COUNTED_MAX), stats.webhooks.into_iter());
        Ok(StatsView {
            accounts: stats.accounts,
            keys: stats.keys_by_status.into_iter().map(|(key, n)| (key.as_str(), n)).collect(),
            plans: stats.keys_by_plan.into_iter().collect(),
            webhooks: by_name.map(|(webhook, n)| (webhook.as_str(), n)).collect(),
            envelopes: envelopes.min(max),
            envelopes_more: envelopes > max,
            waiting_deliveries: waiting_deliveries.min(max),
            waiting_deliveries_more: waiting_deliveries > max,
            sent_7d: stats.sent,
            delivered_7d: stats.delivered,
            database_bytes: stats.database_bytes,
            failing_webhooks,
            housekeeping: turns.into_iter().map(|turn| task_shown(turn, now)).collect(),
            nodes: nodes.into_iter().map(|node| node_shown(node, now)).collect(),
        })
    }
}

fn task_shown(TaskTurn { task, node, until }: TaskTurn, now: Timestamp) -> TaskView {
    let processed_to = until.minus(held_for(&task));
    TaskView {
        task,
        node: node_id(node),
        processed_to,
        behind_seconds: now.since(processed_to).as_secs(),
    }
}

fn node_shown(node: Node, now: Timestamp) -> NodeView {
    let is_running = node.is_running(now);
    let Node { id, host, version, base_url, started_at, seen_at } = node;
    NodeView { node: node_id(id), host, version, base_url, started_at, seen_at, is_running }
}

fn node_id(LeaseToken(id): LeaseToken) -> String {
    format!("{id:016x}")
}

const FAILING_MAX: u32 = 20;
const NODES_MAX: u32 = 100;

/// The period of `sent_7d` and `delivered_7d`, which sum up the daily counts of days that began within this time.
const COUNTED_DAYS: Duration = Duration::from_hours(7 * 24);
/// Maximum count of envelopes, and of deliveries, so that counting takes at most about a second.
const COUNTED_MAX: u32 = 1_000_000;
