//! The file of operators who may use the console. Each line is `NAME:ROLE:HASH`.

use sealpost_domain::named_enum;
use sealpost_wallet::{PasswordHash, PasswordHashError, WalletError};
use serde::Serialize;
use zeroize::Zeroizing;

named_enum! {
    /// The role of an operator, which decides about the permitted actions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum OperatorRole {
        /// May look at everything and change nothing.
        Viewer = "viewer",
        /// May look at everything and make changes.
        Operator = "operator",
    }
}

/// The operators of a password file.
#[derive(Debug, Default)]
pub struct PasswordFile {
    pub(super) entries: Vec<PasswordEntry>,
}

/// One line of a password file.
#[derive(Debug)]
pub(super) struct PasswordEntry {
    pub(super) name: String,
    pub(super) role: OperatorRole,
    pub(super) hash: PasswordHash,
}

/// The reason that a password file is invalid. The error texts contain no password hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct PasswordFileError {
    /// The number of the line, from 1.
    pub line: usize,
    problem: LineError,
}

/// The reason that a line of a password file is invalid, or that a name, role or password cannot be used in a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The name is used by an earlier line.
    #[error("the name is used twice: give each operator one line")]
    DuplicateName,
    /// The password hash is not valid.
    #[error(transparent)]
    Hash(#[from] PasswordHashError),
    /// The name is empty, is too long, or contains a character that is not allowed.
    #[error("the name must have 1 to {NAME_LEN_MAX} letters, digits, `.`, `-` or `_`")]
    Name,
    /// The line does not have the three parts `NAME:ROLE:HASH`.
    #[error("write NAME:ROLE:HASH, as `sealpost console hash` prints it")]
    Parts,
    /// The password is too short or too long, or has control characters.
    #[error("the password must have {PASSWORD_LEN_MIN} to {PASSWORD_LEN_MAX} bytes in one line")]
    Password,
    /// The role is unknown.
    #[error("the role must be viewer or operator")]
    Role,
    /// The file has too many lines.
    #[error("the file has more than {OPERATORS_MAX} operators: remove some")]
    TooMany,
}

impl PasswordFile {
    /// Parses a password file. Ignores blank lines and lines that start with `#`. A file without operators is valid,
    /// but then no operator can sign in.
    pub fn parse(text: &str) -> Result<Self, PasswordFileError> {
        let mut entries: Vec<PasswordEntry> = Vec::new();
        for (line, text) in (1..).zip(text.lines().map(str::trim)) {
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let fault = |problem| PasswordFileError { line, problem };
            let entry = parse_line(text).map_err(fault)?;
            if entries.iter().any(|other| other.name == entry.name) {
                return Err(fault(LineError::DuplicateName));
            }
            if entries.len() == OPERATORS_MAX {
                return Err(fault(LineError::TooMany));
            }
            entries.push(entry);
        }
        Ok(Self { entries })
    }

    /// Hashes the password, and returns the operator's line for the password file.
    pub fn line(
        name: &str,
        role: OperatorRole,
        password: &str,
    ) -> Result<Zeroizing<String>, LineOrWalletError> {
        check_name(name)?;
        check_password(password)?;
        let hash = PasswordHash::new(password)?;
        Ok(Zeroizing::new(format!("{name}:{}:{}", role.as_str(), hash.expose())))
    }

    /// Returns the number of operators.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the file contains no operator, so that no operator can sign in.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The reason that the line of an operator cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum LineOrWalletError {
    /// The name or the password is not acceptable.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The password could not be hashed.
    #[error(transparent)]
    Wallet(#[from] WalletError),
}

fn parse_line(text: &str) -> Result<PasswordEntry, LineError> {
    let (name, rest) = text.split_once(':').ok_or(LineError::Parts)?;
    let (role, hash) = rest.split_once(':').ok_or(LineError::Parts)?;
    check_name(name)?;
    let role = OperatorRole::from_name(role).ok_or(LineError::Role)?;
    Ok(PasswordEntry { name: name.to_owned(), role, hash: PasswordHash::parse(hash)? })
}

fn check_name(name: &str) -> Result<(), LineError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    let is_name = (1..=NAME_LEN_MAX).contains(&name.len()) && name.bytes().all(allowed);
    if is_name { Ok(()) } else { Err(LineError::Name) }
}

