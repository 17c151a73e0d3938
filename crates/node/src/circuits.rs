//! The circuits file: read at start, and again at SIGHUP. A broken one stops the start, and later replaces nothing.

use std::{fs::File, io::Read as _, path::Path, sync::Arc};

use sealpost_domain::Circuits;
use sealpost_service::{Sealpost, built_in_circuits, parse_circuits};

use crate::error::{Failure, NodeError};

/// The circuits of this file, or the built-in ones.
pub fn read(file: Option<&Path>) -> Result<Circuits, NodeError> {
    let Some(file) = file else {
        return built_in_circuits().map_err(|fault| NodeError::Circuits(Failure::of(fault)));
    };
    let cannot = |error| {
        NodeError::Circuits(Failure::caused(
            format!("the circuits file {} cannot be read", file.display()),
            error,
        ))
    };
    let mut text = String::new();
    let handle = File::open(file).map_err(cannot)?;
    handle.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(cannot)?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        let path = file.display();
        return Err(NodeError::Circuits(Failure::new(format!(
            "the circuits file {path} is over {FILE_BYTES_MAX} bytes; give a smaller one"
        ))));
    }
    parse_circuits(&text).map_err(|fault| {
        NodeError::Circuits(Failure::caused(
            format!("the circuits file {} cannot be used", file.display()),
            fault,
        ))
    })
}

/// Reads the file again; a broken one replaces nothing.
pub(crate) fn reload(file: Option<&Path>, sealpost: &Sealpost) {
    match read(file) {
        Ok(circuits) => {
            let circuits = Arc::new(circuits);
            let before = sealpost.use_circuits(Arc::clone(&circuits));
            let version = circuits.version;
            tracing::info!(
                circuits.version = version,
                circuits.jurisdictions = circuits.jurisdiction_names(),
                "circuits read"
            );
            if before.version == version && before != circuits {
                tracing::warn!(circuits.version = version, "{UNNAMED}");
            }
        }
        Err(fault) => {
            tracing::error!(error = %fault.with_causes(), "the circuits stay as they were");
        }
    }
}

const UNNAMED: &str =
    "the circuits have changed and their version has not; raise it, since badges name it";
const FILE_BYTES_MAX: u64 = 262_144;
