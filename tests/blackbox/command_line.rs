//! Tests of the command line: help, terminals, output, commands in scripts, commands that call a service, the tools of
//! agents, and the demo.

mod agents;
mod confirmation;
mod demo;
mod help;
mod output;
mod relays;
mod scripts;
mod service;
mod tampering;
mod watch;
