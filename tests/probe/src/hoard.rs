//! The tool `hoard`: takes as much of the host through WASI's files as it gets, and lets nothing go before it answers.

use hermes_tool::{Result, args, tool};
use serde_json::{Value, json};

use crate::{
    bindings::wasi::{
        filesystem::{
            preopens::get_directories,
            types::{Descriptor, DescriptorFlags, DirectoryEntryStream, OpenFlags, PathFlags},
        },
        io::streams::InputStream,
    },
    wasi::name,
};

#[args]
pub(crate) struct Hoard {
    kind: Kind,
    path: String,
    /// How many it tries to get.
    times: u64,
    /// How often it lets all of them go and begins anew.
    rounds: u64,
}

#[args]
#[serde(rename_all = "kebab-case")]
#[derive(Clone, Copy)]
enum Kind {
    /// Handles of one file.
    Files,
    /// Streams from one file, whose handles are gone.
    Streams,
    /// Listings of one directory.
    Listings,
    /// Handles of the preopened directories.
    Preopens,
}

/// What is held; it is never looked at.
#[allow(dead_code)]
enum Thing {
    File(Descriptor),
    Stream(InputStream),
    Listing(DirectoryEntryStream),
    Directories(Vec<(Descriptor, String)>),
}

/// Answers for each round how many it got, and why it got no more.
#[tool]
pub(crate) fn hoard(args: Hoard) -> Result<Value> {
    let open = get_directories();
    let Some((root, _)) = open.first() else { return Ok(Value::Null) };
    let round = |_| {
        let mut held = Vec::new();
        let error = (0..args.times).find_map(|_| take(root, &args.path, args.kind).map(|thing| held.push(thing)).err());
        json!({ "held": held.len(), "error": error })
    };
    Ok((0..args.rounds).map(round).collect())
}

fn take(root: &Descriptor, path: &str, kind: Kind) -> Result<Thing, String> {
    let open = |flags| root.open_at(PathFlags::SYMLINK_FOLLOW, path, flags, DescriptorFlags::READ).map_err(name);
    match kind {
        Kind::Files => Ok(Thing::File(open(OpenFlags::empty())?)),
        Kind::Streams => Ok(Thing::Stream(open(OpenFlags::empty())?.read_via_stream(0).map_err(name)?)),
        Kind::Listings => Ok(Thing::Listing(open(OpenFlags::DIRECTORY)?.read_directory().map_err(name)?)),
        Kind::Preopens => Ok(Thing::Directories(get_directories())),
    }
}
