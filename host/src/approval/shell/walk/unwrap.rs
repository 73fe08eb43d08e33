//! Takes commands out of what runs them.

use super::{
    Flow, Walker,
    call::quote,
    wrappers::{self, Wrapper},
};
use crate::approval::shell::{
    Category,
    limits::{LOOP_VALUES, SEARCHED_ARGUMENTS},
    resolve::{Arg, Sure, UNKNOWN, Value},
    rules::{self, Call, environment, privilege},
};

impl Walker {
    /// Judges what a wrapper runs, in the directory that it changes to. `None` if the name is no wrapper.
    pub(super) fn unwrap(&mut self, name: &str, args: &[Arg], input: &Flow) -> Option<Flow> {
        let Some(folder) = working_directory(name, args) else { return self.unwrap_here(name, args, input) };
        let before = self.scope.places.clone();
        self.scope.places.directory = before.absolute(&folder);
        let flow = self.unwrap_here(name, args, input);
        self.scope.places = before;
        flow
    }

    fn unwrap_here(&mut self, name: &str, args: &[Arg], input: &Flow) -> Option<Flow> {
        match name {
            "command" | "builtin" => return Some(self.command_builtin(name, args, input)),
            "xargs" => return Some(self.xargs(args, input)),
            "parallel" => return Some(self.parallel(args)),
            "find" | "gfind" | "fd" | "fdfind" => {
                self.find_files(name, args);
                return None;
            }
            "su" | "runuser" | "script" => return Some(self.text_option(name, args, input)),
            "watch" | "hyperfine" | "entr" => return Some(self.joined(name, args)),
            "ssh" | "mosh" | "autossh" => return Some(self.remote(args, input)),
            "npx" | "bunx" | "pnpx" | "uvx" => {
                rules::apply(self, &Call { name, args, input });
            }
            _ if (name.starts_with("ld-") && name.contains(".so")) || name.starts_with("qemu-") => {
                let command = wrappers::open(args, "L", &["library-path", "preload"], 0).command.to_vec();
                return Some(self.inside(name, |walker| walker.call(command, input)));
            }
            "coreutils" => {
                let mut command = args.to_vec();
                if let Some(first) = command.first_mut()
                    && let Some(program) = first.text.strip_prefix("--coreutils-prog=")
                {
                    *first = Arg::known(program.to_owned());
                }
                return Some(self.inside(name, |walker| walker.call(command, input)));
            }
            _ if rules::is_shell(name) => return Some(self.shell(name, args, input)),
            _ => {}
        }
        let wrapper = wrappers::find(name)?;
        let args = match MANAGERS.iter().find(|(manager, _)| *manager == name) {
            Some((_, words)) => {
                rules::apply(self, &Call { name, args, input });
                from_word(args, words)?
            }
            None => args,
        };
        let opened = wrapper.open(args);
        let own = args.len().saturating_sub(opened.command.len());
        rules::host::touches(self, name, args.get(..own).unwrap_or(&[]));
        if name == "env" {
            if let Some(flow) = self.env_split(args, input) {
                return Some(flow);
            }
            if opened.command.is_empty() {
                return None;
            }
        }
        if matches!(name, "flock")
            && let Some(text) = option_value(args, "-c", "--command")
        {
            let text = text.text.clone();
            return Some(self.inside(name, |walker| walker.shell_text(&text, input)));
        }
        privilege::wrapper(self, name, &opened.options, opened.command);
        let before = self.scope.clone();
        for arg in &opened.assignments {
            if let Some((name, text)) = arg.text.split_once('=') {
                let value = if arg.is_known() { Value::Known(text.into()) } else { Value::Guess(text.into()) };
                environment::assignment(self, name, &value);
                self.carried_by(name, &value);
                self.scope.set(name, value);
            }
        }
        if name == "chroot" || name == "unshare" || name == "nsenter" {
            self.ask(Category::Privilege, format!("`{name}` runs a command in another root or namespace"));
        }
        let flow = self.rest(name, wrapper, args, opened.command, input);
        self.scope = before;
        Some(flow)
    }

