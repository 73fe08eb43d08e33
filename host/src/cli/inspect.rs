//! `hermes-host inspect`.

use std::path::PathBuf;

use anyhow::Result;
use hermes_host::{
    component::{ComponentFile, inspect},
    sandbox::{Limits, limits::MEMORY_CEILING},
    wit,
};
use serde_json::json;

use super::{FAILED, OK, output};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The component
    file: PathBuf,
    /// Print JSON alone
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    let file =
        ComponentFile::open(&args.file).map_err(|refusal| anyhow::anyhow!("{} {}", refusal.place, refusal.reason))?;
    // Whether it fits the operator's limits is not the question here, so the widest hold.
    let inspection = inspect(&file.bytes, &Limits { memory: MEMORY_CEILING, ..Limits::HANDLE });
    let (digest, size) = (file.digest, file.bytes.len());
    if args.json {
        let (inspection, problem) = match inspection {
            Ok(inspection) => (Some(inspection), None),
            Err(why) => (None, Some(why)),
        };
        output::json(&json!({
            "name": file.name,
            "digest": digest,
            "size": size,
            "loadable": problem.is_none(),
            "problem": problem,
            "role": inspection.as_ref().map(|i| i.role),
            "wit_version": inspection.as_ref().map(|i| i.version.to_string()),
            "supported_versions": wit::supported_range(),
            "imports": inspection.as_ref().map(|i| &i.imports),
        }))?;
        return Ok(if problem.is_none() { OK } else { FAILED });
    }
    output::line(&format!("name     {}\ndigest   {digest}\nsize     {size} bytes", file.name))?;
    match inspection {
        Ok(inspection) => {
            output::line(&format!("role     {}", inspection.role.name()))?;
            output::line(&format!("wit      {} {}", wit::PACKAGE, inspection.version))?;
            if inspection.imports.is_empty() {
                output::line("imports  nothing: it can only compute")?;
            }
            for (at, import) in inspection.imports.iter().enumerate() {
                let label = if at == 0 { "imports" } else { "" };
                output::line(&format!("{label:<8} {}: {}", import.name, import.meaning))?;
            }
            Ok(OK)
        }
        Err(why) => {
            output::line(&format!("problem  it {why}"))?;
            Ok(FAILED)
        }
    }
}
