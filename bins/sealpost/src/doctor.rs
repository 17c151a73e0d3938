//! `sealpost doctor`: checks whether a server could run with the given settings, and gives advice. Changes nothing
//! except the mode of the embedded database's file, which becomes 0600, and the disk reserve, which is deleted on a
//! full disk.

mod network;

use std::io::{self, IsTerminal as _};

use sealpost_node::{
    Settings,
    doctor::{self, Finding, Verdict},
};

use crate::{cli::DoctorArgs, command_error::CommandError, kek, logs, terminal};

/// Runs all checks and prints their results. Fails if at least one check failed.
pub(crate) fn run(args: &DoctorArgs) -> Result<(), CommandError> {
    let findings = examine(args)?;
    print(args.json, &findings)?;
    match findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count() {
        0 => Ok(()),
        1 => Err(CommandError::new("1 check failed: fix the finding marked fail")),
        failed => {
            Err(CommandError::new(format!("{failed} checks failed: fix the findings marked fail")))
        }
    }
}

fn examine(args: &DoctorArgs) -> Result<Vec<Finding>, CommandError> {
    let settings = Settings::try_from(&args.serve)?;
    // An error is ignored: if shares are missing, the check of the keys reports this.
    drop(kek::shares::read_for(settings.keys.provider.as_ref()));
    let mut findings = doctor::examine(&settings);
    findings.extend(network::check(&settings.http));
    if let Err(fault) = logs::filter(&args.serve.log) {
        findings.push(Finding::fail("settings", fault.to_string()));
    }
    Ok(findings)
}

fn print(json: bool, findings: &[Finding]) -> Result<(), CommandError> {
    let text = if json {
        let is_healthy = findings.iter().all(|finding| finding.verdict != Verdict::Fail);
        format!("{}\n", serde_json::json!({"healthy": is_healthy, "findings": findings}))
    } else {
        let coloured = io::stdout().is_terminal() && terminal::allows_colour();
        findings.iter().map(|finding| line(finding, coloured)).collect()
    };
    terminal::print(text)
}

/// Formats a finding as one line. `coloured` adds ANSI colours to the verdict.
fn line(finding: &Finding, coloured: bool) -> String {
    let (word, colour) = match finding.verdict {
        Verdict::Ok => ("ok  ", "\u{1b}[32m"),
        Verdict::Warn => ("warn", "\u{1b}[33m"),
        Verdict::Fail => ("fail", "\u{1b}[31m"),
    };
    let (on, off) = if coloured { (colour, "\u{1b}[0m") } else { ("", "") };
    format!("{on}{word}{off}  {:<9} {}\n", finding.check, finding.detail)
}