    /// Judges the rest of a wrapper's arguments. If nobody knows the program, and an option stands before it, it may be the option's
    /// value: the command is then what follows.
    fn rest(&mut self, name: &str, wrapper: &Wrapper, args: &[Arg], command: &[Arg], input: &Flow) -> Flow {
        self.claimed = false;
        if let [text] = command
            && text.text.contains([' ', '\n'])
        {
            // No program has such a name; some wrappers hand it to a shell.
            let text = text.text.clone();
            return self.inside(name, |walker| walker.aside(|walker| walker.shell_text(&text, input)));
        }
        let argv = command.to_vec();
        let mut flow = self.inside(name, |walker| walker.call(argv, input));
        let mut command = command;
        for _ in 0..DOUBTS {
            let before = args.len().checked_sub(command.len() + 1).and_then(|at| args.get(at));
            let doubtful = before.is_some_and(|arg| arg.is_option() && arg.text != "--" && !arg.text.contains('='));
            let Some((_, after)) = command.split_first().filter(|_| doubtful && !self.claimed) else { break };
            command = wrapper.open_further(after);
            if command.is_empty() || !self.spend() {
                break;
            }
            if command.len() > SEARCHED_ARGUMENTS {
                self.ask(Category::Limit, format!("`{name}` with too many arguments to search for its command"));
                break;
            }
            let argv = command.to_vec();
            flow = self.inside(name, |walker| walker.call(argv, input));
        }
        flow
    }

    fn command_builtin(&mut self, name: &str, args: &[Arg], input: &Flow) -> Flow {
        let opened = wrappers::open(args, "", &[], 0);
        if opened.options.iter().any(|arg| matches!(arg.text.as_str(), "-v" | "-V")) {
            let found = opened.command.first().filter(|arg| arg.is_known()).map(|arg| arg.text.clone());
            return Flow { text: found, fed: true, ..Flow::default() };
        }
        let command = opened.command.to_vec();
        self.inside(name, |walker| walker.call(command, input))
    }

    /// `env -S 'text'`: the text is taken apart like shell text.
    fn env_split(&mut self, args: &[Arg], input: &Flow) -> Option<Flow> {
        let at = args.iter().position(|arg| {
            arg.text.starts_with("-S")
                || arg.text.starts_with("--split-string")
                || arg.text == "-vS"
                || arg.text == "-iS"
        })?;
        let arg = args.get(at)?;
        let attached = arg.text.strip_prefix("--split-string=").or_else(|| arg.text.strip_prefix("-S"));
        let mut rest = args.get(at + 1..)?;
        let mut text = match attached {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => {
                let (first, after) = rest.split_first()?;
                rest = after;
                first.text.clone()
            }
        };
        if !args.iter().all(Arg::is_known) {
            self.ask(Category::UnknownCommand, "`env -S` of text that is only known when it runs");
        }
        for arg in rest {
            text.push(' ');
            text.push_str(&quote(&arg.text));
        }
        Some(self.inside("env", |walker| walker.shell_text(&text, input)))
    }

    fn xargs(&mut self, args: &[Arg], input: &Flow) -> Flow {
        let opened =
            wrappers::open(args, "adEILnPsS", &["arg-file", "delimiter", "max-args", "max-procs", "replace"], 0);
        let mark = option_value(args, "-I", "--replace").map_or_else(|| "{}".into(), |arg| arg.text.clone());
        let mut command: Vec<Arg> = opened.command.iter().map(|arg| placeholder(arg, &mark)).collect();
        if command.is_empty() {
            return Flow::unknown();
        }
        command.push(Arg::unknown(Sure::Split));
        let handed = Flow { secret: input.secret.clone(), ..Flow::unknown() };
        self.inside("xargs", |walker| walker.call(command, &handed))
    }

    fn parallel(&mut self, args: &[Arg]) -> Flow {
        let opened = wrappers::open(
            args,
            "jaNnILdSPX",
            &["jobs", "arg-file", "colsep", "delay", "joblog", "results", "wd", "workdir"],
            0,
        );
        let end = opened.command.iter().position(|arg| arg.text.starts_with(":::"));
        let command = opened.command.get(..end.unwrap_or(opened.command.len())).unwrap_or(&[]);
        if command.is_empty() {
            self.ask(Category::PipedCode, "`parallel` runs the lines that it is given");
            return Flow::unknown();
        }
        let mut text = command.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
        let values = end.and_then(|end| opened.command.get(end + 1..)).unwrap_or(&[]);
        for value in values.iter().filter(|value| value.is_known()).take(LOOP_VALUES) {
            let own =
                if text.contains("{}") { text.replace("{}", &value.text) } else { format!("{text} {}", value.text) };
            self.inside("parallel", |walker| walker.aside(|walker| walker.shell_text(&own, &Flow::unknown())));
        }
        text.push(' ');
        text.push(UNKNOWN);
        self.inside("parallel", |walker| walker.shell_text(&text, &Flow::unknown()))
    }

