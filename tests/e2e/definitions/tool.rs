//! Components with the definitions that a test writes out, where `guest::assemble` has a default.

use std::fmt::Write;

use crate::guest;

/// Where the definitions lie in the guest's memory: past what the prelude hands out.
const AT: usize = 1 << 20;

/// One tool, as its component registers it.
#[derive(Clone, Copy)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    pub(crate) toolset: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a str,
    pub(crate) output: Option<&'a str>,
    pub(crate) required_env: &'a [&'a str],
    /// The bits of `hints` in wit/types.wit.
    pub(crate) hints: u8,
}

impl<'a> Tool<'a> {
    /// A tool of a toolset of its own that takes any object.
    pub(crate) fn named(name: &'a str) -> Self {
        Self {
            name,
            toolset: name,
            description: name,
            parameters: r#"{"type":"object"}"#,
            output: None,
            required_env: &[],
            hints: 0,
        }
    }

    /// Its component: it answers "ok".
    pub(crate) fn component(self) -> Vec<u8> {
        component(&[self], "", "")
    }
}

/// A component of these tools with its imports, and functions in place of the prelude's defaults.
pub(crate) fn component(tools: &[Tool<'_>], imports: &str, functions: &str) -> Vec<u8> {
    guest::assemble(tools[0].name, &format!("(module {imports}\n{}\n{functions})", registering(tools)))
}

/// The memory with these definitions, and the `$register` that answers them.
pub(super) fn registering(tools: &[Tool<'_>]) -> String {
    let mut memory = Memory::default();
    let records: Vec<Vec<u32>> = tools.iter().map(|tool| memory.record(tool)).collect();
    let at = memory.words(&records.concat());
    let (pages, data) = ((2 * AT) >> 16, memory.text());
    format!(
        r#"(memory {pages})
        (data (i32.const {AT}) "{data}")
        (func $register (result i32)
          (i32.store (global.get $tools) (i32.const {at}))
          (i32.store offset=4 (global.get $tools) (i32.const {}))
          (global.get $tools))"#,
        tools.len()
    )
}

/// Values laid out as the canonical ABI has them.
#[derive(Default)]
struct Memory(Vec<u8>);

impl Memory {
    /// Pointer and length.
    fn string(&mut self, text: &str) -> [u32; 2] {
        let at = (AT + self.0.len()) as u32;
        self.0.extend(text.as_bytes());
        [at, text.len() as u32]
    }

    fn words(&mut self, words: &[u32]) -> u32 {
        // Some records hold a number of eight bytes.
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        let at = (AT + self.0.len()) as u32;
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        at
    }

    fn record(&mut self, tool: &Tool<'_>) -> Vec<u32> {
        let texts = [tool.name, tool.toolset, tool.description, tool.parameters].map(|text| self.string(text));
        let output = tool.output.map_or([0; 3], |text| {
            let [at, length] = self.string(text);
            [1, at, length]
        });
        let env: Vec<[u32; 2]> = tool.required_env.iter().map(|name| self.string(name)).collect();
        let env = [self.words(&env.concat()), env.len() as u32];
        // No emoji, no size; the hints and what fills their eight bytes.
        [&texts.concat(), &output[..], &[0; 3], &env, &[0; 4], &[tool.hints.into(), 0]].concat()
    }

    fn text(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "\\{byte:02x}");
            text
        })
    }
}
