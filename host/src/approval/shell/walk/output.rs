//! What a command prints, as far as that is known without running it.

use super::{Flow, Walker};
use crate::approval::shell::{
    resolve::Arg,
    rules::{self, Call},
};

/// What the whole environment is called.
pub(super) const ENVIRONMENT: &str = "the environment";

impl Walker {
    pub(super) fn output(&mut self, call: &Call<'_>) -> Flow {
        let args = call.args;
        let known = args.iter().all(|arg| arg.is_known() && !arg.glob);
        let mut flow = Flow { text: None, fed: true, ..call.input.clone() };
        match call.name {
            "echo" if known => flow.text = echo(args),
            "printf" if known => flow.text = printf(args),
            "pwd" if !self.scope.places.is_doubtful => flow.text = self.scope.places.directory.clone(),
            "true" | ":" => flow.text = Some(String::new()),
            "mktemp" => flow.text = Some("/tmp/tmp.made".into()),
            "which" | "type" if known => {
                flow.text = args.iter().find(|arg| !arg.is_option()).map(|arg| arg.text.clone());
            }
            "tee" => {
                flow.text.clone_from(&call.input.text);
                if let Some(secret) = &call.input.secret {
                    let files = args.iter().filter_map(|arg| self.scope.places.absolute(arg));
                    self.held.extend(files.map(|path| (path, secret.clone())));
                }
            }
            "cat" if args.iter().all(|arg| arg.text == "-") => flow.text.clone_from(&call.input.text),
            "git" if args.iter().any(|arg| arg.text == "--show-toplevel") => {
                flow.text = self.scope.places.workspace.clone();
            }
            "curl" | "wget" | "aria2c" | "fetch" | "http" | "https" | "nc" | "ncat" | "lwp-request" => {
                flow.downloaded = true
            }
            "base64" | "base32" | "basenc" | "xxd" | "openssl" | "uudecode" | "gpg" | "tr" | "rev" | "gunzip"
            | "zcat" | "gzip" | "bzip2" | "xz" | "rot13" => flow.decoded = true,
            "env" | "printenv" if args.iter().all(Arg::is_option) => flow.secret = Some(ENVIRONMENT.into()),
            _ => {}
        }
        if rules::prints(call).is_some() {
            flow.secret = Some("a secret".into());
        }
        // What takes up a text that is not known may print what a substitution took up.
        if matches!(call.name, "echo" | "printf") && !known && flow.secret.is_none() {
            flow.secret.clone_from(&self.taken);
        }
        if !matches!(call.name, "echo" | "printf" | "ls" | "stat" | "test" | "[") {
            for arg in args {
                if flow.secret.is_none() {
                    flow.secret = rules::secret(self, arg).or_else(|| rules::private(arg));
                }
            }
        }
        flow
    }
}

fn echo(args: &[Arg]) -> Option<String> {
    let mut words = args;
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.text.strip_prefix('-') else { break };
        if letters.is_empty() || !letters.bytes().all(|byte| matches!(byte, b'n' | b'e' | b'E')) {
            break;
        }
        words = rest;
    }
    let text = words.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    // Some shells take escapes without `-e`; a text with one is only known when it runs.
    (!text.contains('\\')).then_some(text)
}

/// `printf` with text alone or with `%s`.
fn printf(args: &[Arg]) -> Option<String> {
    let (format, mut values) = args.split_first()?;
    let format = format.text.replace("\\n", "\n");
    if format.contains('\\') {
        return None;
    }
    let mut out = String::new();
    loop {
        let mut rest = format.as_str();
        let mut took = false;
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            let conversion = after.chars().next()?;
            match conversion {
                '%' => out.push('%'),
                's' => {
                    if let Some((first, others)) = values.split_first() {
                        out.push_str(&first.text);
                        values = others;
                        took = true;
                    }
                }
                _ => return None,
            }
            rest = after.get(1..)?;
        }
        out.push_str(rest);
        if values.is_empty() || !took {
            return Some(out);
        }
    }
}