    /// `-exec` and its kin.
    fn find_files(&mut self, name: &str, args: &[Arg]) {
        let short = name.starts_with("fd");
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            let runs = match arg.text.as_str() {
                "-exec" | "-execdir" | "-ok" | "-okdir" => !short,
                "-x" | "--exec" | "-X" | "--exec-batch" => short,
                _ => false,
            };
            if !runs {
                continue;
            }
            let rest = args.get(at..).unwrap_or(&[]);
            let end = rest.iter().position(|arg| arg.text == ";" || arg.text == "+").unwrap_or(rest.len());
            at += end;
            let mut command: Vec<Arg> = rest.iter().take(end).map(|arg| placeholder(arg, "{}")).collect();
            if short && command.iter().all(Arg::is_known) {
                command.push(Arg::unknown(Sure::Part));
            }
            self.inside(name, |walker| walker.call(command, &Flow::inherited()));
        }
    }

    /// `su -c 'text'`.
    fn text_option(&mut self, name: &str, args: &[Arg], input: &Flow) -> Flow {
        if name != "script" {
            self.ask(Category::Privilege, format!("`{name}` takes another user's rights"));
        }
        let call = Call { name, args, input };
        let text = call.clustered('c').into_iter().chain(call.long_values("--command")).next();
        match text {
            Some(text) => {
                if !text.is_known() {
                    self.ask(Category::UnknownCommand, format!("`{name} -c` of text that is only known when it runs"));
                }
                let text = text.text.clone();
                self.inside(name, |walker| walker.aside(|walker| walker.shell_text(&text, input)))
            }
            None if name == "runuser" => {
                let command = wrappers::open(args, "ugG", &["user", "group"], 0).command.to_vec();
                self.inside(name, |walker| walker.call(command, input))
            }
            None if name == "script" && !call.says(&["--help", "--version", "-V"]) => {
                self.ask(Category::PipedCode, "`script` starts a shell that takes commands from its input");
                Flow::unknown()
            }
            None => Flow::unknown(),
        }
    }

    /// Programs that hand their operands to a shell.
    fn joined(&mut self, name: &str, args: &[Arg]) -> Flow {
        let opened = wrappers::open(
            args,
            if name == "entr" { "" } else { "nwrmPiSsup" },
            &["interval", "warmup", "runs", "prepare", "setup", "shell"],
            0,
        );
        let texts: Vec<String> = match name {
            "hyperfine" => args.iter().filter(|arg| !arg.is_option()).map(|arg| arg.text.clone()).collect(),
            // With `-s` it is shell text.
            "entr" if opened.options.iter().any(|arg| arg.text.contains('s')) => {
                opened.command.iter().map(|arg| arg.text.clone()).collect()
            }
            "entr" => vec![opened.command.iter().map(|arg| quote(&arg.text)).collect::<Vec<_>>().join(" ")],
            _ => vec![opened.command.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ")],
        };
        for text in texts {
            self.inside(name, |walker| walker.aside(|walker| walker.shell_text(&text, &Flow::inherited())));
        }
        Flow::unknown()
    }

    /// `ssh`: options that run here, and the command that runs there.
    fn remote(&mut self, args: &[Arg], input: &Flow) -> Flow {
        for (at, arg) in args.iter().enumerate() {
            let setting = match arg.text.strip_prefix("-o") {
                Some("") => args.get(at + 1).map_or("", |arg| arg.text.as_str()),
                Some(attached) => attached,
                None => continue,
            };
            self.ssh_setting(setting);
        }
        let opened = wrappers::open(args, "BbcDEeFIiJLlmOopQRSWw", &[], 1);
        rules::apply(self, &Call { name: "ssh", args, input });
        if opened.command.is_empty() {
            let idle = opened.options.iter().any(|arg| matches!(arg.text.as_str(), "-V" | "-G" | "-Q" | "-O" | "-N"));
            if !idle {
                self.ask(Category::PipedCode, "`ssh` starts a shell that takes commands from its input");
            }
            return Flow::unknown();
        }
        if opened.command.iter().any(|arg| !arg.is_known()) {
            self.ask(Category::UnknownCommand, "`ssh` with a command that is only known when it runs");
        }
        let text = opened.command.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
        self.inside("ssh", |walker| {
            walker.aside(|walker| {
                walker.scope.places.directory = None;
                walker.scope.places.workspace = None;
                walker.shell_text(&text, input)
            })
        })
    }

    /// Judges a setting of ssh that names a program.
    pub(crate) fn ssh_setting(&mut self, setting: &str) {
        let (key, value) = setting.split_once(['=', ' ']).unwrap_or((setting, ""));
        let key = key.trim().to_lowercase();
        if matches!(key.as_str(), "proxycommand" | "localcommand" | "knownhostscommand" | "remotecommand") {
            self.program_text("ssh -o", value.trim_matches(['"', ' ']));
        }
    }

    /// Judges a text that an option hands to a shell, and says that it runs something.
    pub(crate) fn program_text(&mut self, option: &str, text: &str) {
        if text.contains(UNKNOWN) || text.trim().is_empty() {
            self.ask(Category::UnknownCommand, format!("`{option}` runs a program that is only known when it runs"));
        }
        let text = text.to_owned();
        self.inside(option, |walker| walker.aside(|walker| walker.shell_text(&text, &Flow::unknown())));
    }
}

