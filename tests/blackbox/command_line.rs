//! Tests of the command line: help, terminals, output, commands in scripts, commands that call a service, and the demo.

mod confirmation;
mod demo;
mod help;
mod output;
mod scripts;
mod service;
