//! Changing the fake files: all of the changes, or none.

use super::{FILES, Fault, File, Known, Tree, fault, path};
use crate::fs::{Change, Changed, Edit, Expected, Knowledge, Reason, Remove, Rename, Splice, Write};

pub(crate) fn commit(changes: &[Change]) -> Result<Vec<Changed>, Fault> {
    FILES.with_borrow_mut(|files| {
        let mut tree = files.tree.clone();
        let mut answers = Vec::new();
        for change in changes {
            files.permit(name(change))?;
            answers.push(tree.apply(change)?);
        }
        files.tree = tree;
        Ok(answers)
    })
}

fn name(change: &Change) -> &str {
    match change {
        Change::Write(write) => &write.path,
        Change::Edit(edit) => &edit.path,
        Change::Remove(remove) => &remove.path,
        Change::Rename(rename) => &rename.source,
    }
}

impl Tree {
    fn apply(&mut self, change: &Change) -> Result<Changed, Fault> {
        match change {
            Change::Write(write) => self.write(write),
            Change::Edit(edit) => self.edit(edit),
            Change::Remove(remove) => self.remove(remove),
            Change::Rename(rename) => self.rename(rename),
        }
    }

    fn write(&mut self, write: &Write) -> Result<Changed, Fault> {
        let path = path::inside(&write.path)?;
        let old = self.files.get(&path);
        match (write.expected, old) {
            (Expected::Nothing, Some(_)) => return Err(taken(&path)),
            (Expected::Version(version), old) if old.map(|old| old.version) != Some(version) => {
                return Err(other(&path));
            }
            _ => {}
        }
        let created = old.is_none();
        let knowledge = self.knowledge(&path);
        let folders_created = self.make_room(&path)?;
        let metadata = self.put(path.clone(), write.content.clone());
        self.known.insert(path.clone(), Known { version: metadata.version, whole: true });
        Ok(Changed { path: path::real(&path), created, folders_created, metadata: Some(metadata), knowledge })
    }

    fn edit(&mut self, edit: &Edit) -> Result<Changed, Fault> {
        let path = path::inside(&edit.path)?;
        let file = self.file(&path)?;
        if file.version != edit.version {
            return Err(other(&path));
        }
        let content = spliced(file, &edit.splices).ok_or_else(|| {
            fault(
                Reason::Invalid,
                format!("the splices do not fit {}: they overlap or reach past its end", path::real(&path)),
            )
        })?;
        let knowledge = self.knowledge(&path);
        let metadata = self.put(path.clone(), content);
        let whole = knowledge == Knowledge::Whole;
        self.known.insert(path.clone(), Known { version: metadata.version, whole });
        let path = path::real(&path);
        Ok(Changed { path, created: false, folders_created: false, metadata: Some(metadata), knowledge })
    }

    fn remove(&mut self, remove: &Remove) -> Result<Changed, Fault> {
        let path = path::inside(&remove.path)?;
        let version = self.file(&path)?.version;
        if remove.version.is_some_and(|wanted| wanted != version) {
            return Err(other(&path));
        }
        let knowledge = self.knowledge(&path);
        self.files.remove(&path);
        self.known.remove(&path);
        Ok(Changed { path: path::real(&path), created: false, folders_created: false, metadata: None, knowledge })
    }

    fn rename(&mut self, rename: &Rename) -> Result<Changed, Fault> {
        let (source, target) = (path::inside(&rename.source)?, path::inside(&rename.target)?);
        let file = self.file(&source)?.clone();
        if self.files.contains_key(&target) {
            return Err(taken(&target));
        }
        let knowledge = self.knowledge(&source);
        let folders_created = self.make_room(&target)?;
        let metadata = Some(file.metadata());
        self.files.remove(&source);
        self.files.insert(target.clone(), file);
        if let Some(known) = self.known.remove(&source) {
            self.known.insert(target.clone(), known);
        }
        Ok(Changed { path: path::real(&target), created: true, folders_created, metadata, knowledge })
    }

    /// Whether folders are made for a file; a fault where it can't be.
    fn make_room(&self, path: &str) -> Result<bool, Fault> {
        match self.no_file(path) {
            why if why.reason == Reason::NotFound || self.files.contains_key(path) => {
                Ok(path::parents(path).any(|parent| !self.is_directory(parent)))
            }
            why => Err(why),
        }
    }

    fn knowledge(&self, path: &str) -> Knowledge {
        match (self.files.get(path), self.known.get(path)) {
            (Some(file), Some(known)) if file.version != known.version => Knowledge::Outdated,
            (Some(_), Some(Known { whole: true, .. })) => Knowledge::Whole,
            (Some(_), Some(_)) => Knowledge::Partial,
            _ => Knowledge::Unread,
        }
    }
}

/// The content with other bytes in it; nothing where the splices are not in order or not in the file.
fn spliced(file: &File, splices: &[Splice]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let mut at = 0;
    for splice in splices {
        let start = usize::try_from(splice.offset).ok()?;
        content.extend_from_slice(file.content.get(at..start)?);
        content.extend_from_slice(&splice.bytes);
        at = start.checked_add(usize::try_from(splice.length).ok()?)?;
    }
    content.extend_from_slice(file.content.get(at..)?);
    Some(content)
}

