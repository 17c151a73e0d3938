//! Which database: the text of a setting, read.

use std::{fmt, path::PathBuf, str::FromStr};

/// Where the data is.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A PostgreSQL server, as libpq takes it.
    Postgres(PostgresUrl),
    /// An embedded database in this file.
    Sqlite(PathBuf),
}

/// The URL of a PostgreSQL server. It may hold a password, so it shows itself to nobody but libpq.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(String);

/// A text that names no database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// A database in memory would be another one for every connection.
    #[error("a database in memory cannot be shared between connections: give a file, sqlite:PATH")]
    InMemory,
    /// Neither of the schemes.
    #[error("give the database as postgres://USER:PASSWORD@HOST:PORT/NAME or as sqlite:PATH")]
    Unknown,
}

impl PostgresUrl {
    /// The URL with `defaults` added, `key=value` each, where it does not give the key itself.
    pub(crate) fn with_defaults(&self, defaults: &[String]) -> String {
        let mut url = self.0.clone();
        for default in defaults {
            let key = default.split_once('=').map_or(&**default, |(key, _)| key);
            let given =
                url.split(['?', '&']).skip(1).any(|pair| pair.split('=').next() == Some(key));
            if !given {
                url.push(if url.contains('?') { '&' } else { '?' });
                url.push_str(default);
            }
        }
        url
    }
}

impl FromStr for DatabaseUrl {
    type Err = UrlFault;

    fn from_str(text: &str) -> Result<Self, UrlFault> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(PostgresUrl(text.to_owned())));
        }
        let path = text.strip_prefix("sqlite:").ok_or(UrlFault::Unknown)?;
        let path = path.strip_prefix("//").unwrap_or(path);
        match path {
            "" => Err(UrlFault::Unknown),
            _ if path.starts_with(":memory:") => Err(UrlFault::InMemory),
            _ => Ok(Self::Sqlite(PathBuf::from(path))),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(url) => url.fmt(f),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
        }
    }
}

/// The host, port and name alone: user, password and parameters stay out.
impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = self.0.split('?').next().unwrap_or_default();
        let rest = bare.split_once("://").map_or("", |(_, rest)| rest);
        let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
        write!(f, "postgres://{place}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postgres(text: &str) -> PostgresUrl {
        match text.parse() {
            Ok(DatabaseUrl::Postgres(url)) => url,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_schemes_of_postgresql_are_known() {
        for text in ["postgres://h/d", "postgresql://h/d"] {
            assert!(matches!(text.parse(), Ok(DatabaseUrl::Postgres(_))), "{text}");
        }
    }

    #[test]
    fn a_file_may_be_given_with_and_without_slashes() {
        for (text, path) in
            [("sqlite:a/b.db", "a/b.db"), ("sqlite:/a.db", "/a.db"), ("sqlite:///a.db", "/a.db")]
        {
            assert_eq!(text.parse(), Ok(DatabaseUrl::Sqlite(path.into())), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "mysql://h/d", "a.db", "sqlite:"] {
            assert_eq!(text.parse::<DatabaseUrl>(), Err(UrlFault::Unknown), "{text}");
        }
        assert_eq!("sqlite::memory:".parse::<DatabaseUrl>(), Err(UrlFault::InMemory));
    }

    #[test]
    fn no_password_is_shown() {
        for text in [
            "postgres://ann:p@ss@db.example:5432/sealpost?sslmode=require",
            "postgres://ann@db.example:5432/sealpost?password=p@ss",
        ] {
            let url: DatabaseUrl = text.parse().unwrap();
            assert_eq!(format!("{url:?}"), "postgres://db.example:5432/sealpost");
        }
    }

    #[test]
    fn a_default_never_replaces_what_was_given() {
        let defaults = ["connect_timeout=2".to_owned(), "application_name=sealpost".to_owned()];
        assert_eq!(
            postgres("postgres://h/d?connect_timeout=9").with_defaults(&defaults),
            "postgres://h/d?connect_timeout=9&application_name=sealpost"
        );
        assert_eq!(
            postgres("postgres://h/connect_timeout").with_defaults(&defaults),
            "postgres://h/connect_timeout?connect_timeout=2&application_name=sealpost"
        );
    }
}
