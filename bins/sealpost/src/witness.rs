//! `sealpost witness`: cosigns the checkpoints of transparency logs until a signal arrives.

use sealpost_node::Witness;

use crate::{
    cli::WitnessArgs, command_error::CommandError, logs, serve::signals::StopSignals,
    settings::LogFormat, terminal,
};

pub(crate) fn run(args: WitnessArgs) -> Result<(), CommandError> {
    let WitnessArgs { name, folder, listen, logs } = args;
    logs::start("warn", LogFormat::Text, None)?;
    let witness = Witness::bind(&name, &folder, listen, logs)?;
    let keys: Vec<_> = witness.keys().iter().map(|key| format!("witness {key}\n")).collect();
    let ready = format!("{}listening at http://{}\n", keys.concat(), witness.address());
    actix_rt::System::new().block_on(async {
        let mut signals = StopSignals::listen()?;
        let running = witness.start()?;
        // Prints the address only now, because from here on a signal stops the witness gracefully.
        terminal::print(ready)?;
        signals.next().await;
        running.stop().await;
        Ok(())
    })
}
