//! The programs that the judge understands, as data.
//!
//! A program stands here if everything that it can do with the options listed is known: what it reads, writes, deletes and runs.
//! A program that runs code of the project (`make`, `cargo test`, `npm test`, `python3 script.py`) can't stand here.

/// What a program does with an operand or with an option's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Nothing: it is text.
    Text,
    Read,
    Write,
    Delete,
}

/// What a program does with its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// It takes none.
    None,
    /// Each is used alike.
    Each(Use),
    /// The first is a pattern, unless an option gave it; the others are read.
    Pattern,
    /// The first is read, the second written.
    InOut,
    /// All but the last are read, the last is written.
    Copy,
    /// All but the last are deleted, the last is written.
    Move,
    /// Each starts with `+`: the format of `date`.
    Format,
}

/// A program whose options matter.
pub(super) struct Model {
    pub(super) name: &'static str,
    pub(super) operands: Operands,
    /// The options: `-x` and `--long` stand alone; `:t`, `:r`, `:w` take a text, a file that is read, a file that is written;
    /// `=t` takes a text only if it is attached; `-#` is a number.
    pub(super) options: &'static str,
}

const fn model(name: &'static str, operands: Operands, options: &'static str) -> Model {
    Model { name, operands, options }
}

const GREP: &str = "-i -v -n -l -L -c -o -h -H -w -x -E -F -P -G -q -s -z -Z -a -b -I -r -R -T -y -e:t -f:r -m:t -A:t -B:t -C:t -# \
    --include:t --exclude:t --exclude-dir:t --exclude-from:r --color=t --colour=t --ignore-case --invert-match --recursive \
    --line-number --files-with-matches --files-without-match --count --only-matching --no-filename --with-filename \
    --word-regexp --line-regexp --extended-regexp --fixed-strings --perl-regexp --quiet --no-messages --null --text --regexp:t \
    --file:r --max-count:t --context:t --after-context:t --before-context:t --binary-files:t";

/// Programs that write, delete, or have an option that does or that runs a program. Sorted by name.
pub(super) const MODELS: [Model; 19] = [
    model(
        "cp",
        Operands::Copy,
        "-p -v -f -i -n -u -T --verbose --force --interactive --no-clobber --update=t --preserve=t --no-target-directory",
    ),
    model(
        "date",
        Operands::Format,
        "-u -R -I=t -d:t -r:r --utc --universal --iso-8601=t --date:t --rfc-3339:t --rfc-email --reference:r",
    ),
    model("egrep", Operands::Pattern, GREP),
    model("fgrep", Operands::Pattern, GREP),
    model("file", Operands::Each(Use::Read), "-b -i -L -h -k --brief --mime --mime-type --mime-encoding --dereference"),
    model("grep", Operands::Pattern, GREP),
    model("hostname", Operands::None, "-f -s -i -I -d --fqdn --short"),
    model("mkdir", Operands::Each(Use::Write), "-p -v --parents --verbose"),
    model("mv", Operands::Move, "-f -i -n -v -u -T --force --no-clobber --verbose --no-target-directory"),
    model(
        "rg",
        Operands::Pattern,
        "-i -v -n -l -c -o -w -x -F -S -s -u -a -U -N -H -I -q -P -0 -p -g:t -t:t -T:t -e:t -f:r -m:t -A:t -B:t -C:t -d:t -r:t -j:t \
         -M:t -E:t --files --hidden --no-ignore --no-ignore-vcs --ignore-case --case-sensitive --smart-case --files-with-matches \
         --files-without-match --count --count-matches --glob:t --iglob:t --type:t --type-not:t --max-depth:t --max-count:t \
         --context:t --after-context:t --before-context:t --fixed-strings --word-regexp --line-regexp --multiline --json --stats \
         --sort:t --color:t --no-heading --heading --line-number --no-line-number --vimgrep --only-matching --pretty --trim \
         --replace:t --invert-match --no-filename --with-filename --type-list --null --text --pcre2 --regexp:t --max-columns:t",
    ),
    model("rm", Operands::Each(Use::Delete), "-f -v -i -I --force --verbose --interactive=t"),
    model("rmdir", Operands::Each(Use::Delete), "-v --verbose --ignore-fail-on-non-empty"),
    model(
        "shuf",
        Operands::Each(Use::Read),
        "-e -n:t -i:t -r -z -o:w --echo --head-count:t --input-range:t --output:w --repeat",
    ),
    model(
        "sort",
        Operands::Each(Use::Read),
        "-n -r -u -f -b -d -g -h -i -M -R -V -c -C -m -s -z -k:t -t:t -S:t -o:w -T:w --parallel:t --numeric-sort --reverse --unique \
         --key:t --field-separator:t --output:w --version-sort --human-numeric-sort --ignore-case --stable --check=t \
         --general-numeric-sort --zero-terminated --random-sort --merge --buffer-size:t --month-sort",
    ),
    model("tee", Operands::Each(Use::Write), "-a -i -p --append --ignore-interrupts"),
    model(
        "touch",
        Operands::Each(Use::Write),
        "-a -c -m -h -d:t -t:t -r:r --no-create --date:t --reference:r --time:t --no-dereference",
    ),
    model(
        "tree",
        Operands::Each(Use::Read),
        "-a -d -f -i -s -h -C -n -p -u -g -D -F -L:t -I:t -P:t --dirsfirst --noreport --gitignore --prune --du",
    ),
    model("uniq", Operands::InOut, "-c -d -u -i -z -f:t -s:t -w:t --count --repeated --unique --ignore-case"),
    model("xxd", Operands::InOut, "-l:t -s:t -c:t -g:t -p -b -u -e -i"),
];

