//! The command line: help and terminals, commands in scripts, and the demo.

mod demo;
mod help;
mod scripts;
