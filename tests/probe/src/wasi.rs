//! The tool `wasi`: steps through WASI's own files.

use hermes_tool::{Result, args, tool};
use serde_json::{Value, json};

use crate::{
    bindings::wasi::{
        filesystem::{
            preopens::get_directories,
            types::{Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags},
        },
        io::streams::OutputStream,
    },
    ours::bytes,
};

/// What `blocking-write-and-flush` takes at once, by WASI's own rule.
const CHUNK: usize = 4096;

#[args]
pub(crate) struct Wasi {
    steps: Vec<Step>,
}

/// One thing to do. Which fields count depends on `op`.
#[args]
pub(crate) struct Step {
    op: Op,
    #[serde(default)]
    path: String,
    target: Option<String>,
    /// The directory to start from: the name of a preopened one. The first where nothing is said.
    folder: Option<String>,
    /// The preopened directory that `target` is meant from, where it is another one.
    into: Option<String>,
    /// A directory in it that is opened first and started from.
    below: Option<String>,
    /// Bits of `open-flags`: 1 create, 2 directory, 4 exclusive, 8 truncate.
    how: Option<u8>,
    /// Bits of `descriptor-flags`: 1 read, 2 write, 4, 8 and 16 the kinds of sync, 32 mutate-directory. Read where nothing is
    /// said.
    flags: Option<u8>,
    /// What to do with what `open` opened.
    then: Option<Then>,
    offset: Option<u64>,
    length: Option<u64>,
    #[serde(default)]
    content: String,
    /// So many letters instead of a content.
    fill: Option<u64>,
    /// So many times.
    times: Option<u64>,
}

#[args]
#[serde(rename_all = "kebab-case")]
enum Op {
    Preopens,
    /// Does what `then` says with the directory itself.
    Here,
    Open,
    Stat,
    SetTimes,
    Link,
    Symlink,
    Readlink,
    Rename,
    Unlink,
    CreateDirectory,
    RemoveDirectory,
}

#[args]
#[serde(rename_all = "kebab-case")]
enum Then {
    Read,
    ReadStream,
    ReadDirectory,
    Write,
    WriteStream,
    AppendStream,
    Zeroes,
    SetSize,
    SetTimes,
    Stat,
}

/// Does what a test asks, through WASI.
#[tool]
pub(crate) fn wasi(args: Wasi) -> Result<Value> {
    let answer = |step| match run(step) {
        Ok(ok) => json!({ "ok": ok }),
        Err(code) => json!({ "error": code }),
    };
    Ok(Value::Array(args.steps.into_iter().map(answer).collect()))
}

fn run(step: Step) -> Result<Value, String> {
    let open = get_directories();
    if let Op::Preopens = step.op {
        return Ok(open.into_iter().map(|(_, name)| name).collect());
    }
    let preopened = |wanted: Option<&str>| {
        let found = open.iter().find(|(_, name)| wanted.is_none_or(|wanted| wanted == name));
        found.map(|(directory, _)| directory).ok_or("no such preopened directory")
    };
    let (follow, first) = (PathFlags::SYMLINK_FOLLOW, preopened(step.folder.as_deref())?);
    let below = match &step.below {
        Some(below) => Some(first.open_at(follow, below, OpenFlags::DIRECTORY, DescriptorFlags::READ).map_err(name)?),
        None => None,
    };
    let root = below.as_ref().unwrap_or(first);
    let into = match &step.into {
        Some(name) => preopened(Some(name))?,
        None => root,
    };
    let (path, target) = (step.path.as_str(), step.target.as_deref().unwrap_or_default());
    match step.op {
        Op::Preopens => Ok(Value::Null),
        Op::Here => after(root, step),
        Op::Open => {
            let how = OpenFlags::from_bits_retain(step.how.unwrap_or_default());
            let flags = DescriptorFlags::from_bits_retain(step.flags.unwrap_or(1));
            let opened = root.open_at(follow, path, how, flags).map_err(name)?;
            match step.then {
                Some(_) => after(&opened, step),
                None => Ok(Value::Null),
            }
        }
        Op::Stat => root.stat_at(follow, path).map(|stat| json!(stat.size)).map_err(name),
        Op::SetTimes => nothing(root.set_times_at(follow, path, NewTimestamp::Now, NewTimestamp::Now)),
        Op::Link => nothing(root.link_at(PathFlags::empty(), path, into, target)),
        Op::Symlink => nothing(root.symlink_at(path, target)),
        Op::Readlink => root.readlink_at(path).map(Value::from).map_err(name),
        Op::Rename => nothing(root.rename_at(path, into, target)),
        Op::Unlink => nothing(root.unlink_file_at(path)),
        Op::CreateDirectory => nothing(root.create_directory_at(path)),
        Op::RemoveDirectory => nothing(root.remove_directory_at(path)),
    }
}

fn after(opened: &Descriptor, step: Step) -> Result<Value, String> {
    let (offset, length) = (step.offset.unwrap_or_default(), step.length.unwrap_or(4096));
    let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes));
    let content = bytes(step.content, step.fill);
    let times = step.times.unwrap_or(1);
    match step.then {
        None => Ok(Value::Null),
        Some(Then::Read) => opened.read(length, offset).map(|(bytes, _)| text(&bytes)).map_err(name),
        Some(Then::ReadStream) => {
            let stream = opened.read_via_stream(offset).map_err(name)?;
            stream.blocking_read(length).map(|bytes| text(&bytes)).map_err(|why| format!("{why:?}"))
        }
        Some(Then::ReadDirectory) => {
            let entries = opened.read_directory().map_err(name)?;
            let mut names = Vec::new();
            while let Some(entry) = entries.read_directory_entry().map_err(name)? {
                names.push(entry.name);
            }
            names.sort();
            Ok(json!(names))
        }
        Some(Then::Write) => {
            (0..times)
                .try_for_each(|n| opened.write(&content, offset + n * content.len() as u64).map(drop))
                .map_err(name)?;
            Ok(Value::Null)
        }
        Some(Then::WriteStream) => push(&opened.write_via_stream(offset).map_err(name)?, &content, times),
        Some(Then::AppendStream) => push(&opened.append_via_stream().map_err(name)?, &content, times),
        Some(Then::Zeroes) => {
            let stream = opened.write_via_stream(offset).map_err(name)?;
            for _ in 0..times {
                stream.blocking_write_zeroes_and_flush(CHUNK as u64).map_err(|why| format!("{why:?}"))?;
            }
            Ok(Value::Null)
        }
        Some(Then::SetSize) => nothing(opened.set_size(length)),
        Some(Then::SetTimes) => nothing(opened.set_times(NewTimestamp::Now, NewTimestamp::Now)),
        Some(Then::Stat) => opened.stat().map(|stat| json!(stat.size)).map_err(name),
    }
}

fn push(stream: &OutputStream, content: &[u8], times: u64) -> Result<Value, String> {
    for _ in 0..times {
        for chunk in content.chunks(CHUNK) {
            stream.blocking_write_and_flush(chunk).map_err(|why| format!("{why:?}"))?;
        }
    }
    Ok(Value::Null)
}

fn nothing(result: Result<(), ErrorCode>) -> Result<Value, String> {
    result.map(|()| Value::Null).map_err(name)
}

pub(crate) fn name(code: ErrorCode) -> String {
    code.name().to_owned()
}
