//! Tests of the command line: help, terminals, commands in scripts, commands that call a service, and the demo.

mod demo;
mod help;
mod scripts;
mod service;
