//! What a component says of itself in its type, read before it is compiled and without running anything.

use std::collections::BTreeSet;

use semver::Version;
use serde::{Deserialize, Serialize};
use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentDefinedType, ComponentType, ComponentTypeDeclaration, Instance,
    InstanceTypeDeclaration, Parser, Payload,
};

use crate::{
    capability,
    sandbox::limits::{CORE_INSTANCES, Limits, MEMORIES, TABLE_ELEMENTS, bytes},
    text::one_line,
    wit,
};

/// How deep components may nest. Composed components have two or three levels. Attack 17.
const DEPTH: usize = 16;

/// Bytes of a reason: names in it are the component's own.
const REASON_BYTES: usize = 500;

/// Bytes of an interface's name. The longest of WASI has 40.
const NAME_BYTES: usize = 200;

/// The size of a wasm page.
const PAGE: u64 = 64 << 10;

/// What a component is for, by what it exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It offers tools.
    Tool,
    /// It watches over the calls of others.
    Hook,
}

impl Role {
    /// The interface that makes a component one.
    pub const fn interface(self) -> &'static str {
        match self {
            Self::Tool => wit::PROVIDER,
            Self::Hook => wit::HOOKS,
        }
    }

    /// For messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Hook => "hook",
        }
    }
}

/// What a component's type says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// What it is for.
    pub role: Role,
    /// The version of `hermes:tool` it was built for.
    pub version: Version,
    /// What it could ever ask for.
    pub imports: Vec<Import>,
    /// Whether its tools may describe themselves anew.
    pub describes: bool,
    /// Bytes of the largest memory that it declares to start with.
    least_memory: u64,
}

impl Inspection {
    /// Whether it imports an interface, or one of a package.
    pub fn imports(&self, interface: &str) -> bool {
        let is_of = |import: &str| {
            import.strip_prefix(interface).is_some_and(|rest| rest.starts_with(['/', '@']) || rest.is_empty())
        };
        self.imports.iter().any(|import| is_of(&import.name))
    }

    /// Bytes of the largest memory that it declares to start with.
    pub(super) fn least_memory(&self) -> u64 {
        self.least_memory
    }

    /// Whether it can start within these limits. Asked again at every load: limits change, what is kept does not.
    pub(super) fn check(&self, limits: &Limits) -> Result<(), String> {
        let (least, limit) = (self.least_memory, limits.memory);
        if least > limit as u64 {
            return Err(format!("needs at least {least} bytes of memory; its limit is {}", bytes(limit)));
        }
        Ok(())
    }
}

/// One imported interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// With its version: `wasi:io/streams@0.2.6`.
    pub name: String,
    /// What it means for the operator.
    pub meaning: String,
}

/// Reads the type. The error is one line: why this can't be a tool here.
pub fn inspect(bytes: &[u8], limits: &Limits) -> Result<Inspection, String> {
    let fits = |inspection: Inspection| inspection.check(limits).map(|()| inspection);
    read(bytes).and_then(fits).map_err(|why| one_line(&why, REASON_BYTES))
}

fn read(bytes: &[u8]) -> Result<Inspection, String> {
    check_kind(bytes)?;
    let mut reader = Reader::default();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|why| broken(&why))?;
        reader.read(payload)?;
    }
    reader.finish()
}

fn broken(why: &wasmparser::BinaryReaderError) -> String {
    format!("is broken or cut short: {} at byte {}", why.message(), why.offset())
}

/// The first eight bytes tell most mistakes apart.
fn check_kind(bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Err("is empty".into());
    }
    if !bytes.starts_with(b"\0asm") {
        let start = &bytes[..bytes.len().min(512)];
        let text = std::str::from_utf8(start).is_ok_and(|text| !text.contains('\0'));
        return Err(if text { "is text, not a WebAssembly component" } else { "is not WebAssembly" }.into());
    }
    if Parser::is_core_wasm(bytes) {
        return Err("is a core module, not a component; build it for wasm32-wasip2".into());
    }
    if bytes.len() >= 8 && !Parser::is_component(bytes) {
        return Err("is of an unknown WebAssembly version".into());
    }
    Ok(())
}

#[derive(Default)]
struct Reader {
    depth: usize,
    instances: usize,
    least_memory: u64,
    imports: Vec<String>,
    exports: Vec<String>,
}

