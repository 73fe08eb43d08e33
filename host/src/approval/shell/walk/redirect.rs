//! What redirections read and write.

use super::{Flow, Walker};
use crate::approval::shell::{
    Category,
    resolve::{Arg, UNKNOWN, Value},
    rules::{self, write},
    syntax::{Redirect, Target, Word},
    understood,
};

impl Walker {
    /// Judges redirections. Gives the input if they set it.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) -> Option<Flow> {
        let mut input = None;
        self.written.clear();
        for redirect in redirects {
            // Each is judged like a command of its own, so it costs as much.
            if !self.spend() {
                break;
            }
            match &redirect.target {
                Target::Read(word) => {
                    let arg = self.target(word);
                    let mut flow = if arg.process { self.process_flow.clone() } else { Flow::unknown() };
                    flow.fed = true;
                    understood::redirected_from(self, &arg);
                    if network(&arg.text) {
                        self.ask(Category::ReverseShell, format!("reads from the network: {}", arg.shown()));
                    }
                    if let Some(secret) = rules::secret(self, &arg).filter(|_| !self.is_held(&arg)) {
                        self.ask(Category::CredentialRead, format!("reads {secret}"));
                    }
                    flow.secret = rules::secret(self, &arg).or_else(|| rules::private(&arg)).or(flow.secret);
                    if redirect.descriptor.unwrap_or(0) == 0 {
                        input = Some(flow);
                    }
                }
                Target::Write(word) => self.write(word),
                Target::Duplicate(word) => {
                    let arg = self.target(word);
                    if !arg.is_known() {
                        self.doubt(Category::UnknownTarget, "a redirection to a descriptor or file that is not known");
                    }
                    let number = arg.text.trim_end_matches('-');
                    if !(number.bytes().all(|byte| byte.is_ascii_digit()) || arg.text == UNKNOWN.to_string()) {
                        self.write_to(&arg);
                    }
                }
                Target::Text(word) => {
                    let text = self.text(word);
                    input = Some(self.known(text));
                }
                Target::Document(number) => {
                    let document = self.documents.get(*number).cloned().unwrap_or_default();
                    let text = self.text(&document);
                    input = Some(self.known(text));
                }
            }
        }
        input
    }

    fn target(&mut self, word: &Word) -> Arg {
        let mut args = self.expand(word);
        match (args.pop(), args.is_empty()) {
            (Some(arg), true) => arg,
            _ => Arg::unknown(crate::approval::shell::resolve::Sure::Part),
        }
    }

    fn write(&mut self, word: &Word) {
        let arg = self.target(word);
        self.write_to(&arg);
    }

    fn write_to(&mut self, arg: &Arg) {
        if arg.process {
            return;
        }
        if network(&arg.text) {
            return self.ask(Category::ReverseShell, format!("opens a connection: {}", arg.shown()));
        }
        if arg.text.starts_with(UNKNOWN) {
            return self.ask(Category::UnknownTarget, format!("writes to {}", arg.shown()));
        }
        write::file(self, arg, "writes");
        understood::redirected_to(self, arg);
        self.note_made(arg);
        self.written.extend(self.scope.places.absolute(arg));
    }

    fn known(&self, text: Value) -> Flow {
        match text {
            Value::Known(text) => Flow::text(text),
            // What is not known may be what a substitution took up.
            _ => Flow { secret: self.taken.clone(), ..Flow::unknown() },
        }
    }

    /// Remembers a file that the text makes.
    pub(crate) fn note_made(&mut self, arg: &Arg) {
        if let Some(path) = self.scope.places.absolute(arg) {
            self.made.insert(path);
        }
    }
}

fn network(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}
