//! The tool `fs`: steps through `hermes:tool/filesystem`.

use hermes_tool::fs::{
    self, Change, Edit, Expected, Fault, Filter, Granularity, LinesQuery, Rename, SearchQuery, Splice,
};
use hermes_tool::{Result, args, tool};
use serde_json::{Value, json};

#[args]
pub(crate) struct Fs {
    steps: Vec<Step>,
}

/// One thing to do. Which fields count depends on `op`.
#[args]
pub(crate) struct Step {
    op: Op,
    #[serde(default)]
    path: String,
    offset: Option<u64>,
    length: Option<u64>,
    pattern: Option<String>,
    #[serde(default)]
    globs: Vec<String>,
    /// Also what is hidden or ignored.
    #[serde(default)]
    all: bool,
    /// Files instead of lines.
    #[serde(default)]
    files: bool,
    context: Option<u32>,
    take: Option<u32>,
    #[serde(default)]
    changes: Vec<OneChange>,
}

#[args]
#[serde(rename_all = "lowercase")]
enum Op {
    Stat,
    Read,
    Lines,
    List,
    Find,
    Search,
    Commit,
}

#[args]
pub(crate) struct OneChange {
    kind: Kind,
    path: String,
    target: Option<String>,
    #[serde(default)]
    content: String,
    /// So many letters instead of a content.
    fill: Option<u64>,
    version: Option<u64>,
    /// Nothing may be there.
    #[serde(default)]
    fresh: bool,
    offset: Option<u64>,
    length: Option<u64>,
}

#[args]
#[serde(rename_all = "lowercase")]
enum Kind {
    Write,
    Edit,
    Remove,
    Rename,
}

impl OneChange {
    fn change(self) -> Change {
        let content = bytes(self.content, self.fill);
        match self.kind {
            Kind::Write => Change::Write(fs::Write {
                path: self.path,
                content,
                expected: match self.version {
                    Some(version) => Expected::Version(version),
                    None if self.fresh => Expected::Nothing,
                    None => Expected::Anything,
                },
            }),
            Kind::Edit => Change::Edit(Edit {
                path: self.path,
                version: self.version.unwrap_or_default(),
                splices: vec![Splice {
                    offset: self.offset.unwrap_or_default(),
                    length: self.length.unwrap_or_default(),
                    bytes: content,
                }],
            }),
            Kind::Remove => Change::Remove(fs::Remove { path: self.path, version: self.version }),
            Kind::Rename => Change::Rename(Rename { source: self.path, target: self.target.unwrap_or_default() }),
        }
    }
}

/// A content, or so many letters.
pub(crate) fn bytes(content: String, fill: Option<u64>) -> Vec<u8> {
    fill.map_or_else(|| content.into_bytes(), |length| vec![b'x'; usize::try_from(length).unwrap_or(usize::MAX)])
}

/// Does what a test asks, through the host's own interface.
#[tool(name = "fs")]
pub(crate) fn ours(args: Fs) -> Result<Value> {
    let answer = |step| match run(step) {
        Ok(ok) => json!({ "ok": ok }),
        Err(fault) => json!({ "error": name(&fault.reason), "message": fault.message }),
    };
    Ok(Value::Array(args.steps.into_iter().map(answer).collect()))
}

fn run(step: Step) -> Result<Value, Fault> {
    let filter = |step: &Step| Filter {
        path: step.path.clone(),
        globs: step.globs.clone(),
        hidden: step.all,
        ignored: step.all,
        skip: 0,
        take: step.take.unwrap_or(100),
    };
    Ok(match step.op {
        Op::Stat => metadata(&fs::stat(&step.path)?),
        Op::Read => {
            let piece = fs::read(&step.path, step.offset.unwrap_or_default(), step.length.unwrap_or(4096))?;
            json!({
                "text": String::from_utf8_lossy(&piece.bytes), "masked": piece.masked, "version": piece.metadata.version,
            })
        }
        Op::Lines => {
            let query = LinesQuery {
                path: step.path,
                first: step.offset.unwrap_or(1),
                count: step.length.map_or(100, |count| u32::try_from(count).unwrap_or(u32::MAX)),
                width: 4096,
            };
            let excerpt = fs::lines(&query)?;
            json!({
                "text": String::from_utf8_lossy(&excerpt.bytes), "masked": excerpt.masked, "seen": excerpt.seen,
                "given": excerpt.given, "total": excerpt.total, "version": excerpt.metadata.version,
            })
        }
        Op::List => {
            let listing = fs::list(&step.path)?;
            let entries = listing.entries.iter().map(|entry| json!([entry.name, name(&entry.kind)]));
            json!({ "entries": entries.collect::<Vec<_>>(), "total": listing.total })
        }
        Op::Find => {
            let found = fs::find(&filter(&step))?;
            json!({ "paths": found.paths, "total": found.total, "skipped": found.extent.skipped })
        }
        Op::Search => {
            let found = fs::search(&SearchQuery {
                filter: filter(&step),
                pattern: step.pattern.unwrap_or_default(),
                granularity: if step.files { Granularity::Files } else { Granularity::Lines },
                context: step.context.unwrap_or_default(),
                width: 4096,
            })?;
            let hits = found.hits.iter().map(|hit| json!([hit.path, hit.number, hit.text]));
            let files = found.files.iter().map(|tally| json!([tally.path, tally.count]));
            json!({
                "hits": hits.collect::<Vec<_>>(), "files": files.collect::<Vec<_>>(), "total": found.total,
                "masked": found.masked, "skipped": found.extent.skipped,
            })
        }
        Op::Commit => {
            let changes: Vec<Change> = step.changes.into_iter().map(OneChange::change).collect();
            let changed = fs::commit(&changes)?;
            let one = |changed: &fs::Changed| {
                json!({
                    "path": changed.path, "created": changed.created, "folders": changed.folders_created,
                    "knowledge": name(&changed.knowledge),
                    "version": changed.metadata.as_ref().map(|metadata| metadata.version),
                })
            };
            Value::Array(changed.iter().map(one).collect())
        }
    })
}

fn metadata(metadata: &fs::Metadata) -> Value {
    json!({
        "kind": name(&metadata.kind), "size": metadata.size, "version": metadata.version,
        "writable": metadata.writable,
    })
}

/// The case's name without its type's, which generated code puts in front.
fn name(case: &impl std::fmt::Debug) -> String {
    let text = format!("{case:?}");
    text.rsplit("::").next().unwrap_or(&text).to_owned()
}
