//! Programs that run the rest of their arguments.

use crate::approval::shell::resolve::Arg;

/// How to find the command in a wrapper's arguments.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Short options that take a value.
    values: &'static str,
    /// Long options that take a value as the next argument.
    long: &'static [&'static str],
    /// How many operands stand before the command.
    skip: usize,
}

const fn wrapper(name: &'static str, values: &'static str, long: &'static [&'static str], skip: usize) -> Wrapper {
    Wrapper { name, values, long, skip }
}

/// Every wrapper whose command is plainly the rest.
const WRAPPERS: [Wrapper; 100] = [
    wrapper("aa-exec", "p", &["profile"], 0),
    wrapper("aws-vault", "", &[], 2),
    wrapper("bun", "", &["cwd"], 1),
    wrapper("bundle", "", &[], 1),
    wrapper("bunx", "", &[], 0),
    wrapper("busybox", "", &[], 0),
    wrapper("bwrap", "", &["bind", "ro-bind", "dev", "proc", "tmpfs", "chdir", "setenv"], 0),
    wrapper("caffeinate", "tw", &[], 0),
    wrapper("cargo", "xwid", &["exec", "watch"], 1),
    wrapper("catchsegv", "", &[], 0),
    wrapper("cgexec", "g", &[], 0),
    wrapper("chpst", "uUbeP/ n", &[], 0),
    wrapper("chronic", "", &[], 0),
    wrapper("chroot", "", &["userspec", "groups"], 1),
    wrapper("chrt", "TPDp", &["sched-runtime", "sched-period", "sched-deadline"], 1),
    wrapper("conda", "npf", &["name", "prefix"], 1),
    wrapper("cpulimit", "lpe", &["limit"], 0),
    wrapper("cross-env", "", &[], 0),
    wrapper("daemonize", "acepolu", &[], 0),
    wrapper("dbus-launch", "", &[], 0),
    wrapper("dbus-run-session", "", &["config-file"], 0),
    wrapper("direnv", "", &[], 2),
    wrapper("doas", "uC", &[], 0),
    wrapper("doppler", "", &[], 1),
    wrapper("dotenv", "ef", &["file"], 1),
    wrapper("dumb-init", "r", &[], 0),
    wrapper("eatmydata", "", &[], 0),
    wrapper("env", "uCa", &["unset", "chdir", "argv0"], 0),
    wrapper("exec", "a", &[], 0),
    wrapper("fakechroot", "", &[], 0),
    wrapper("fakeroot", "lsib", &[], 0),
    wrapper("faketime", "", &[], 1),
    wrapper("firejail", "", &[], 0),
    wrapper("flock", "wE", &["timeout", "wait", "conflict-exit-code"], 1),
    wrapper("gosu", "", &[], 1),
    wrapper("hatch", "ep", &["env", "project"], 1),
    wrapper("heaptrack", "o", &[], 0),
    wrapper("ifne", "", &[], 0),
    wrapper("ionice", "cnpPu", &["class", "classdata"], 0),
    wrapper("linux32", "", &[], 0),
    wrapper("linux64", "", &[], 0),
    wrapper("ltrace", "eopsaunlDF", &[], 0),
    wrapper("mise", "", &[], 1),
    wrapper("mpirun", "n", &["np", "host", "hostfile"], 0),
    wrapper("nice", "n", &["adjustment"], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("npm", "pw", &["package", "workspace", "prefix"], 1),
    wrapper("npx", "p", &["package"], 0),
    wrapper("nsenter", "tSG", &["target", "setuid", "setgid"], 0),
    wrapper("numactl", "mNpCilH", &[], 0),
    wrapper("op", "", &["env-file"], 1),
    wrapper("pdm", "", &[], 1),
    wrapper("perf", "eopFtC", &["event", "output"], 1),
    wrapper("pipenv", "", &[], 1),
    wrapper("pixi", "eC", &["manifest-path", "environment"], 1),
    wrapper("pkexec", "u", &["user"], 0),
    wrapper("pnpm", "CF", &["dir", "filter", "package"], 1),
    wrapper("pnpx", "p", &["package"], 0),
    wrapper("poetry", "", &[], 1),
    wrapper("prlimit", "p", &["pid"], 0),
    wrapper("proot", "rbwqk", &[], 0),
    wrapper("proxychains", "f", &[], 0),
    wrapper("proxychains4", "f", &[], 0),
    wrapper("pyenv", "", &[], 1),
    wrapper("rbenv", "", &[], 1),
    wrapper("rlwrap", "cfHbsS", &[], 0),
    wrapper("rr", "", &[], 1),
    wrapper("runcon", "turl", &[], 0),
    wrapper("rustup", "", &[], 2),
    wrapper("rye", "", &["pyproject"], 1),
    wrapper("s6-setuidgid", "", &[], 1),
    wrapper("schedtool", "", &[], 0),
    wrapper("setarch", "", &[], 1),
    wrapper("setpriv", "", &["reuid", "regid", "groups"], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("setuidgid", "", &[], 1),
    wrapper("softlimit", "amdsflcot", &[], 0),
    wrapper("sshpass", "pfdP", &[], 0),
    wrapper("stdbuf", "ioe", &["input", "output", "error"], 0),
    wrapper("strace", "eopsaEuIObPSX", &["trace", "output", "attach", "user", "env", "signal", "inject"], 0),
    wrapper("su-exec", "", &[], 1),
    wrapper("sudo", "ugpCchrtTUDR", &["user", "group", "prompt", "host", "role", "type", "chdir", "chroot"], 0),
    wrapper("systemd-run", "pEuHM", &["unit", "property", "setenv", "slice", "uid", "gid", "description"], 0),
    wrapper("taskset", "p", &[], 1),
    wrapper("time", "fo", &["format", "output"], 0),
    wrapper("timeout", "ks", &["kill-after", "signal"], 1),
    wrapper("tini", "e", &[], 0),
    wrapper("torify", "", &[], 0),
    wrapper("torsocks", "", &[], 0),
    wrapper("toybox", "", &[], 0),
    wrapper("trickle", "duwsltL", &[], 0),
    wrapper("tsocks", "", &[], 0),
    wrapper("unbuffer", "", &[], 0),
    wrapper("unshare", "RwSG", &["root", "wd", "setuid", "setgid"], 0),
    wrapper("uv", "", &[], 1),
    wrapper("uvx", "p", &["python", "from", "with"], 0),
    wrapper("valgrind", "", &[], 0),
    wrapper("volta", "", &["node", "npm", "yarn"], 1),
    wrapper("xvfb-run", "nfsep", &["server-args", "server-num"], 0),
    wrapper("yarn", "p", &["package"], 1),
];

/// The wrapper of that name.
pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.binary_search_by(|wrapper| wrapper.name.cmp(name)).ok().and_then(|at| WRAPPERS.get(at))
}

/// A wrapper's arguments, taken apart.
pub(super) struct Opened<'a> {
    pub(super) options: Vec<&'a Arg>,
    /// `NAME=value` between the options and the command.
    pub(super) assignments: Vec<&'a Arg>,
    pub(super) command: &'a [Arg],
}

