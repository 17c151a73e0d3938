# The habits of this project, one line each. `just` lists them.

[private]
default:
    @{{ just_executable() }} --list --unsorted

# Serves on 127.0.0.1:8080 with an embedded database in ./sealpost-data; webhooks may go to this machine.
run *ARGS:
    cargo run -p sealpost -- serve --dev {{ ARGS }}

# The whole main job, narrated, on a temporary database.
demo:
    cargo run -p sealpost -- demo

# Everything that must hold before a change lands.
test:
    tests/run

# The tests of one crate: `just test-of limits`.
test-of CRATE *ARGS:
    cargo test -p sealpost-{{ CRATE }} {{ ARGS }}

lint:
    cargo clippy --workspace --all-targets -- -D warnings

fmt:
    cargo fmt --all

doc:
    RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps

# Who may know whom.
arrows:
    tests/arrows

# Licences, sources, advisories, banned crates: needs cargo-deny, and the advisories from the network.
deny:
    cargo deny check

# The ten longest files and functions.
longest:
    tests/longest

# How much a node sends, seals and delivers, and how far that is from what the machine allows: docs/performance.md.
bench *ARGS:
    cargo bench --profile dist -p sealpost --bench throughput -- {{ ARGS }}

# Where its CPU goes then, as a flame graph: needs perf and inferno.
flame *ARGS:
    tests/flame {{ ARGS }}

# What the parts cost by themselves: `just bench-of limits`.
bench-of CRATE *ARGS:
    cargo bench --profile dist -p sealpost-{{ CRATE }} {{ ARGS }}
