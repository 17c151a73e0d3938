//! The ports of the domain on SQLite and PostgreSQL, through diesel.
