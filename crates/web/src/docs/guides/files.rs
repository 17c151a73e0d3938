//! The files that guides link to: examples, settings and pictures. Each is served at its path in the repository.

use actix_web::http::header::HeaderValue;

/// A file of the repository, compiled into the binary.
pub(crate) struct SourceFile {
    /// The path in the repository. It begins with `docs/`.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
}

impl SourceFile {
    /// Returns the content type by the extension. Source code is plain text, so that browsers show it.
    pub(crate) fn content_type(&self) -> HeaderValue {
        let (_, extension) = self.path.rsplit_once('.').unwrap_or_default();
        HeaderValue::from_static(match extension {
            "json" => "application/json",
            "svg" => "image/svg+xml",
            _ => "text/plain; charset=utf-8",
        })
    }

    /// Returns the path of the folder that contains the file.
    pub(super) fn folder(&self) -> &'static str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Returns the file name without the folder.
    pub(super) fn name(&self) -> &'static str {
        self.path.rsplit_once('/').map_or(self.path, |(_, name)| name)
    }
}

macro_rules! file {
    ($path:literal) => {
        SourceFile {
            path: concat!("docs/", $path),
            text: include_str!(concat!("../../../docs/", $path)),
        }
    };
}

/// All files, sorted by path.
pub(crate) const FILES: &[SourceFile] = &[
    file!("examples/calling/python/calls.py"),
    file!("examples/calling/rust/calls.rs"),
    file!("examples/calling/typescript/calls.mts"),
    file!("examples/opening/go/open.go"),
    file!("examples/opening/node/open.mjs"),
    file!("examples/opening/python/open.py"),
    file!("examples/opening/rust/open.rs"),
    file!("examples/receiving/go/by_hand.go"),
    file!("examples/receiving/go/public_key.go"),
    file!("examples/receiving/node/by_hand.mjs"),
    file!("examples/receiving/node/public_key.mjs"),
    file!("examples/receiving/node/with_library.mjs"),
    file!("examples/receiving/python/by_hand.py"),
    file!("examples/receiving/python/public_key.py"),
    file!("examples/receiving/python/with_library.py"),
    file!("examples/receiving/rust/public_key.rs"),
    file!("examples/receiving/rust/with_library.rs"),
    file!("examples/webhook-vectors.json"),
    file!("operating/Dockerfile"),
    file!("operating/alerts.yml"),
    file!("operating/compose.yml"),
    file!("operating/compose/Caddyfile"),
    file!("operating/compose/create-role.sh"),
    file!("operating/compose/pg_hba.conf"),
    file!("operating/compose/prepare.sh"),
    file!("operating/grafana.json"),
    file!("operating/kubernetes.yml"),
    file!("operating/sealpost.service"),
    file!("pictures/message-narrow.svg"),
    file!("pictures/message.svg"),
    file!("pictures/purpose-narrow.svg"),
    file!("pictures/purpose.svg"),
    file!("pictures/shapes-narrow.svg"),
    file!("pictures/shapes.svg"),
];
