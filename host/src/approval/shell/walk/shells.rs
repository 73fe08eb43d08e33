//! Shells: the text, the file or the stream that they run.

use super::{Flow, Walker};
use crate::approval::shell::{Category, resolve::Arg};

impl Walker {
    /// `sh` and its kin.
    pub(super) fn shell(&mut self, name: &str, args: &[Arg], input: &Flow) -> Flow {
        if matches!(name, "fish" | "csh" | "tcsh" | "elvish") && !args.is_empty() {
            self.ask(Category::Unparsed, format!("the grammar of {name} is not known"));
        }
        let mut text = false;
        let mut stdin = false;
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let Some(letters) = arg.text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else { break };
            at += 1;
            match letters.strip_prefix('-') {
                Some("") => break,
                Some("version" | "help") => return Flow::unknown(),
                Some("rcfile" | "init-file") => {
                    if let Some(file) = args.get(at) {
                        self.script(file, input);
                    }
                    at += 1;
                }
                Some("command") => text = true,
                Some(_) => {}
                None => {
                    text |= letters.contains('c');
                    stdin |= letters.contains('s');
                    // `-o name` and `-O name`.
                    at += letters.chars().filter(|letter| matches!(letter, 'o' | 'O')).count();
                }
            }
        }
        let operands = args.get(at..).unwrap_or(&[]);
        match operands.split_first() {
            Some((script, rest)) if text => self.script_text(name, script, rest, input),
            Some((script, _)) if !stdin && script.text != "-" => {
                self.script(script, input);
                Flow::unknown()
            }
            _ => {
                self.stream(name, input);
                Flow::unknown()
            }
        }
    }

    fn script_text(&mut self, name: &str, script: &Arg, rest: &[Arg], input: &Flow) -> Flow {
        if !script.is_known() {
            self.ask(Category::UnknownCommand, format!("`{name} -c` of text that is only known when it runs"));
        }
        let text = script.text.clone();
        self.inside(name, |walker| {
            walker.aside(|walker| {
                // The first is the script's name.
                walker.scope.positional = Some(rest.get(1..).unwrap_or(&[]).to_vec());
                walker.shell_text(&text, input)
            })
        })
    }

    /// A file that a shell runs.
    pub(super) fn script(&mut self, file: &Arg, input: &Flow) {
        match self.stream_of(file, input) {
            Some(flow) => self.stream("a shell", &flow),
            None => self.code_file(file),
        }
    }

    /// A file that an interpreter of another language runs.
    pub(crate) fn foreign_script(&mut self, name: &str, file: &Arg, input: &Flow) {
        match self.stream_of(file, input) {
            Some(flow) => self.code_stream(name, &flow),
            None => self.code_file(file),
        }
    }

    /// The stream that a file's name stands for.
    fn stream_of(&self, file: &Arg, input: &Flow) -> Option<Flow> {
        if file.process {
            return Some(self.process_flow.clone());
        }
        match file.text.as_str() {
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(input.clone()),
            text if text.starts_with("/dev/fd/") || text.starts_with("/proc/self/fd/") => Some(Flow::unknown()),
            _ => None,
        }
    }

    fn code_file(&mut self, file: &Arg) {
        if file.text.contains("://") {
            self.ask(Category::DownloadedCode, format!("runs an address: {}", file.shown()));
        } else if !file.is_known() || file.glob {
            self.ask(
                Category::UnknownCommand,
                format!("runs a file that is only known when it runs: {}", file.shown()),
            );
        } else if self.is_made(file) {
            self.ask(Category::WrittenCode, format!("runs {}, which the same line makes", file.shown()));
        }
    }

    /// A stream that a shell runs.
    fn stream(&mut self, name: &str, input: &Flow) {
        if let Some(text) = input.text.clone() {
            self.inside(name, |walker| walker.aside(|walker| walker.shell_text(&text, &Flow::inherited())));
            return;
        }
        self.code_stream(name, input);
    }

    /// A stream of unknown code.
    pub(crate) fn code_stream(&mut self, name: &str, input: &Flow) {
        if input.downloaded {
            self.ask(Category::DownloadedCode, format!("{name} runs what was downloaded"));
        } else if input.decoded {
            self.ask(Category::DecodedCode, format!("{name} runs what was decoded"));
        } else {
            self.ask(Category::PipedCode, format!("{name} runs what its input says"));
        }
    }
}