fn taken(path: &str) -> Fault {
    fault(Reason::Exists, format!("{} already exists", path::real(path)))
}

fn other(path: &str) -> Fault {
    fault(Reason::Changed, format!("{} was changed since it was read: read it again", path::real(path)))
}

#[cfg(test)]
mod tests {
    use super::super::{lines, stat};
    use super::*;
    use crate::fs::LinesQuery;
    use crate::testing::FakeHost;

    fn write(path: &str, content: &str, expected: Expected) -> Change {
        Change::Write(Write { path: path.into(), content: content.into(), expected })
    }

    fn edit(path: &str, splices: &[(u64, u64, &str)]) -> Change {
        let splice = |(offset, length, bytes): &(u64, u64, &str)| Splice {
            offset: *offset,
            length: *length,
            bytes: bytes.as_bytes().to_vec(),
        };
        let version = stat(path).unwrap().version;
        Change::Edit(Edit { path: path.into(), version, splices: splices.iter().map(splice).collect() })
    }

    #[test]
    fn all_of_the_changes_happen_or_none() {
        let host = FakeHost::new().file("a", "old").file("b", "old");
        let why = commit(&[write("a", "new", Expected::Anything), write("b", "new", Expected::Nothing)]).unwrap_err();
        assert_eq!(why.reason, Reason::Exists);
        assert_eq!(host.content("a").unwrap(), b"old");
        commit(&[write("a", "new", Expected::Anything), Change::Remove(Remove { path: "b".into(), version: None })])
            .unwrap();
        assert_eq!((host.content("a"), host.content("b")), (Some(b"new".to_vec()), None));
    }

    #[test]
    fn a_version_that_is_gone_is_not_written_over() {
        let host = FakeHost::new().file("a", "one");
        let version = stat("a").unwrap().version;
        commit(&[write("a", "two", Expected::Version(version))]).unwrap();
        assert_eq!(commit(&[write("a", "x", Expected::Version(version))]).unwrap_err().reason, Reason::Changed);
        assert_eq!(commit(&[write("new", "x", Expected::Version(version))]).unwrap_err().reason, Reason::Changed);
        let remove = Change::Remove(Remove { path: "a".into(), version: Some(version) });
        assert_eq!(commit(&[remove]).unwrap_err().reason, Reason::Changed);
        assert_eq!(host.content("a").unwrap(), b"two");
    }

    #[test]
    fn splices_go_where_they_belong() {
        let host = FakeHost::new().file("a", "one two three");
        commit(&[edit("a", &[(0, 3, "1"), (8, 5, "3"), (13, 0, "!")])]).unwrap();
        assert_eq!(host.content("a").unwrap(), b"1 two 3!");
        for wrong in [&[(4, 9, "")][..], &[(2, 2, ""), (1, 1, "")], &[(u64::MAX, 1, "")]] {
            assert_eq!(commit(&[edit("a", wrong)]).unwrap_err().reason, Reason::Invalid, "{wrong:?}");
        }
    }

    #[test]
    fn folders_are_made_and_said_to_be() {
        let _host = FakeHost::new().file("src/a", "");
        let made = |path: &str| commit(&[write(path, "", Expected::Anything)]).map(|made| made[0].folders_created);
        assert_eq!(
            (made("b"), made("src/b"), made("src/c/d"), made("src/c/e")),
            (Ok(false), Ok(false), Ok(true), Ok(false))
        );
        assert_eq!(made("src/a/b").unwrap_err().reason, Reason::NotDirectory);
        assert_eq!(made("src/c").unwrap_err().reason, Reason::IsDirectory);
    }

    #[test]
    fn a_file_moves_with_its_content() {
        let host = FakeHost::new().file("a", "text").file("b", "");
        let rename = |target: &str| Change::Rename(Rename { source: "a".into(), target: target.into() });
        assert_eq!(commit(&[rename("b")]).unwrap_err().reason, Reason::Exists);
        assert_eq!(commit(&[rename("c/d")]).unwrap()[0].path, "/workspace/c/d");
        assert_eq!((host.content("a"), host.content("c/d")), (None, Some(b"text".to_vec())));
    }

    #[test]
    fn what_the_task_knows_is_what_lines_gave_it() {
        let host = FakeHost::new().file("a", "one\ntwo\n");
        let ask = |count| lines(&LinesQuery { path: "a".into(), first: 1, count, width: 99 }).unwrap();
        let knows = || commit(&[write("a", "one\ntwo\n", Expected::Anything)]).unwrap()[0].knowledge;
        assert_eq!((knows(), knows()), (Knowledge::Unread, Knowledge::Whole));
        let host = host.file("a", "one\ntwo\n");
        ask(1);
        assert_eq!(knows(), Knowledge::Partial);
        let _host = host.file("a", "other");
        assert_eq!(knows(), Knowledge::Outdated);
    }
}