fn check_password(password: &str) -> Result<(), LineError> {
    let is_long = (PASSWORD_LEN_MIN..=PASSWORD_LEN_MAX).contains(&password.len());
    if is_long && !password.chars().any(char::is_control) {
        Ok(())
    } else {
        Err(LineError::Password)
    }
}

/// Maximum number of operators in a password file.
const OPERATORS_MAX: usize = 100;
pub(super) const NAME_LEN_MAX: usize = 32;
const PASSWORD_LEN_MIN: usize = 12;
/// Maximum length of a password in bytes. The maximum bounds the time to hash a password at a sign-in.
pub(super) const PASSWORD_LEN_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_line_is_a_line_of_the_file() {
        let line = PasswordFile::line("alice", OperatorRole::Operator, "a long password").unwrap();
        let text = format!("# operators\n\n  {}  \r\n", line.as_str());
        let file = PasswordFile::parse(&text).unwrap();
        let entry = file.entries.first().unwrap();
        assert_eq!((entry.name.as_str(), entry.role), ("alice", OperatorRole::Operator));
        assert!(entry.hash.matches("a long password"));
        assert!(PasswordFile::parse("# nobody\n").unwrap().is_empty());
    }

    #[test]
    fn a_faulty_line_is_named_without_its_hash() {
        let line = PasswordFile::line("alice", OperatorRole::Viewer, "a long password").unwrap();
        let line = line.as_str();
        let hash = line.rsplit(':').next().unwrap();
        let long_name = line.replace("alice", &"x".repeat(33));
        for (text, number, problem) in [
            (format!("{line}\n{line}"), 2, LineError::DuplicateName),
            ("alice".to_owned(), 1, LineError::Parts),
            (format!("\nalice:{hash}"), 2, LineError::Parts),
            (line.replace("viewer", "admin"), 1, LineError::Role),
            (line.replace("alice", "al ice"), 1, LineError::Name),
            (line.replace("alice", ""), 1, LineError::Name),
            (long_name, 1, LineError::Name),
            (line.replace("argon2id", "argon2d"), 1, PasswordHashError::NotArgon2id.into()),
        ] {
            let fault = PasswordFile::parse(&text).unwrap_err();
            assert_eq!((fault.line, &fault.problem), (number, &problem), "{text}");
            assert!(!fault.to_string().contains('$'), "{fault}");
        }
    }

    #[test]
    fn the_number_of_operators_is_bounded() {
        let line = PasswordFile::line("n", OperatorRole::Viewer, "a long password").unwrap();
        let rest = line.strip_prefix("n:").unwrap();
        let lines = |count: usize| {
            (0..count).fold(String::new(), |all, number| format!("{all}n{number}:{rest}\n"))
        };
        assert_eq!(PasswordFile::parse(&lines(OPERATORS_MAX)).unwrap().len(), OPERATORS_MAX);
        let fault = PasswordFile::parse(&lines(OPERATORS_MAX + 1)).unwrap_err();
        assert_eq!((fault.line, fault.problem), (OPERATORS_MAX + 1, LineError::TooMany));
    }

    #[test]
    fn short_long_and_odd_passwords_are_refused() {
        let line = |password: &str| PasswordFile::line("alice", OperatorRole::Viewer, password);
        for password in ["", "short", "with\ta tab inside", &"x".repeat(257)] {
            let fault = line(password).unwrap_err();
            assert!(matches!(fault, LineOrWalletError::Line(LineError::Password)), "{password:?}");
        }
        assert!(line(&"x".repeat(256)).is_ok());
    }
}
