//! The URL of a database: parses it, adds parameters, and decides if the traffic to the database crosses a network.

use std::{fmt, net::IpAddr, path::PathBuf, str::FromStr};

/// The location of a database: a PostgreSQL server, or an SQLite file.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A PostgreSQL server, in the URL syntax of libpq.
    Postgres(PostgresUrl),
    /// An embedded SQLite database in a file.
    Sqlite(PathBuf),
}

/// The URL of a PostgreSQL server. `Debug` hides user, password and parameters.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(String);

/// The reasons why a database URL is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// An SQLite database in memory, which is rejected because each connection would get a separate database.
    #[error("a database in memory cannot be shared between connections: give a file, sqlite:PATH")]
    InMemory,
    /// The URL cannot be parsed. The message shows no part of the URL, because any part might be the password.
    #[error(
        "the database URL cannot be parsed: percent-encode special characters in user and password, such as %40 for @, \
         %2F for /, %20 for a space and %25 for %"
    )]
    Garbled,
    /// The URL contains a control character, such as a line break. A percent-encoded control character is allowed only
    /// in the password, because it is a mistake in all other parts.
    #[error(
        "the database URL contains a line break or another control character: remove it, or percent-encode it in the \
         password"
    )]
    ControlCharacter,
    /// The path of an SQLite file is followed by parameters.
    #[error("a database file takes no parameters: remove everything from the question mark on")]
    Parameters,
    /// The scheme is unknown, the path of the file is empty, or the URL is in quotes.
    #[error(
        "give the database as postgres://USER:PASSWORD@HOST:PORT/NAME or as sqlite:PATH, without quotes around it"
    )]
    Unknown,
}

impl DatabaseUrl {
    /// Whether the URL names several PostgreSQL servers, of which one is the primary.
    pub fn has_several_hosts(&self) -> bool {
        match self {
            Self::Postgres(url) => {
                let parts = url.parts();
                let hosts = parts.parameter("host").unwrap_or(parts.hosts);
                hosts.contains(',')
            }
            Self::Sqlite(_) => false,
        }
    }
}

impl PostgresUrl {
    /// Returns true if traffic to the server may cross a network. Reads only the URL. A URL without a host gives true,
    /// because libpq may take a host from the environment. As in libpq, the parameter `host` overrides the host in the
    /// URL, and `hostaddr` overrides both.
    pub(crate) fn leaves_the_machine(&self) -> bool {
        let parts = self.parts();
        match parts.parameter("hostaddr").or_else(|| parts.parameter("host")) {
            Some("") => true,
            Some(given) => !given.split(',').all(is_local),
            None if parts.hosts.is_empty() => true,
            None => !parts.hosts.split(',').all(|host| host_of(host).is_some_and(is_local)),
        }
    }

    /// Returns the value of a URL parameter, percent-encoded as in the URL.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parts().parameter(name)
    }

    /// Returns the URL with a parameter added. Of several values of a parameter the last one is used, so the new value
    /// replaces an earlier one.
    pub(crate) fn with_parameter(&self, name: &str, value: &str) -> Self {
        let separator = if self.0.contains('?') { '&' } else { '?' };
        Self(format!("{}{separator}{name}={value}", self.0))
    }

    /// Returns the URL with `defaults` added. A default has the form `key=value` and is skipped if the URL sets the
    /// key.
    pub(crate) fn with_defaults(&self, defaults: &[String]) -> String {
        let mut url = self.clone();
        for (name, value) in defaults.iter().filter_map(|default| default.split_once('=')) {
            if url.parameter(name).is_none() {
                url = url.with_parameter(name, value);
            }
        }
        url.0
    }

    fn parts(&self) -> Parts<'_> {
        Parts::new(self.0.split_once("://").map_or("", |(_, rest)| rest))
    }
}

impl FromStr for DatabaseUrl {
    type Err = UrlError;

