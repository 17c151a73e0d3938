//! `sealpost doctor`: checks whether a server could run with the given settings, and gives advice. Changes nothing
//! except the mode of the embedded database's file, which becomes 0600.

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

/// Runs all checks and prints their results. Fails if at least one check failed.
pub(crate) fn run(args: &DoctorArgs) -> Result<(), Fault> {
    let findings = examine(args);
    print(args.json, &findings)?;
    match findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count() {
        0 => Ok(()),
        1 => Err(Fault::new("1 check failed: fix the finding marked fail")),
        failed => Err(Fault::new(format!("{failed} checks failed: fix the findings marked fail"))),
    }
}

/// Runs the checks in an order in which each check can use the results of earlier ones.
fn examine(args: &DoctorArgs) -> Vec<Finding> {
    let settings = Settings::from(&args.serve);
    let mut findings = settings::check(&settings, &args.serve.log);
    findings.extend(folder::check(&settings.database));
    findings.extend(tls::check(&settings.http));
    findings.extend(network::check(&settings.http));
    let opened = database::check(&settings, &mut findings);
    findings.push(clock::check(opened.as_ref().and_then(|opened| opened.about.server.as_ref())));
    findings.extend(keys::check(&settings, opened.as_ref()));
    findings
}

fn print(json: bool, findings: &[Finding]) -> Result<(), Fault> {
    let mut out = std::io::stdout();
    let text = if json {
        let is_healthy = findings.iter().all(|finding| finding.verdict != Verdict::Fail);
        format!("{}\n", serde_json::json!({"healthy": is_healthy, "findings": findings}))
    } else {
        let coloured = out.is_terminal() && crate::terminal::allows_colour();
        findings.iter().map(|finding| finding.line(coloured)).collect()
    };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Fault::closed_output)
}
