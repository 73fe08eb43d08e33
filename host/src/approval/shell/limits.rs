//! How much text the judgement looks at. What is beyond is not judged but left to a person.

/// The longest command that is parsed. Agents write files with here-documents, so some are long; 128 KiB parse in about a
/// millisecond. Without it a megabyte of openers would be read to its end before it is refused.
pub const COMMAND_BYTES: usize = 128 * 1024;

/// How deep syntax may nest: groups, substitutions, quotes in substitutions. Scripts written by people stay below 10. The
/// parser and the walk recurse once per level, so this is what keeps a nesting bomb off the stack.
pub const NESTING: usize = 40;

/// How many simple commands and redirections one judgement looks at, loops and calls of functions counted each time. Bounds the time
/// of nested loops, of functions that call each other, and of long rows of redirections.
pub const COMMANDS: usize = 2_000;

/// How deep text that is itself shell text may nest: `sh -c "sh -c …"`, `eval`, aliases, functions that call functions.
pub const UNWRAPPING: usize = 24;

/// How many arguments of a program are searched for commands that it may run. Each place where one may start is judged with all
/// that follows it, so a longer list would take the square of its length.
pub const SEARCHED_ARGUMENTS: usize = 200;

/// How many words a brace expression may become before it counts as unknown. `{1..9}{1..9}{1..9}` doubles fast.
pub const BRACES: usize = 64;

/// How many values of a loop are followed one by one. A longer list makes the variable unknown.
pub const LOOP_VALUES: usize = 8;

/// The longest value that a variable may hold before it counts as unknown: `x=$x$x` doubles at every step.
pub const VALUE_BYTES: usize = 16 * 1024;

/// How many places that are not understood one judgement lists. One is enough to ask; a person reads no more than this.
pub const DOUBTS: usize = 32;

/// How many effects one judgement lists. Bounds the comparison of each with all others.
pub const EFFECTS: usize = 200;
