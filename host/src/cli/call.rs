//! `hermes-host call`.

use std::{fs, io::Read};

use anyhow::{Context, Result};
use clap_complete::ArgValueCompleter;
use hermes_host::{
    CallContext,
    dispatch::{ErrorKind, Outcome},
    sandbox::Level,
};
use serde_json::{Value, json};

use super::{FAILED, OK, Options, USAGE, complete, output};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The tool
    #[arg(add = ArgValueCompleter::new(complete::tools))]
    name: String,
    /// Its arguments: a JSON object, @FILE, or - for stdin
    #[arg(default_value = "{}", value_name = "JSON|@FILE|-")]
    arguments: String,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let arguments = read(&args.arguments)?;
    // Text that is not even JSON is a mistake on the command line, not a tool's failure.
    if let Err(why) = serde_json::from_str::<serde_json::Value>(&arguments) {
        let text = format!("the arguments are not JSON: {why}; quote them like '{{\"key\": \"value\"}}'");
        output::json_text(&json!({"error": text, "kind": ErrorKind::InvalidArguments.name()}).to_string())?;
        return Ok(USAGE);
    }
    let context = CallContext { client: Some(super::CLIENT.into()), ..CallContext::default() };
    let outcome = options.host()?.call_blocking(&args.name, &arguments, context);
    log(&args.name, &outcome);
    let json = outcome.json();
    output::json_text(&json)?;
    let answer: Value = serde_json::from_str(&json).unwrap_or_default();
    if answer["session_id"].is_string() && answer["status"] == "running" {
        options.note("It ended with this call: background processes live as long as the host that started them.");
    }
    Ok(match outcome.result {
        // A tool that answers with an error has failed, too: what it wanted to do was not done.
        Ok(_) if answer["error"].is_string() => FAILED,
        Ok(_) => OK,
        Err(error) if error.kind == ErrorKind::UnknownTool => USAGE,
        Err(_) => FAILED,
    })
}

pub(super) fn read(argument: &str) -> Result<String> {
    match argument.strip_prefix('@') {
        Some(file) => fs::read_to_string(file).with_context(|| format!("failed to read the arguments from {file}")),
        None if argument == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("failed to read the arguments from stdin")?;
            Ok(if text.trim().is_empty() { "{}".into() } else { text })
        }
        None => Ok(argument.into()),
    }
}

/// What the tool logged, at its own levels.
fn log(tool: &str, outcome: &Outcome) {
    for line in &outcome.log {
        let message = &line.message;
        match line.level {
            Level::Trace => tracing::trace!("{tool}: {message}"),
            Level::Debug => tracing::debug!("{tool}: {message}"),
            Level::Info => tracing::info!("{tool}: {message}"),
            Level::Warn => tracing::warn!("{tool}: {message}"),
            Level::Error => tracing::error!("{tool}: {message}"),
        }
    }
    let usage = &outcome.usage;
    tracing::info!("{tool}: {} fuel, {} bytes of memory, {:?}", usage.fuel, usage.memory, usage.duration);
}
