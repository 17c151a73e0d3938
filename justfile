# The commands of this project. `just` lists them.

[private]
default:
    @{{ just_executable() }} --list --unsorted

# Starts a server on 127.0.0.1:8080 with a SQLite database in ./sealpost-data; webhooks may use loopback addresses.
run *ARGS:
    cargo run -p sealpost -- serve --dev {{ ARGS }}

# Shows activation, sending and receiving step by step, on a temporary database.
demo:
    cargo run -p sealpost -- demo

# Runs all checks that a change must pass.
test:
    tests/run

# Checks one crate while you work on it: `just check limits`.
check CRATE *ARGS:
    cargo clippy -p sealpost-{{ CRATE }} --all-targets -- -D warnings
    cargo test -p sealpost-{{ CRATE }} {{ ARGS }}

lint:
    cargo clippy --workspace --all-targets --features sealpost/postgres-tls,sealpost/otlp -- -D warnings

fmt:
    cargo fmt --all

doc:
    RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps

# Checks the dependencies between crates.
arrows:
    tests/arrows

# Checks licences, sources, advisories and banned crates. Needs cargo-deny and network access.
deny:
    cargo deny check

# Lists the ten longest files and functions.
longest:
    tests/longest

# Runs tests of the main job on PostgreSQL 14 to 18. Versions can be named: `just postgres-versions 16 17`.
postgres-versions *ARGS:
    tests/postgres-versions/run {{ ARGS }}

# Upgrades from the previous release to this tree under load, on a private PostgreSQL. `--debug` builds faster.
upgrade-test *ARGS:
    tests/upgrade {{ ARGS }}

# Builds the tarball and the Debian package of a release below target/packages.
dist *ARGS:
    bins/sealpost/packaging/dist {{ ARGS }}

# Builds all files of a release below target/packages, and prints the commands that upload them: `just release 1.2.3`.
release VERSION *ARGS:
    bins/sealpost/packaging/release {{ VERSION }} {{ ARGS }}

# Makes a release of a copy of this tree, and installs its packages. `--verify` also compiles the crates.
release-test *ARGS:
    tests/release/run {{ ARGS }}

# Installs the packages of `just dist` into fresh Debian systems, and uses them. Needs root and mmdebstrap.
dist-test:
    tests/dist

# Builds the image, and uses it. `--binary FILE` takes a built binary. Needs root, podman and mmdebstrap.
image-test *ARGS:
    tests/image {{ ARGS }}

# Measures throughput and latency of a node, and the limits of the machine: docs/performance.md.
bench *ARGS:
    cargo bench --profile dist -p sealpost --bench throughput -- {{ ARGS }}

# Measures a bystander beside hostile tenants and clients: docs/operating/hostile-tenants.md.
adversary *ARGS:
    cargo bench --profile dist -p sealpost --bench throughput -- adversary {{ ARGS }}

# Proves the promises of the service: `just prove model` sends random calls with faults, and judges their history.
prove WHAT *ARGS:
    tests/prove/run {{ WHAT }} {{ ARGS }}

# Records a flame graph of a node under load. Needs perf and inferno.
flame *ARGS:
    tests/flame {{ ARGS }}

# Runs the micro-benchmarks of one crate: `just bench-of limits`.
bench-of CRATE *ARGS:
    cargo bench --profile dist -p sealpost-{{ CRATE }} {{ ARGS }}
