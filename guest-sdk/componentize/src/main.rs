//! `hermes-componentize CORE.wasm COMPONENT.wasm`: turns the core module that rustc makes for `wasm32-unknown-unknown` into a
//! component. The world it implements was embedded in the module by the SDK.

use std::{env, fs, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, bail};
use wit_component::ComponentEncoder;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            #[allow(clippy::print_stderr, reason = "a command line tool says what went wrong")]
            {
                eprintln!("error: {why:#}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [core, component] = arguments.as_slice() else { bail!("usage: hermes-componentize CORE.wasm COMPONENT.wasm") };
    let module = fs::read(core).with_context(|| format!("failed to read {}", core.display()))?;
    let bytes = ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .with_context(|| format!("{} is not a module made with hermes-tool", core.display()))?;
    fs::write(component, bytes).with_context(|| format!("failed to write {}", component.display()))
}
