//! Compares the public URLs of the servers that use one database.
//!
//! The URL belongs to the service, not to a server: the DID of the service and the links in badges contain it.

use sealpost_domain::{
    Timestamp,
    ports::{Node, StoreError},
};
use sealpost_storage::Database;

/// Returns a warning if another running server uses the database with another public URL.
pub(crate) fn conflict(
    database: &Database,
    base_url: &str,
    now: Timestamp,
) -> Result<Option<String>, StoreError> {
    let nodes = database.read(|reader| reader.nodes(NODES_MAX))?;
    let differs = |node: &Node| node.is_running(now) && node.base_url != base_url;
    Ok(nodes.into_iter().find(differs).map(|Node { host, base_url: url, .. }| {
        format!(
            "the server on {host} uses this database with the base URL {url}, and this server uses {base_url}: badges \
             and links of the two differ; give all servers the same --base-url"
        )
    }))
}

/// Maximum number of servers that are compared. Servers that were active more recently are compared first.
const NODES_MAX: u32 = 100;
