//! The tool `repeat`: calls one function of `wasi:filesystem` again and again, whatever it answers.

use hermes_tool::{Error, Result, args, tool};
use serde_json::Value;

use crate::bindings::wasi::{
    filesystem::{
        preopens::get_directories,
        types::{Advice, Descriptor, DescriptorFlags, NewTimestamp, OpenFlags, PathFlags, filesystem_error_code},
    },
    io::streams::StreamError,
};

#[args]
pub(crate) struct Repeat {
    /// The function's name in the interface, without that of its resource.
    function: String,
    times: u64,
}

/// Works on `plain.txt` in the first preopened directory. Answers how often it called.
#[tool]
pub(crate) fn repeat(args: Repeat) -> Result<Value> {
    let failed = |why: &str| Error::failed(why);
    let (open, follow) = (get_directories(), PathFlags::SYMLINK_FOLLOW);
    let (root, _) = open.first().ok_or_else(|| failed("no preopened directory"))?;
    let both = DescriptorFlags::READ | DescriptorFlags::WRITE;
    let open_file = |flags| root.open_at(follow, "plain.txt", OpenFlags::empty(), flags);
    let file = open_file(both).map_err(|why| failed(why.name()))?;
    let listing = root.read_directory().map_err(|why| failed(why.name()))?;
    let output = file.write_via_stream(0).map_err(|why| failed(why.name()))?;
    let Err(StreamError::LastOperationFailed(error)) =
        output.blocking_write_and_flush("\u{ab}redacted\u{bb}".as_bytes())
    else {
        return Err(failed("a mask was written"));
    };
    let now = NewTimestamp::Now;
    let call: Box<dyn Fn()> = match args.function.as_str() {
        "get-directories" => Box::new(|| ignore(get_directories())),
        "filesystem-error-code" => Box::new(|| ignore(filesystem_error_code(&error))),
        "read-directory-entry" => Box::new(|| ignore(listing.read_directory_entry())),
        "read-directory" => Box::new(|| ignore(root.read_directory())),
        "open-at" => Box::new(|| ignore(open_file(DescriptorFlags::READ))),
        "create-directory-at" => Box::new(|| ignore(root.create_directory_at("sub"))),
        "remove-directory-at" => Box::new(|| ignore(root.remove_directory_at("none"))),
        "unlink-file-at" => Box::new(|| ignore(root.unlink_file_at("none"))),
        "rename-at" => Box::new(|| ignore(root.rename_at("none", root, "other"))),
        "link-at" => Box::new(|| ignore(root.link_at(follow, "plain.txt", root, "other"))),
        "symlink-at" => Box::new(|| ignore(root.symlink_at("plain.txt", "other"))),
        "readlink-at" => Box::new(|| ignore(root.readlink_at("plain.txt"))),
        "stat-at" => Box::new(|| ignore(root.stat_at(follow, "plain.txt"))),
        "set-times-at" => Box::new(|| ignore(root.set_times_at(follow, "plain.txt", now, now))),
        "metadata-hash-at" => Box::new(|| ignore(root.metadata_hash_at(follow, "plain.txt"))),
        other => on_file(&file, other).ok_or_else(|| failed("no such function"))?,
    };
    (0..args.times).for_each(|_| call());
    Ok(args.times.into())
}

/// What is done with an open file.
fn on_file<'a>(file: &'a Descriptor, function: &str) -> Option<Box<dyn Fn() + 'a>> {
    let now = NewTimestamp::Now;
    Some(match function {
        "read-via-stream" => Box::new(|| ignore(file.read_via_stream(0))),
        "write-via-stream" => Box::new(|| ignore(file.write_via_stream(0))),
        "append-via-stream" => Box::new(|| ignore(file.append_via_stream())),
        "read" => Box::new(|| ignore(file.read(1, 0))),
        "write" => Box::new(|| ignore(file.write(b"i", 0))),
        "set-size" => Box::new(|| ignore(file.set_size(7))),
        "set-times" => Box::new(move || ignore(file.set_times(now, now))),
        "stat" => Box::new(|| ignore(file.stat())),
        "sync" => Box::new(|| ignore(file.sync())),
        "sync-data" => Box::new(|| ignore(file.sync_data())),
        "advise" => Box::new(|| ignore(file.advise(0, 1, Advice::Normal))),
        "get-flags" => Box::new(|| ignore(file.get_flags())),
        "get-type" => Box::new(|| ignore(file.get_type())),
        "is-same-object" => Box::new(|| ignore(file.is_same_object(file))),
        "metadata-hash" => Box::new(|| ignore(file.metadata_hash())),
        _ => return None,
    })
}

/// What a function answers is of no interest.
fn ignore<T>(_: T) {}
