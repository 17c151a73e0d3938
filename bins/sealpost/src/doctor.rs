//! `sealpost doctor`: looks at what a server needs, changes nothing but the mode of an embedded database's file, and says
//! what to mend.

mod clock;
mod database;
mod finding;
mod folder;
mod keys;
mod network;
mod settings;
mod tls;

use std::io::{IsTerminal as _, Write as _};

use sealpost_node::Settings;

use crate::{cli::DoctorArgs, fault::Fault};

use finding::{Finding, Verdict};

/// Looks, tells, and fails where anything has to be mended before a server can run.
pub(crate) fn run(args: &DoctorArgs) -> Result<(), Fault> {
    let findings = examine(args);
    tell(args.json, &findings)?;
    match findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count() {
        0 => Ok(()),
        1 => Err(Fault::new("1 check failed; mend what is marked fail")),
        failed => Err(Fault::new(format!("{failed} checks failed; mend what is marked fail"))),
    }
}

/// From what needs nothing to what needs everything before it.
fn examine(args: &DoctorArgs) -> Vec<Finding> {
    let settings = Settings::from(&args.serve);
    let mut findings = settings::look(&settings, &args.serve.log);
    findings.extend(folder::look(&settings.database));
    findings.extend(tls::look(&settings.http));
    findings.extend(network::look(&settings.http));
    let opened = database::look(&settings, &mut findings);
    findings.push(clock::look(opened.as_ref().and_then(|opened| opened.about.server.as_ref())));
    findings.extend(keys::look(&settings, opened.as_ref()));
    findings
}

fn tell(json: bool, findings: &[Finding]) -> Result<(), Fault> {
    let mut out = std::io::stdout();
    let text = if json {
        let is_well = findings.iter().all(|finding| finding.verdict != Verdict::Fail);
        format!("{}\n", serde_json::json!({"healthy": is_well, "findings": findings}))
    } else {
        let coloured = out.is_terminal() && crate::terminal::wants_colour();
        findings.iter().map(|finding| finding.line(coloured)).collect()
    };
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Fault::caused("standard output is closed", error))
}