impl Wrapper {
    pub(super) fn open<'a>(&self, args: &'a [Arg]) -> Opened<'a> {
        open(args, self.values, self.long, self.skip)
    }

    /// The command after more options.
    pub(super) fn open_further<'a>(&self, args: &'a [Arg]) -> &'a [Arg] {
        open(args, self.values, self.long, 0).command
    }
}

/// Takes options, assignments and leading operands off.
pub(super) fn open<'a>(args: &'a [Arg], values: &str, long: &[&str], skip: usize) -> Opened<'a> {
    let mut opened = Opened { options: Vec::new(), assignments: Vec::new(), command: args };
    let mut skip = skip;
    let mut plain = false;
    while let Some((arg, rest)) = opened.command.split_first() {
        if !plain && arg.is_option() {
            opened.command = rest;
            plain = arg.text == "--";
            opened.options.push(arg);
            if takes_value(&arg.text, values, long)
                && let Some((_, rest)) = rest.split_first()
            {
                opened.command = rest;
            }
        } else if skip == 0 && is_assignment(&arg.text) {
            opened.assignments.push(arg);
            opened.command = rest;
        } else if skip > 0 {
            skip -= 1;
            opened.command = rest;
        } else {
            break;
        }
    }
    opened
}

fn takes_value(option: &str, values: &str, long: &[&str]) -> bool {
    match option.strip_prefix("--") {
        Some(name) => long.contains(&name),
        // The value is the next argument only if the letter is the last one.
        None => option
            .char_indices()
            .skip(1)
            .find(|(_, letter)| values.contains(*letter))
            .is_some_and(|(at, letter)| at + letter.len_utf8() == option.len()),
    }
}

fn is_assignment(text: &str) -> bool {
    // `env` takes any name, even one that no shell could write.
    text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::{WRAPPERS, find};

    #[test]
    fn the_table_is_sorted_so_that_it_can_be_searched() {
        assert!(WRAPPERS.is_sorted_by_key(|wrapper| wrapper.name));
        assert!(find("timeout").is_some());
        assert!(find("ls").is_none());
    }
}
