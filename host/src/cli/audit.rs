//! `hermes-host audit`.

use anyhow::{Result, anyhow};
use hermes_host::audit::{self, AuditError, Filter, Line, parse_since};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{FAILED, OK, Options, output};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only calls since then: 30m, 2h, 7d, 2026-11-16 or 2026-11-16T08:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Check that no line was removed or changed; exits with 1 if one was
    #[arg(long, conflicts_with_all = ["tool", "since"])]
    verify: bool,
    /// Print JSON alone: one line a call, or one report
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let home = options.home()?;
    if args.verify {
        return verify(&home, args.json);
    }
    let since = args.since.as_deref().map(|text| parse_since(text, Timestamp::now())).transpose();
    let since = since.map_err(|why| anyhow!("--since: {why}"))?;
    let filter = Filter { tool: args.tool.clone(), since, call: None };
    let mut rows = vec![output::headings(["TIME", "TOOL", "OUTCOME", "DURATION", "TASK", "CALL"])];
    let mut damaged = false;
    for line in audit::read(&home, &filter)? {
        match line {
            Ok(line) if args.json => output::json_text(&whole(&line)?)?,
            Ok(line) => rows.push(row(&line)),
            // One bad line must not hide the others.
            Err(why @ AuditError::Line { .. }) => {
                output::error(&why.to_string());
                damaged = true;
            }
            Err(why) => return Err(why.into()),
        }
    }
    if !args.json {
        match rows.len() {
            1 => output::note("No calls."),
            _ => output::line(output::table(&rows).trim_end())?,
        }
    }
    Ok(if damaged { FAILED } else { OK })
}

/// A line with its place in the chain, as it stands in the log.
fn whole(line: &Line) -> Result<String> {
    let mut json = json!({"seq": line.seq});
    if let (Value::Object(all), Value::Object(record)) = (&mut json, serde_json::to_value(&line.record)?) {
        all.extend(record);
    }
    json["prev"] = line.prev.clone().into();
    json["hash"] = line.hash.clone().into();
    Ok(json.to_string())
}

fn verify(home: &std::path::Path, as_json: bool) -> Result<u8> {
    let report = audit::verify(home)?;
    if as_json {
        let faults: Vec<_> = report.faults.iter().map(|one| json!({"line": one.line, "what": one.what})).collect();
        output::json(&json!({
            "ok": report.faults.is_empty(),
            "lines": report.lines,
            "faults": faults,
            "more_faults": report.more,
        }))?;
    } else if report.faults.is_empty() {
        let good = output::styled(output::GOOD, "whole");
        output::line(&format!("{good}: {} lines, none removed or changed", report.lines))?;
    } else {
        for fault in &report.faults {
            output::line(&format!("{} line {}: {}", output::styled(output::BAD, "fault"), fault.line, fault.what))?;
        }
        if report.more > 0 {
            output::line(&format!("and {} more", report.more))?;
        }
    }
    Ok(if report.faults.is_empty() { OK } else { FAILED })
}

fn row(line: &Line) -> Vec<String> {
    let record = &line.record;
    let style = if record.outcome == "ok" { output::GOOD } else { output::BAD };
    vec![
        record.time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        record.tool.clone(),
        output::styled(style, &record.outcome),
        format!("{:.1} ms", record.duration_us as f64 / 1000.0),
        record.task.clone().unwrap_or_default(),
        record.call.clone(),
    ]
}
