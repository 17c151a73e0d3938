//! The names of key providers in settings, such as `exec:/usr/local/bin/sealpost-kek`.

use std::{fmt, str::FromStr, sync::Arc};

use sealpost_wallet::KekProvider;

use crate::exec::Exec;

/// Selects a key provider, and the key of the provider that wraps the key-encryption keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderName {
    /// A command, with its arguments.
    Exec(Vec<String>),
}

/// The reason why a text names no key provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// The name of the command is missing, or is not an absolute path.
    #[error("give the absolute path of the command, such as exec:/usr/local/bin/sealpost-kek")]
    Command,
    /// No provider has this name.
    #[error("{0:?} is no key provider: give exec:COMMAND")]
    Unknown(String),
}

impl ProviderName {
    /// Returns the provider, without calling it.
    pub fn open(&self) -> Arc<dyn KekProvider> {
        match self {
            Self::Exec(words) => Arc::new(Exec::new(words.clone())),
        }
    }
}

impl FromStr for ProviderName {
    type Err = NameFault;

    fn from_str(text: &str) -> Result<Self, NameFault> {
        match text.split_once(':') {
            // Without a shell, an argument cannot have a space. A command that needs one belongs in a script.
            Some(("exec", command)) => {
                let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
                match words.first() {
                    Some(program) if program.starts_with('/') => Ok(Self::Exec(words)),
                    Some(_) | None => Err(NameFault::Command),
                }
            }
            Some(_) | None => Err(NameFault::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exec(words) => write!(f, "exec:{}", words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_parsed_and_written_alike() {
        let name: ProviderName = "exec:/bin/kek  --key 7".parse().unwrap();
        assert_eq!(name.to_string(), "exec:/bin/kek --key 7");
        assert_eq!(name.to_string().parse(), Ok(name));
    }

    #[test]
    fn an_invalid_name_is_rejected_with_advice() {
        for (text, advice) in [
            ("exec:", "absolute path"),
            ("exec:kek", "absolute path"),
            ("abacus:1", "exec:COMMAND"),
            ("", "exec:COMMAND"),
        ] {
            let fault = text.parse::<ProviderName>().unwrap_err();
            assert!(fault.to_string().contains(advice), "{text}: {fault}");
        }
    }
}