/// Programs and builtins that only read, whatever their options say. Sorted. The host's own files may be given to these alone.
#[rustfmt::skip]
const READ_ONLY: [&str; 80] = [
    ":", "[", "arch", "b2sum", "base32", "base64", "basename", "break", "cal", "cat", "cksum", "clear", "cmp", "column",
    "comm", "continue", "cut", "df", "diff", "dirname", "du", "echo", "exit", "expand", "expr", "factor", "false", "fmt", "fold",
    "free", "getconf", "groups", "head", "hexdump", "id", "jobs", "join", "jq", "ls", "lscpu", "md5sum", "nl", "nproc", "numfmt",
    "od", "paste", "pgrep", "printenv", "ps", "pwd", "readlink", "realpath", "return", "rev", "seq", "sha1sum", "sha224sum",
    "sha256sum", "sha384sum", "sha512sum", "shift", "sleep", "stat", "strings", "sum", "tac", "tail", "test", "tput", "tr", "true",
    "tsort", "tty", "type", "uname", "unexpand", "uptime", "wc", "which", "whoami",
];

/// Whether a program only reads.
pub(crate) fn only_reads(name: &str) -> bool {
    READ_ONLY.binary_search(&name).is_ok()
}

/// The model of a program.
pub(super) fn find(name: &str) -> Option<&'static Model> {
    MODELS.binary_search_by(|model| model.name.cmp(name)).ok().and_then(|at| MODELS.get(at))
}

impl Model {
    /// How an option is used: `None` if it is not listed, otherwise its value and whether the value must be attached.
    pub(super) fn option(&self, option: &str) -> Option<(Option<Use>, bool)> {
        self.options.split_ascii_whitespace().find_map(|listed| {
            let (name, value) = listed.split_at(listed.find([':', '=']).unwrap_or(listed.len()));
            if name != option {
                return None;
            }
            let used = match value.as_bytes().get(1) {
                Some(b'r') => Some(Use::Read),
                Some(b'w') => Some(Use::Write),
                Some(_) => Some(Use::Text),
                None => None,
            };
            Some((used, value.starts_with('=')))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{MODELS, READ_ONLY};

    #[test]
    fn the_tables_are_sorted_and_no_program_is_in_both() {
        assert!(MODELS.is_sorted_by_key(|model| model.name) && READ_ONLY.is_sorted());
        assert!(MODELS.iter().all(|model| !READ_ONLY.contains(&model.name)));
    }
}
