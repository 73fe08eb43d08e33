//! Names that a shell completes: those of the tools, toolsets and components that are here now. The shell asks this program at every
//! press of the key, so nothing is compiled, nothing is made on disk, and what is not known is left out.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use clap_complete::CompletionCandidate;
use hermes_host::{
    BUNDLED, Host,
    component::{CompileLimits, Compiler},
};

/// By this variable a shell asks for candidates instead of running a command.
pub(super) const VARIABLE: &str = "HERMES_HOST_COMPLETE";

/// Where the compiler would be. There is none: what was never compiled is not among the candidates.
const NO_COMPILER: &str = "/nonexistent";

/// Names of tools.
pub(super) fn tools(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = host().map(|host| host.catalogue().tools().map(|tool| tool.definition.name.clone()).collect());
    candidates(current, names.unwrap_or_default())
}

/// Names of toolsets that have a tool, and the operator's own.
pub(super) fn toolsets(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = host().map(|host| {
        let catalogue = host.catalogue();
        let registered =
            catalogue.tools().map(|tool| (tool.definition.toolset.as_str(), tool.definition.name.as_str()));
        host.toolsets().names(&registered.collect())
    });
    candidates(current, names.unwrap_or_default())
}

/// Names of components, whether or not they can be loaded.
pub(super) fn components(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut names: Vec<String> = BUNDLED.iter().map(|(name, _)| (*name).to_owned()).collect();
    for folder in Place::of_command_line().folders() {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let components = files.filter(|file| file.extension().is_some_and(|extension| extension == "wasm"));
        names.extend(components.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())));
    }
    candidates(current, names)
}

fn candidates(current: &OsStr, names: Vec<String>) -> Vec<CompletionCandidate> {
    let Some(start) = current.to_str() else { return Vec::new() };
    let names: BTreeSet<String> = names.into_iter().filter(|name| name.starts_with(start)).collect();
    // Names of files are a stranger's text; a shell shows them.
    names.into_iter().filter(|name| !name.contains(hermes_host::is_hidden)).map(CompletionCandidate::new).collect()
}

/// The host as far as it is known. None where there is no home yet: a key pressed in a shell makes no folder.
fn host() -> Option<Host> {
    let place = Place::of_command_line();
    let home = place.home.clone().filter(|home| home.is_dir())?;
    let builder = place.folders().into_iter().fold(Host::builder().home(home), |builder, folder| builder.tools(folder));
    let compiler = Compiler::Worker(NO_COMPILER.into(), CompileLimits::STANDARD);
    builder.compiler(compiler).build().ok()
}

/// What the command line that is being completed says so far.
struct Place {
    home: Option<PathBuf>,
    tools: Vec<PathBuf>,
}

impl Place {
    fn of_command_line() -> Self {
        Self::of(std::env::args_os().collect())
    }

    fn of(words: Vec<OsString>) -> Self {
        let after = |option: &str| -> Vec<PathBuf> {
            let pairs = words.windows(2).filter_map(|pair| match pair {
                [name, value] if name == option => Some(PathBuf::from(value)),
                _ => None,
            });
            let joined = words
                .iter()
                .filter_map(|word| Some(PathBuf::from(word.to_str()?.strip_prefix(option)?.strip_prefix('=')?)));
            pairs.chain(joined).collect()
        };
        let home = after("--home").pop().or_else(|| hermes_host::default_home().ok());
        Self { home, tools: after("--tools") }
    }

    /// The folders that components are loaded from.
    fn folders(&self) -> Vec<PathBuf> {
        match &self.home {
            Some(home) if self.tools.is_empty() => {
                Some(home.join("tools")).filter(|it| it.is_dir()).into_iter().collect()
            }
            _ => self.tools.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_line_says_of_home_and_folders_is_used() {
        let words = ["hermes-host", "--", "hermes-host", "--home=/h", "call", "--tools", "/a", "--tools=/b", "x"];
        let place = Place::of(words.map(OsString::from).to_vec());
        assert_eq!(place.home, Some("/h".into()));
        assert_eq!(place.folders(), [PathBuf::from("/a"), "/b".into()]);
    }

    #[test]
    fn candidates_begin_as_typed_come_once_and_hide_nothing() {
        let names = ["read_file", "read_url", "write", "read_file", "re\u{202e}x"].map(str::to_owned).to_vec();
        let found = candidates(OsStr::new("re"), names);
        let found: Vec<&OsStr> = found.iter().map(CompletionCandidate::get_value).collect();
        assert_eq!(found, ["read_file", "read_url"]);
    }
}
