//! Parses the TOML file that defines the checks of each jurisdiction. If the file has an error, such as an unknown
//! field, the whole file is rejected.

use std::{collections::BTreeMap, time::Duration};

use sealpost_domain::{CheckName, Circuit, Circuits, ComplianceCheck, FormatError, Jurisdiction};
use serde::Deserialize;

/// An error in a circuits file, which defines the checks of each jurisdiction. Most messages begin with the name of the
/// jurisdiction.
#[derive(Debug, thiserror::Error)]
pub enum CircuitsError {
    /// Two checks of a jurisdiction have the same name.
    #[error("{0} names the check {1} twice: remove one")]
    CheckTwice(String, String),
    /// The name of a check is malformed.
    #[error("{0}: {1:?} is not the name of a check")]
    CheckUnnamed(String, String, #[source] FormatError),
    /// A jurisdiction has no required check, so every key would pass.
    #[error("{0} has no required check, so every key would pass: add one")]
    Empty(String),
    /// A jurisdiction occurs twice, for example in upper and lower case.
    #[error("{0} occurs twice: remove one")]
    JurisdictionTwice(String),
    /// The name of a jurisdiction is malformed.
    #[error("{0:?} is not the name of a jurisdiction: use 2 to 16 of A-Z, 0-9 and -")]
    JurisdictionUnnamed(String),
    /// The list `any_of` of a check is empty.
    #[error("{0}: any_of of {1} is empty; list the alternatives, or leave it out")]
    NoAlternative(String, String),
    /// The file defines no jurisdiction.
    #[error("the file has no jurisdiction: add one")]
    None,
    /// The file is not valid TOML, or has an unknown field.
    #[error("the file cannot be parsed")]
    Syntax(#[source] Box<toml::de::Error>),
    /// The file has more jurisdictions, checks or alternatives than allowed.
    #[error("the file has more than {1} {0}")]
    TooMany(&'static str, usize),
    /// The duration `valid_for` is malformed or zero.
    #[error("{0}: valid_for {1:?} is not a duration such as 365d")]
    ValidFor(String, String),
}

/// Parses the circuits file that is built into the binary. A circuits file defines the checks of each jurisdiction.
pub fn built_in_circuits() -> Result<Circuits, CircuitsError> {
    parse_circuits(BUILT_IN)
}

/// Parses the text of a circuits file, which defines the checks of each jurisdiction. Fails if any part of the file is
/// invalid.
pub fn parse_circuits(text: &str) -> Result<Circuits, CircuitsError> {
    let file: File = toml::from_str(text).map_err(|e| CircuitsError::Syntax(Box::new(e)))?;
    if file.jurisdictions.is_empty() {
        return Err(CircuitsError::None);
    }
    within("jurisdictions", file.jurisdictions.len(), JURISDICTIONS_MAX)?;
    let mut circuits = BTreeMap::new();
    for (name, written) in file.jurisdictions {
        let jurisdiction = Jurisdiction::parse(&name)
            .ok_or_else(|| CircuitsError::JurisdictionUnnamed(name.clone()))?;
        if circuits.insert(jurisdiction, circuit(&name, written)?).is_some() {
            return Err(CircuitsError::JurisdictionTwice(name));
        }
    }
    Ok(Circuits { version: file.version, circuits })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    jurisdictions: BTreeMap<String, WrittenCircuit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCircuit {
    checks: Vec<WrittenCheck>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCheck {
    name: String,
    any_of: Option<Vec<String>>,
    required: Option<bool>,
    valid_for: Option<String>,
}

fn circuit(jurisdiction: &str, written: WrittenCircuit) -> Result<Circuit, CircuitsError> {
    within("checks of a jurisdiction", written.checks.len(), CHECKS_MAX)?;
    let mut checks = Vec::<ComplianceCheck>::new();
    for one in written.checks {
        let check = check(jurisdiction, one)?;
        if checks.iter().any(|other| other.name == check.name) {
            let name = check.name.as_str().to_owned();
            return Err(CircuitsError::CheckTwice(jurisdiction.to_owned(), name));
        }
        checks.push(check);
    }
    if !checks.iter().any(|check| check.required) {
        return Err(CircuitsError::Empty(jurisdiction.to_owned()));
    }
    Ok(Circuit { checks })
}

fn check(jurisdiction: &str, written: WrittenCheck) -> Result<ComplianceCheck, CircuitsError> {
    let named = |text: &String| {
        CheckName::parse(text).map_err(|fault| {
            CircuitsError::CheckUnnamed(jurisdiction.to_owned(), text.clone(), fault)
        })
    };
    let name = named(&written.name)?;
    let any_of = match written.any_of {
        Some(others) if others.is_empty() => {
            return Err(CircuitsError::NoAlternative(jurisdiction.to_owned(), written.name));
        }
        Some(others) => others.iter().map(named).collect::<Result<_, _>>()?,
        None => vec![name.clone()],
    };
    within("alternatives of a check", any_of.len(), ALTERNATIVES_MAX)?;
    let valid_for = written.valid_for.map(|text| span(jurisdiction, text)).transpose()?;
    Ok(ComplianceCheck { name, any_of, required: written.required.unwrap_or(true), valid_for })
}

fn span(jurisdiction: &str, text: String) -> Result<Duration, CircuitsError> {
    match humantime::parse_duration(&text) {
        Ok(span) if !span.is_zero() => Ok(span),
        _ => Err(CircuitsError::ValidFor(jurisdiction.to_owned(), text)),
    }
}

fn within(what: &'static str, there: usize, limit: usize) -> Result<(), CircuitsError> {
    if there > limit { Err(CircuitsError::TooMany(what, limit)) } else { Ok(()) }
}

const BUILT_IN: &str = include_str!("circuits.toml");
const JURISDICTIONS_MAX: usize = 250;
const CHECKS_MAX: usize = 50;
const ALTERNATIVES_MAX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_has_the_jurisdictions_of_the_contract() {
        let circuits = built_in_circuits().unwrap();
        assert_eq!(circuits.jurisdiction_names(), "DEFAULT, EU, UK, US");
    }

    #[test]
    fn a_check_gets_defaults_for_missing_fields() {
        let text = r#"
            version = 7
            [[jurisdictions.eu.checks]]
            name = "kyc"
            [[jurisdictions.eu.checks]]
            name = "seat"
            any_of = ["seat_in_eu", "representative"]
            required = false
            valid_for = "1d"
        "#;
        let circuits = parse_circuits(text).unwrap();
        let circuit = &circuits.circuits[&Jurisdiction::parse("EU").unwrap()];
        let name = |text| CheckName::parse(text).unwrap();
        let day = Some(Duration::from_hours(24));
        let (kyc, either) = (name("kyc"), vec![name("seat_in_eu"), name("representative")]);
        assert_eq!(
            circuit.checks,
            [
                ComplianceCheck {
                    any_of: vec![kyc.clone()],
                    name: kyc,
                    required: true,
                    valid_for: None
                },
                ComplianceCheck {
                    name: name("seat"),
                    any_of: either,
                    required: false,
                    valid_for: day
                },
            ]
        );
        assert_eq!(circuits.version, 7);
    }

    #[test]
    fn an_error_names_its_cause() {
        let of = |checks: &str| format!("version = 1\n[jurisdictions.EU]\nchecks = [{checks}]");
        let kyc = "{name = 'kyc'}";
        let many =
            |n: usize| (0..n).map(|i| format!("{{name = 'c{i}'}},")).collect::<Vec<_>>().concat();
        assert!(parse_circuits(&of(kyc)).is_ok() && parse_circuits(&of(&many(50))).is_ok());
        for (text, says) in [
            ("version =".to_owned(), "the file cannot be parsed"),
            ("[jurisdictions]".to_owned(), "the file cannot be parsed"),
            ("version = 1\n[jurisdictions]".to_owned(), "no jurisdiction"),
            (of(kyc) + "\ntitle = 1", "the file cannot be parsed"),
            (of("{name = 'kyc', optional = true}"), "the file cannot be parsed"),
            (of("{name = 'KYC'}"), "not the name of a check"),
            (of("{name = 'kyc', any_of = ['a b']}"), "not the name of a check"),
            (of("{name = 'kyc', any_of = []}"), "EU: any_of of kyc is empty"),
            (of("{name = 'kyc', valid_for = 'soon'}"), "not a duration"),
            (of("{name = 'kyc', valid_for = '0s'}"), "not a duration"),
            (of(&format!("{kyc}, {kyc}")), "twice"),
            (of(""), "no required check"),
            (of("{name = 'kyc', required = false}"), "no required check"),
            (of(&many(51)), "more than 50 checks"),
            (of(kyc).replace("EU", "E_U"), "not the name of a jurisdiction"),
            (of(kyc) + "\n[jurisdictions.eu]\nchecks = [{name = 'x'}]", "occurs twice"),
        ] {
            let fault = parse_circuits(&text).unwrap_err().to_string();
            assert!(fault.contains(says), "{text}: {fault}");
        }
    }
}