    /// Parses a URL. Ignores white space and a byte order mark around the URL, such as the line break at the end of a
    /// file.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        let text = text.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
        if text.contains(char::is_control) {
            return Err(UrlError::ControlCharacter);
        }
        if text.ends_with(['"', '\'']) {
            return Err(UrlError::Unknown);
        }
        if let Some(rest) =
            text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"))
        {
            let is_encoded = is_percent_encoded(rest)
                && !rest.contains(|char: char| {
                    char.is_whitespace() || matches!(char, '"' | '\u{feff}')
                });
            let parts = Parts::new(rest);
            if is_encoded && parts.have_encoded_control() {
                return Err(UrlError::ControlCharacter);
            }
            let is_readable = is_encoded && parts.are_readable();
            let url = is_readable.then(|| PostgresUrl(text.to_owned()));
            return url.map(Self::Postgres).ok_or(UrlError::Garbled);
        }
        let path = text.strip_prefix("sqlite:").ok_or(UrlError::Unknown)?;
        let path = path.strip_prefix("//").unwrap_or(path);
        match path {
            "" => Err(UrlError::Unknown),
            _ if path.starts_with(['"', '\'']) => Err(UrlError::Unknown),
            _ if path.starts_with(":memory:") => Err(UrlError::InMemory),
            _ if path.contains('?') => Err(UrlError::Parameters),
            _ => Ok(Self::Sqlite(PathBuf::from(path))),
        }
    }
}

/// Whether every `%` is followed by two hexadecimal digits other than 00.
fn is_percent_encoded(text: &str) -> bool {
    text.split('%').skip(1).all(|escaped| {
        let digits = escaped.get(..2).unwrap_or_default();
        digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && digits != "00"
    })
}

/// The parts of a URL after the scheme: `[USER[:PASSWORD]@][HOST[:PORT],…][/NAME][?KEY=VALUE&…]`.
struct Parts<'a> {
    user: &'a str,
    hosts: &'a str,
    name: &'a str,
    parameters: &'a str,
}

impl<'a> Parts<'a> {
    /// Splits the URL at the same characters as libpq.
    fn new(rest: &'a str) -> Self {
        let (user, rest) = match rest.split_once('@') {
            Some((user, rest)) if !user.contains('/') => (user, rest),
            _ => ("", rest),
        };
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, name) = place.split_once('/').unwrap_or((place, ""));
        Self { user, hosts, name, parameters }
    }

    fn are_readable(&self) -> bool {
        let mut pairs = self.parameters.split('&').filter(|pair| !pair.is_empty());
        // libpq reads a question mark before the `@` as part of the user. Other parsers read it as the start of the
        // parameters, so the URL is rejected.
        !self.user.contains('?')
            && !self.name.contains('@')
            && self.hosts.split(',').all(|host| host_of(host).is_some())
            && pairs.all(|pair| pair.matches('=').count() == 1)
    }

    /// Returns true if a part other than the password contains a percent-encoded control character.
    fn have_encoded_control(&self) -> bool {
        let user = self.user.split_once(':').map_or(self.user, |(user, _password)| user);
        let escapes = [user, self.hosts, self.name, self.parameters].into_iter();
        let mut escapes = escapes.flat_map(|part| part.split('%').skip(1).map(str::as_bytes));
        escapes.any(|escape| matches!(escape, [b'0' | b'1', ..] | [b'7', b'f' | b'F', ..]))
    }

    /// Returns the value of the last URL parameter with this name, percent-encoded.
    fn parameter(&self, name: &str) -> Option<&'a str> {
        let mut pairs = self.parameters.split('&').filter_map(|pair| pair.split_once('='));
        pairs.rfind(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// Returns the host of `HOST[:PORT]`; `None` if the text is malformed. An IPv6 address must be in brackets.
fn host_of(text: &str) -> Option<&str> {
    let (host, port) = match text.strip_prefix('[') {
        Some(address) => address.split_once(']').filter(|(address, port)| {
            !address.is_empty() && (port.is_empty() || port.starts_with(':'))
        })?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = port.strip_prefix(':').unwrap_or(port);
    let is_host = !host.contains(['@', ']']) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_host.then_some(host)
}

/// Whether a host is local: the folder of a Unix socket, `localhost`, or a loopback address.
fn is_local(host: &str) -> bool {
    let is_folder = host.is_empty()
        || host.starts_with(['/', '@'])
        || host.starts_with("%2F")
        || host.starts_with("%2f");
    is_folder
        || host == "localhost"
        || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(url) => url.fmt(f),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
        }
    }
}