/// Wrappers that run their command in another directory, with the options that name it.
const WORKING_DIRECTORIES: [(&str, &str, &str); 6] = [
    ("env", "C", "--chdir"),
    ("parallel", "", "--workdir"),
    ("parallel", "", "--wd"),
    ("sudo", "D", "--chdir"),
    ("systemd-run", "", "--working-directory"),
    ("unshare", "w", "--wd"),
];

/// The directory that a wrapper changes to before it runs its command.
fn working_directory(name: &str, args: &[Arg]) -> Option<Arg> {
    let call = Call { name, args, input: &Flow::default() };
    WORKING_DIRECTORIES.iter().filter(|(wrapper, ..)| *wrapper == name).find_map(|(_, letter, long)| {
        let short = letter.chars().next().and_then(|letter| call.clustered(letter).into_iter().next());
        short.or_else(|| call.long_values(long).into_iter().next())
    })
}

/// How many unknown options with values a wrapper may have before its command.
const DOUBTS: usize = 8;

/// Managers of packages, versions and secrets: wrappers only with a word that runs something.
const MANAGERS: [(&str, &[&str]); 26] = [
    ("aws-vault", &["exec"]),
    ("bun", &["x"]),
    ("bundle", &["exec"]),
    ("cargo", &["watch"]),
    ("conda", &["run"]),
    ("direnv", &["exec"]),
    ("doppler", &["run"]),
    ("dotenv", &["run"]),
    ("hatch", &["run"]),
    ("mise", &["exec", "x", "run"]),
    ("npm", &["exec", "x"]),
    ("op", &["run"]),
    ("pdm", &["run"]),
    ("perf", &["stat", "record", "trace"]),
    ("pipenv", &["run"]),
    ("pixi", &["run", "exec"]),
    ("pnpm", &["exec", "dlx"]),
    ("poetry", &["run"]),
    ("pyenv", &["exec"]),
    ("rbenv", &["exec"]),
    ("rr", &["record"]),
    ("rustup", &["run"]),
    ("rye", &["run"]),
    ("uv", &["run"]),
    ("volta", &["run"]),
    ("yarn", &["exec", "dlx"]),
];

/// The arguments from the word on that runs something, if it is there. An operand right after an option may be its value.
fn from_word<'a>(args: &'a [Arg], words: &[&str]) -> Option<&'a [Arg]> {
    let call = Call { name: "", args, input: &Flow::default() };
    let word = call.commands().find(|word| words.contains(word))?;
    let at = args.iter().position(|arg| arg.text == word)?;
    args.get(at..)
}

/// An argument in which a mark stands for what is only known when it runs.
fn placeholder(arg: &Arg, mark: &str) -> Arg {
    if mark.is_empty() || !arg.text.contains(mark) {
        return arg.clone();
    }
    Arg { text: arg.text.replace(mark, &UNKNOWN.to_string()), sure: arg.sure.max(Sure::Part), ..arg.clone() }
}

/// The value of an option written `-c value`, `-cvalue`, `--command value` or `--command=value`.
pub(super) fn option_value<'a>(args: &'a [Arg], short: &str, long: &str) -> Option<std::borrow::Cow<'a, Arg>> {
    use std::borrow::Cow;
    for (at, arg) in args.iter().enumerate() {
        if arg.text == short || arg.text == long {
            return args.get(at + 1).map(Cow::Borrowed);
        }
        let attached = arg.text.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        if let Some(text) = attached.or_else(|| arg.text.strip_prefix(short).filter(|_| !arg.text.starts_with("--"))) {
            return Some(Cow::Owned(Arg { text: text.into(), ..arg.clone() }));
        }
    }
    None
}
