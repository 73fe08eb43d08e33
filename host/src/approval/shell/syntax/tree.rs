//! The tree of a command line: what the judgement needs of it and no more.

/// A parsed text.
#[derive(Debug, Default, Clone)]
pub(crate) struct Program {
    /// Its commands.
    pub(crate) list: List,
    /// The bodies of its here-documents. [`Target::Document`] points here.
    pub(crate) documents: Vec<Word>,
}

/// Commands one after the other.
#[derive(Debug, Default, Clone)]
pub(crate) struct List(pub(crate) Vec<Chain>);

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) pipelines: Vec<Pipeline>,
    /// For each pipeline, whether it runs only if everything before it in the chain succeeded.
    pub(crate) after_success: Vec<bool>,
    pub(crate) background: bool,
}

/// Commands joined by `|`.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline(pub(crate) Vec<Stage>);

/// A command with its redirections.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) command: Command,
    pub(crate) redirects: Vec<Redirect>,
}

/// A command of any kind.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    /// Words and assignments.
    Simple { assignments: Vec<Assignment>, words: Vec<Word> },
    /// `{ … }`.
    Group(List),
    /// `( … )`.
    Subshell(List),
    /// `if`, `while`, `until`, `case`: lists of which any may run, and the words they look at.
    Branches { lists: Vec<List>, words: Vec<Word>, repeats: bool },
    /// `for ((…))`.
    Counted { arithmetic: Word, body: List },
    /// `for` and `select`. Without values it runs over the positional parameters.
    For { name: String, values: Option<Vec<Word>>, body: List },
    /// `name() …`.
    Function { name: String, body: Box<Stage> },
    /// `[[ … ]]`: words that are expanded but not run.
    Test(Vec<Word>),
    /// `(( … ))`.
    Arithmetic(Word),
}

/// `name=value` before a command.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) append: bool,
    /// One element of an array: `name[i]=value`, with `[i]` as it is written.
    pub(crate) index: Option<String>,
    pub(crate) value: Word,
}

/// Where a redirection leads.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// `< word`.
    Read(Word),
    /// `> word` and its kin.
    Write(Word),
    /// `>& word`: a file, unless it is a descriptor's number.
    Duplicate(Word),
    /// `<<< word`.
    Text(Word),
    /// `<< tag`: the document's number.
    Document(usize),
}

/// One redirection.
#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    /// The descriptor's number, if one is written.
    pub(crate) descriptor: Option<u32>,
    pub(crate) target: Target,
}

/// A word before expansion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word(pub(crate) Vec<Part>);

/// A part of a word.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Text outside quotes: patterns, braces and `~` mean something in it.
    Bare(String),
    /// Text that stands for itself.
    Quoted(String),
    /// `$name`, `${…}`.
    Parameter { parameter: Parameter, quoted: bool },
    /// `$(…)` and backticks.
    Substitution { program: Box<Program>, quoted: bool },
    /// `<(…)` and `>(…)`.
    Process { program: Box<Program>, reads: bool },
    /// `$((…))`: what is expanded inside, and then evaluated.
    Arithmetic(Word),
    /// `name=(…)`.
    Array(Vec<Word>),
}

/// A parameter and what is done to its value.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) change: Change,
    /// Whether it is written `${…}`, so that no text beside it can become part of its name.
    pub(crate) braced: bool,
}

/// What an expansion does to a parameter's value.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// The value itself.
    None,
    /// `${x:-word}` and `${x:=word}`.
    Default { word: Word, assign: bool },
    /// `${x:+word}`.
    Alternative(Word),
    /// `${x#pattern}`, `${x%pattern}`: from the start or the end.
    Trim { pattern: Word, start: bool },
    /// `${x/a/b}`.
    Replace { pattern: Word, with: Word, all: bool },
    /// `${x:1:2}`.
    Slice(Word),
    /// `${x[i]}`, with all that follows the name.
    Index(Word),
    /// `${!x}`: the value is the name of another variable, with an index that is evaluated.
    Indirect(Word),
    /// `${x@P}`, with all that follows the name.
    Transform(Word),
    /// Anything else: `${#x}`, `${x^^}`. Words inside are still expanded.
    Other(Word),
}