/// Shows host, port and database name only.
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
    fn both_schemes_of_postgresql_are_accepted() {
        for text in ["postgres://h/d", "postgresql://h/d"] {
            assert!(matches!(text.parse(), Ok(DatabaseUrl::Postgres(_))), "{text}");
        }
    }

    #[test]
    fn a_file_path_may_follow_with_or_without_slashes() {
        for (text, path) in
            [("sqlite:a/b.db", "a/b.db"), ("sqlite:/a.db", "/a.db"), ("sqlite:///a.db", "/a.db")]
        {
            assert_eq!(text.parse(), Ok(DatabaseUrl::Sqlite(path.into())), "{text}");
        }
    }

    #[test]
    fn other_schemes_are_rejected() {
        for text in ["", "mysql://h/d", "a.db", "sqlite:"] {
            assert_eq!(text.parse::<DatabaseUrl>(), Err(UrlError::Unknown), "{text}");
        }
        assert_eq!("sqlite::memory:".parse::<DatabaseUrl>(), Err(UrlError::InMemory));
        assert_eq!("sqlite:db?mode=ro".parse::<DatabaseUrl>(), Err(UrlError::Parameters));
    }

    #[test]
    fn white_space_around_a_url_is_ignored() {
        for around in ["\n", "\r\n", " ", "\t", "\u{feff}", "\u{a0}"] {
            for text in ["postgres://u:p@h/d", "postgres://h/d?sslmode=require", "sqlite:a b.db"] {
                let given = format!("{around}{text}{around}").parse::<DatabaseUrl>();
                assert_eq!(given, text.parse(), "{given:?}");
            }
        }
    }

    #[test]
    fn control_characters_and_quotes_are_rejected() {
        for text in ["h/a\nb", "u:p\t@h/d", "h/d%0A", "h%7f/d", "u%09:p@h/d", "h/d?sslmode=a%0d"] {
            let read = format!("postgres://{text}").parse::<DatabaseUrl>();
            assert_eq!(read, Err(UrlError::ControlCharacter), "{text:?}");
        }
        assert_eq!("sqlite:a\nb".parse::<DatabaseUrl>(), Err(UrlError::ControlCharacter));
        for text in ["postgres://h/d", "sqlite:a.db"] {
            for text in [format!("\"{text}\""), format!("'{text}'"), format!("{text}'")] {
                assert_eq!(text.parse::<DatabaseUrl>(), Err(UrlError::Unknown), "{text}");
            }
        }
        assert_eq!("sqlite:\"a.db".parse::<DatabaseUrl>(), Err(UrlError::Unknown));
        postgres("postgres://u:a%0Ab'c@h/d");
    }

    #[test]
    fn urls_that_libpq_cannot_parse_are_rejected() {
        for text in [
            "",
            "/d",
            "h",
            "u@h/d",
            "u:p@h:5432/d?sslmode=require&application_name=a%20b",
            "u:p%40%2f%25@h1:1,h2:2,[::1]:3/d",
            "[2001:db8::1]/d",
            "%2Frun%2Fpostgresql/d",
            "/d?host=/run/postgresql&port=5433",
            "h/d?password=p@ss",
            "u:p[ss]@h/d",
        ] {
            postgres(&format!("postgres://{text}"));
        }
        for text in [
            "u:100%@h/d",
            "u:p%0@h/d",
            "u:p%00@h/d",
            "u:p@ss@h/d",
            "u:p/ss@h/d",
            "u:p?ss@h/d",
            "u:p?s=s@h/d",
            "u:12/ss@h/d",
            "u:p ss@h/d",
            "u:p@h/d?password=p ss",
            "u:p@[::1/d",
            "u:p@[::1]5432/d",
            "u:p@[]/d",
            "u:p@[::1]x/d",
            "u:p@h/d?sslmode",
            "u:p@h/d?options=a=b",
            "h/\"d\"?sslmode=require",
            "h/a\u{a0}b",
        ] {
            let read = format!("postgres://{text}").parse::<DatabaseUrl>();
            assert_eq!(read, Err(UrlError::Garbled), "{text}");
        }
    }

    #[test]
    fn a_remote_host_leaves_the_machine() {
        for (text, leaves) in [
            // libpq may take the host from the environment.
            ("/d", true),
            ("/d?host=", true),
            ("u:p@localhost:5432/d", false),
            ("u:p@127.0.0.1,[::1]:5433/d", false),
            ("%2Frun%2Fpostgresql/d", false),
            ("%2Edb.example/d", true),
            ("/d?host=/run/postgresql", false),
            ("localhost/d?hostaddr=192.0.2.1", true),
            ("u:p@db.example/d", true),
            ("u:p@localhost,db.example/d", true),
            ("[2001:db8::1]:5432/d", true),
            ("db.example/d?host=localhost", false),
            ("/d?host=localhost&host=db.example", true),
        ] {
            let url = postgres(&format!("postgres://{text}"));
            assert_eq!(url.leaves_the_machine(), leaves, "{text}");
        }
    }

    #[test]
    fn debug_output_shows_no_password() {
        for text in [
            "postgres://ann:p%40ss@db.example:5432/sealpost?sslmode=require",
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
