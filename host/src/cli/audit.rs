//! `hermes-host audit`.

use std::{path::Path, thread, time::Duration};

use anyhow::{Result, anyhow};
use clap::Subcommand;
use hermes_host::audit::{self, AuditError, Filter, Follower, Line, parse_since};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{FAILED, OK, Options, output};

/// How often new lines are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Earlier calls that are shown before those that come.
const EARLIER: usize = 10;

#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  hermes-host audit --since 1h\n  hermes-host audit --follow\n  hermes-host audit show CALL\n  hermes-host audit verify\n\nA new log begins when one is full; full ones are HOME/audit.N.jsonl, where N is the number of the last line. [audit] in hermes.toml has\nrotate = \"16MiB\" and arguments = \"summary\" or \"hash\"."
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only calls since then: 30m, 2h, 7d, 2026-11-16 or 2026-11-16T08:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Show calls as they end, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// Check that no line was removed or changed; exits with 1 if one was
    #[arg(long, conflicts_with_all = ["tool", "since", "follow"])]
    verify: bool,
    /// Print JSON alone: one line a call, or one report
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Show all that is on record about one call
    Show(Show),
    /// Check all logs: that no line was removed or changed; exits with 1 if one was
    Verify(Verify),
}

#[derive(clap::Args)]
struct Show {
    /// The call, as `audit` names it
    call: String,
    /// Print JSON alone: its lines
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Verify {
    /// Print JSON alone: one report
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, args: &Args) -> Result<u8> {
    let home = options.home()?;
    match &args.command {
        Some(Command::Show(show)) => return one(&home, show),
        Some(Command::Verify(report)) => return verify(&home, report.json),
        None if args.verify => return verify(&home, args.json),
        None => {}
    }
    let since = args.since.as_deref().map(|text| parse_since(text, Timestamp::now())).transpose();
    let since = since.map_err(|why| anyhow!("--since: {why}"))?;
    let filter = Filter { tool: args.tool.clone(), since, call: None };
    if args.follow {
        return follow(&home, filter, args.since.is_some(), args.json);
    }
    let mut rows = vec![output::headings(HEADINGS)];
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

/// Prints lines as they come.
fn follow(home: &Path, filter: Filter, shows_all: bool, as_json: bool) -> Result<u8> {
    let mut follower = Follower::new(home, filter);
    let mut found = follower.poll()?;
    if !shows_all {
        found.drain(..found.len().saturating_sub(EARLIER));
    }
    loop {
        for line in found {
            match line {
                Ok(line) if as_json => output::json_text(&whole(&line)?)?,
                Ok(line) => output::line(row(&line).join("  ").trim_end())?,
                Err(why) => output::error(&why.to_string()),
            }
        }
        thread::sleep(POLL_INTERVAL);
        found = follower.poll()?;
    }
}

/// All lines of one call.
fn one(home: &Path, show: &Show) -> Result<u8> {
    let filter = Filter { call: Some(show.call.clone()), ..Filter::default() };
    // One bad line must not hide the others: `audit verify` tells of it.
    let lines: Vec<Line> = audit::read(home, &filter)?.filter_map(Result::ok).collect();
    if lines.is_empty() {
        output::error(&format!("no call {:?} is on record; `hermes-host audit` lists them", show.call));
        return Ok(FAILED);
    }
    for (at, line) in lines.iter().enumerate() {
        if show.json {
            output::json_text(&whole(line)?)?;
            continue;
        }
        if at > 0 {
            output::line("")?;
        }
        for (name, text) in details(line) {
            output::line(&format!("{:<14}{text}", format!("{name}:")))?;
        }
    }
    Ok(OK)
}

/// What a line says, in the order in which an operator asks.
fn details(line: &Line) -> Vec<(&'static str, String)> {
    let record = &line.record;
    let all = [
        ("call", Some(record.call.clone())),
        ("time", Some(record.time.to_string())),
        ("tool", Some(record.tool.clone())),
        ("what", record.summary.clone()),
        ("outcome", Some(styled_outcome(&record.outcome))),
        ("approval", record.approval.clone()),
        ("decided by", record.decided_by.clone()),
        ("client", record.client.clone()),
        ("session", record.session.clone()),
        ("task", record.task.clone()),
        ("component", record.component.map(|digest| digest.to_string())),
        ("arguments", Some(record.arguments.to_string())),
        ("capabilities", (!record.capabilities.is_empty()).then(|| record.capabilities.join(", "))),
        ("took", Some(took(record.duration_us))),
        ("fuel", Some(record.fuel.to_string())),
        ("memory", Some(format!("{} bytes", record.memory))),
        ("line", Some(line.seq.to_string())),
    ];
    all.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
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

fn verify(home: &Path, as_json: bool) -> Result<u8> {
    let report = audit::verify(home)?;
    if as_json {
        let faults: Vec<_> = report.faults.iter().map(fault).collect();
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
            let file = fault.file.as_ref().map_or_else(String::new, |file| format!("{file} "));
            let word = output::styled(output::BAD, "fault");
            output::line(&format!("{word} {file}line {}: {}", fault.line, fault.what))?;
        }
        if report.more > 0 {
            output::line(&format!("and {} more", report.more))?;
        }
    }
    Ok(if report.faults.is_empty() { OK } else { FAILED })
}

fn fault(fault: &audit::Fault) -> Value {
    let mut shown = json!({"line": fault.line, "what": fault.what});
    if let Some(file) = &fault.file {
        shown["file"] = file.as_str().into();
    }
    shown
}

/// The columns of a list. What a call did comes last: it is the longest.
const HEADINGS: [&str; 8] = ["TIME", "TOOL", "OUTCOME", "DURATION", "APPROVAL", "CLIENT", "CALL", "WHAT"];

fn row(line: &Line) -> Vec<String> {
    let record = &line.record;
    let approval = match (&record.approval, &record.decided_by) {
        (Some(word), Some(by)) => format!("{word} by {by}"),
        (word, _) => word.clone().unwrap_or_default(),
    };
    vec![
        record.time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        record.tool.clone(),
        styled_outcome(&record.outcome),
        took(record.duration_us),
        approval,
        record.client.clone().unwrap_or_default(),
        record.call.clone(),
        record.summary.clone().unwrap_or_default(),
    ]
}

fn styled_outcome(outcome: &str) -> String {
    output::styled(if outcome == "ok" { output::GOOD } else { output::BAD }, outcome)
}

fn took(micros: u64) -> String {
    format!("{:.1} ms", micros as f64 / 1000.0)
}
