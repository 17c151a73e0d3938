//! Tests of the command line: help, terminals, output, commands in scripts, commands that call a service, files on the
//! disk, the tools of agents, and the demo.

mod agents;
mod confirmation;
mod demo;
mod durability;
mod help;
mod output;
mod relays;
mod scripts;
mod service;
mod tampering;
mod watch;