impl Reader {
    fn read(&mut self, payload: Payload<'_>) -> Result<(), String> {
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err(format!("nests components more than {DEPTH} deep"));
                }
            }
            Payload::End(_) => self.depth = self.depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if self.depth == 0 => {
                for import in section {
                    self.imports.push(import.map_err(|why| broken(&why))?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if self.depth == 0 => {
                for export in section {
                    self.exports.push(export.map_err(|why| broken(&why))?.name.name.to_owned());
                }
            }
            Payload::InstanceSection(section) => {
                for instance in section {
                    let real = matches!(instance.map_err(|why| broken(&why))?, Instance::Instantiate { .. });
                    self.instances += usize::from(real);
                }
                if self.instances > CORE_INSTANCES {
                    return Err(format!("has more than {CORE_INSTANCES} core instances"));
                }
            }
            Payload::ComponentTypeSection(section) => {
                for ty in section {
                    refuse_async(is_async_type(&ty.map_err(|why| broken(&why))?))?;
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    refuse_async(is_async_function(&function.map_err(|why| broken(&why))?))?;
                }
            }
            Payload::MemorySection(section) => {
                if section.count() as usize > MEMORIES {
                    return Err(format!("has a module with {} memories; the limit is {MEMORIES}", section.count()));
                }
                for memory in section {
                    let least = memory.map_err(|why| broken(&why))?.initial.saturating_mul(PAGE);
                    self.least_memory = self.least_memory.max(least);
                }
            }
            Payload::TableSection(section) => {
                for table in section {
                    let least = table.map_err(|why| broken(&why))?.ty.initial;
                    if least > TABLE_ELEMENTS as u64 {
                        return Err(format!("needs a table of {least} elements; the limit is {TABLE_ELEMENTS}"));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Inspection, String> {
        let mut versions = BTreeSet::new();
        let mut imports = Vec::new();
        for name in self.imports {
            if name.len() > NAME_BYTES || name.chars().any(|c| !c.is_ascii_graphic()) {
                return Err(format!("imports {name:?}, which this host does not have"));
            }
            let (interface, version) = split(&name);
            let wasi_of_another_age = interface.starts_with("wasi:")
                && version.as_ref().is_none_or(|version| (version.major, version.minor) != (0, 2));
            if wasi_of_another_age {
                return Err(format!("imports {name}; this host has WASI 0.2"));
            }
            if interface.starts_with(&format!("{}/", wit::PACKAGE)) {
                versions.insert(version.ok_or_else(|| format!("imports {name} without a version"))?);
            }
            let Some(meaning) = capability::meaning(interface) else {
                return Err(format!("imports {name}, which this host does not have"));
            };
            imports.push(Import { name, meaning: meaning.into() });
        }
        let exported = |role: Role| {
            let wanted = format!("{}/{}", wit::PACKAGE, role.interface());
            self.exports.iter().map(|name| split(name)).find(|(interface, _)| *interface == wanted)?.1
        };
        let (role, version) = match (exported(Role::Tool), exported(Role::Hook)) {
            (Some(version), None) => (Role::Tool, version),
            (None, Some(version)) => (Role::Hook, version),
            (Some(_), Some(_)) => return Err("is a tool and a hook at once; make two components of it".into()),
            (None, None) => {
                let provider = format!("{}/{}", wit::PACKAGE, wit::PROVIDER);
                return Err(format!("does not export {provider}: it is a component, but not a tool"));
            }
        };
        versions.insert(version.clone());
        let describes = self.exports.iter().any(|name| split(name).0 == format!("{}/{}", wit::PACKAGE, wit::DESCRIBER));
        if let Some(unknown) = versions.iter().find(|version| !wit::supports(version)) {
            let (package, range) = (wit::PACKAGE, wit::supported_range());
            return Err(format!("was built for {package} {unknown}; this host supports {range}"));
        }
        Ok(Inspection { role, version, imports, describes, least_memory: self.least_memory })
    }
}

/// Refuses the asynchronous part of the component model, of which WASI 0.3 is made. The engine has none of it.
fn refuse_async(is_async: bool) -> Result<(), String> {
    match is_async {
        true => {
            Err("uses async functions, streams or futures of the component model (WASI 0.3); this host has WASI 0.2: \
                     build it without them"
                .into())
        }
        false => Ok(()),
    }
}

/// Whether a type is one of the asynchronous ones, or has one inside. wasmparser bounds the depth of types.
fn is_async_type(ty: &ComponentType<'_>) -> bool {
    match ty {
        ComponentType::Defined(ComponentDefinedType::Future(_) | ComponentDefinedType::Stream(_)) => true,
        ComponentType::Func(function) => function.async_,
        ComponentType::Component(declarations) => declarations
            .iter()
            .any(|declaration| matches!(declaration, ComponentTypeDeclaration::Type(ty) if is_async_type(ty))),
        ComponentType::Instance(declarations) => declarations
            .iter()
            .any(|declaration| matches!(declaration, InstanceTypeDeclaration::Type(ty) if is_async_type(ty))),
        ComponentType::Defined(_) | ComponentType::Resource { .. } => false,
    }
}

/// Whether a function between core code and components is asynchronous. Those that are not are named, so that a new kind counts.
fn is_async_function(function: &CanonicalFunction) -> bool {
    let is_async = |option: &CanonicalOption| matches!(option, CanonicalOption::Async | CanonicalOption::Callback(_));
    match function {
        CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. } => {
            options.iter().any(is_async)
        }
        CanonicalFunction::ResourceNew { .. }
        | CanonicalFunction::ResourceDrop { .. }
        | CanonicalFunction::ResourceRep { .. } => false,
        _ => true,
    }
}

/// `ns:pkg/interface@1.2.3` in its two halves.
fn split(name: &str) -> (&str, Option<Version>) {
    match name.split_once('@') {
        Some((interface, version)) => (interface, version.parse().ok()),
        None => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_get_an_answer_and_never_a_panic(tail in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
            bytes.extend(&tail);
            prop_assert!(inspect(&bytes, &Limits::HANDLE).is_err());
            let _ = inspect(&tail, &Limits::HANDLE);
        }
    }

    #[test]
    fn each_kind_of_file_has_its_own_reason() {
        let reason = |bytes: &[u8]| inspect(bytes, &Limits::HANDLE).unwrap_err();
        assert!(reason(b"").contains("empty"));
        assert!(reason(b"(module)").contains("text"));
        assert!(reason(b"\x7fELF\0\0\0\0").contains("not WebAssembly"));
        assert!(reason(b"\0asm\x01\0\0\0").contains("core module"));
        assert!(reason(b"\0asm\x0d\0").contains("cut short"));
        assert!(reason(b"\0asm\x0d\0\x01\0").contains("not a tool"));
    }
}
