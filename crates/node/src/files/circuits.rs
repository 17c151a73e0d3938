//! Reads the file of compliance circuits at start and on reload. A compliance circuit is the set of checks that a
//! jurisdiction requires. An invalid file prevents the start. On reload, an invalid file is logged, and the current
//! circuits stay in use.

use std::{path::Path, sync::Arc};

use sealpost_domain::Circuits;
use sealpost_service::{Sealpost, built_in_circuits, parse_circuits};

use super::regular_file;
use crate::error::NodeError;

/// Reads the compliance circuits of a file. Returns the built-in circuits if `file` is `None`.
pub fn read(file: Option<&Path>) -> Result<Circuits, NodeError> {
    let Some(file) = file else {
        return built_in_circuits().map_err(NodeError::caused_by);
    };
    let path = file.display();
    let cannot =
        |error| NodeError::caused(format!("the circuits file {path} cannot be read"), error);
    let text = regular_file::read_text(file, FILE_BYTES_MAX).map_err(cannot)?;
    parse_circuits(&text).map_err(|fault| {
        NodeError::caused(format!("the circuits file {path} cannot be used"), fault)
    })
}

/// Reads the file again, and replaces the compliance circuits of the service if the file is valid.
pub(crate) fn reload(file: Option<&Path>, sealpost: &Sealpost) {
    match read(file) {
        Ok(circuits) => {
            let circuits = Arc::new(circuits);
            let before = sealpost.badges.use_circuits(Arc::clone(&circuits));
            let version = circuits.version;
            tracing::info!(
                circuits.version = version,
                circuits.jurisdictions = circuits.jurisdiction_names(),
                "circuits read"
            );
            if before.version == version && before != circuits {
                tracing::warn!(circuits.version = version, "{SAME_VERSION}");
            }
        }
        Err(fault) => {
            tracing::error!(error = fault.with_causes(), "the circuits stay as they were");
        }
    }
}

const SAME_VERSION: &str =
    "the circuits have changed and their version has not; raise it, because badges contain it";
const FILE_BYTES_MAX: u64 = 262_144;
