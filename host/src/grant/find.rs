//! Whom a name on the command line means. Nothing is compiled or run: whoever is granted files need not be loadable yet.

use std::{collections::BTreeSet, path::PathBuf};

use bytes::Bytes;

use crate::{
    capability::{ANSWERS, COMMANDS, FILES},
    component::{ComponentFile, Digest, Inspection, Origin, Refusal, ScanError, inspect, scan},
    registry::near,
    sandbox::{Limits, limits::MEMORY_CEILING},
};

/// A component that can be granted something.
#[derive(Clone, Debug)]
pub struct Found {
    /// The name that its grant stands under. Another one than was asked for where the same bytes are loaded under that.
    pub name: String,
    /// Its bytes' digest.
    pub digest: Digest,
    /// Where it is.
    pub origin: Origin,
    /// What its type says, or why it can't be a tool.
    pub inspection: Result<Inspection, String>,
}

/// Why nobody is meant.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// A folder can't be read.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// There is no component of this name. Its tools are not known here: a caller that knows them looks there too.
    #[error("no component and no tool is named {name:?}{}", offer(.near))]
    Unknown {
        /// The name.
        name: String,
        /// What may have been meant.
        near: Vec<String>,
    },
    /// There are several, with different bytes.
    #[error("several components are named {name}: {}; choose one with --digest", .places.join(", "))]
    Several {
        /// The name.
        name: String,
        /// Where each is, and its digest.
        places: Vec<String>,
    },
    /// Its bytes are not those that were named.
    #[error("{name} has other bytes than {wanted}: {}; look at it with hermes-host inspect", .places.join(", "))]
    OtherBytes {
        /// The name.
        name: String,
        /// The digest that was named.
        wanted: Digest,
        /// Where each is, and its digest.
        places: Vec<String>,
    },
    /// There is one, but it can't be read.
    #[error("{} {}", .0.place, .0.reason)]
    Refused(Refusal),
}

/// The component of a name: a bundled one, or a file of the folders. With a digest, only the one with these bytes.
pub fn find(name: &str, folders: &[PathBuf], digest: Option<&Digest>) -> Result<Found, FindError> {
    let mut search = Search { name, named: Vec::new(), known: Vec::new(), refused: None };
    for (name, bytes) in crate::BUNDLED {
        search.see(&ComponentFile::held(name, Origin::Bundled, Bytes::from_static(bytes)));
    }
    for folder in folders {
        for path in scan(folder)? {
            match ComponentFile::open(&path) {
                Ok(file) => search.see(&file),
                Err(refusal) if path.file_stem().is_some_and(|stem| stem == name) => search.refused = Some(refusal),
                Err(_) => {}
            }
        }
    }
    search.end(digest)
}

/// The components in the order in which they are loaded. Their bytes are not kept: together they may be too many.
struct Search<'a> {
    name: &'a str,
    /// Those of the name, each once.
    named: Vec<Found>,
    known: Vec<(Digest, String, Origin)>,
    refused: Option<Refusal>,
}

impl Search<'_> {
    fn see(&mut self, file: &ComponentFile) {
        let is_named = file.name == self.name && !self.named.iter().any(|found| found.digest == file.digest);
        self.known.push((file.digest, file.name.clone(), file.origin.clone()));
        // Of equal bytes the first is loaded, under its own name.
        let first = self.known.iter().find(|(digest, ..)| *digest == file.digest);
        if let Some((digest, name, origin)) = first.filter(|_| is_named) {
            // Whether it fits its limits is not the question here, so the widest hold.
            let inspection = inspect(&file.bytes, &Limits { memory: MEMORY_CEILING, ..Limits::HANDLE });
            self.named.push(Found { name: name.clone(), digest: *digest, origin: origin.clone(), inspection });
        }
    }

    fn end(mut self, digest: Option<&Digest>) -> Result<Found, FindError> {
        let name = self.name.to_owned();
        let places = |named: &[Found]| named.iter().map(Found::describe).collect();
        match (digest, self.named.len(), self.refused) {
            (_, 0, Some(refusal)) => Err(FindError::Refused(refusal)),
            (_, 0, None) => {
                let names: BTreeSet<&str> = self.known.iter().map(|(_, name, _)| name.as_str()).collect();
                let near = near(&name, names).into_iter().map(str::to_owned).collect();
                Err(FindError::Unknown { name, near })
            }
            (Some(wanted), ..) => match self.named.iter().position(|found| found.digest == *wanted) {
                Some(at) => Ok(self.named.swap_remove(at)),
                None => Err(FindError::OtherBytes { name, wanted: *wanted, places: places(&self.named) }),
            },
            (None, 1, _) => Ok(self.named.swap_remove(0)),
            (None, ..) => Err(FindError::Several { name, places: places(&self.named) }),
        }
    }
}

impl Found {
    fn describe(&self) -> String {
        format!("{} ({})", self.origin.describe_as(&self.name), self.digest)
    }

    /// Whether it asks for files: granted some and not asking, it has none.
    pub fn asks_for_files(&self) -> bool {
        self.inspection.as_ref().is_ok_and(asks_for_files)
    }

    /// Whether it imports what commands are run by.
    pub fn asks_for_commands(&self) -> bool {
        self.inspection.as_ref().is_ok_and(asks_for_commands)
    }

    /// Whether it imports what people are asked by.
    pub fn asks_for_answers(&self) -> bool {
        self.inspection.as_ref().is_ok_and(asks_for_answers)
    }
}

/// Whether a component asks for files at all.
pub fn asks_for_files(inspection: &Inspection) -> bool {
    FILES.iter().any(|interface| inspection.imports(interface))
}

/// Whether a component imports what commands are run by.
pub fn asks_for_commands(inspection: &Inspection) -> bool {
    inspection.imports(COMMANDS)
}

/// Whether a component imports what people are asked by.
pub fn asks_for_answers(inspection: &Inspection) -> bool {
    inspection.imports(ANSWERS)
}

fn offer(near: &[String]) -> String {
    match near {
        [] => "; hermes-host list shows those that there are".into(),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}
