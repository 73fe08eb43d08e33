//! The regular expression, and the lines that match it.

use std::{io, ops::Range};

use grep_matcher::LineTerminator;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use super::{halt::Halt, records::Problem, skipped::Skip};
use crate::pattern_cost::{STEPS, places};

/// Bytes of a pattern. Longer ones are lists of words, for which a file would be searched more than once.
const PATTERN_BYTES: usize = 10_000;

/// Bytes of a compiled pattern: room for fifty `\w` in a row.
const COMPILED_BYTES: usize = 4 << 20;

/// Bytes that matching may use beside the pattern, for each thread.
const CACHE_BYTES: usize = 8 << 20;

/// Text that is searched before the clock is looked at again. Looking more often is felt.
const PIECE_BYTES: usize = 64 << 10;

/// A pattern with what it takes to search, one for each thread.
#[derive(Clone)]
pub(super) struct Pattern {
    matcher: RegexMatcher,
    searcher: Searcher,
    /// Bytes of the longest line that is searched: no line is left half-way.
    longest: usize,
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Self, Problem> {
        let invalid = |why: String| Problem::Invalid(format!("the pattern can't be used: {why}"));
        if pattern.len() > PATTERN_BYTES {
            return Err(invalid(format!("it has {} bytes; {PATTERN_BYTES} is the limit", pattern.len())));
        }
        let places = places(pattern).map_err(|why| invalid(explain(&why)))?;
        // With CRLF as line break a `$` is before it. Only who searches for `\r` itself does not want that.
        let compiled = compile(pattern, true).or_else(|why| match why.kind() {
            ErrorKind::NotAllowed(_) => compile(pattern, false),
            _ => Err(why),
        });
        let (matcher, terminator) = compiled.map_err(|why| match why.kind() {
            ErrorKind::NotAllowed(_) => {
                invalid("it has a line break, and lines are searched one by one; search for what is in one line".into())
            }
            _ => invalid(explain(&why.to_string())),
        })?;
        Ok(Self { matcher, searcher: searcher(terminator), longest: (STEPS / places) as usize })
    }

    /// Gives the place of every line that matches, with its line break, in order, until `line` returns false.
    pub(super) fn lines(
        &mut self,
        text: &[u8],
        halt: &Halt<'_>,
        line: &mut impl FnMut(Range<usize>) -> bool,
    ) -> Result<(), Skip> {
        let mut start = 0;
        while start < text.len() {
            let piece = piece(text.get(start..).unwrap_or_default(), self.longest)?;
            let mut lines = Lines { start, line: &mut *line, more: true };
            self.searcher.search_slice(&self.matcher, piece, &mut lines).map_err(|_| Skip::Unreadable)?;
            if !lines.more {
                return Ok(());
            }
            start += piece.len();
            if start < text.len() && halt.over() {
                return Err(Skip::Gone);
            }
        }
        Ok(())
    }
}

fn compile(pattern: &str, crlf: bool) -> Result<(RegexMatcher, LineTerminator), grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).size_limit(COMPILED_BYTES).dfa_size_limit(CACHE_BYTES);
    let terminator = if crlf { LineTerminator::crlf() } else { LineTerminator::byte(b'\n') };
    builder.crlf(crlf);
    if !crlf {
        builder.line_terminator(Some(b'\n'));
    }
    Ok((builder.build(pattern)?, terminator))
}

/// Marks and zeros were dealt with before.
fn searcher(terminator: LineTerminator) -> Searcher {
    SearcherBuilder::new()
        .line_terminator(terminator)
        .line_number(false)
        .bom_sniffing(false)
        .binary_detection(BinaryDetection::none())
        .build()
}

/// What the parser says comes with a drawing of the pattern; its last line is the reason.
fn explain(why: &str) -> String {
    let reason = why.lines().last().unwrap_or(why);
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    format!(
        "{reason}; it is a regular expression in the syntax of Rust's regex, with \\ before a character that is meant itself"
    )
}

/// The lines to search before the clock is looked at again: one at least.
fn piece(text: &[u8], longest: usize) -> Result<&[u8], Skip> {
    let most = longest.min(PIECE_BYTES);
    let Some(head) = text.get(..most) else { return Ok(text) };
    let end = memchr::memrchr(b'\n', head).or_else(|| memchr::memchr(b'\n', text)).map_or(text.len(), |end| end + 1);
    text.get(..end).filter(|piece| piece.len() <= longest).ok_or(Skip::LongLines)
}

struct Lines<'a, F> {
    start: usize,
    line: &'a mut F,
    more: bool,
}

impl<F: FnMut(Range<usize>) -> bool> Sink for Lines<'_, F> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let start = self.start + found.absolute_byte_offset() as usize;
        self.more = (self.line)(start..start + found.bytes().len());
        Ok(self.more)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::AtomicBool,
        time::{Duration, Instant},
    };

    use proptest::prelude::*;

    use super::{super::records::Stop, *};

    fn matching(pattern: &str, text: &[u8]) -> Result<Vec<Vec<u8>>, Skip> {
        let given_up = AtomicBool::new(false);
        let halt = Halt::new(Stop { given_up: &given_up, deadline: Instant::now() + Duration::from_secs(100) });
        let mut lines = Vec::new();
        let mut pattern = Pattern::new(pattern).unwrap();
        pattern.lines(text, &halt, &mut |line| {
            lines.push(text[line].to_vec());
            true
        })?;
        Ok(lines)
    }

    fn texts(pattern: &str, text: &str) -> Vec<String> {
        matching(pattern, text.as_bytes()).unwrap().into_iter().map(|line| String::from_utf8(line).unwrap()).collect()
    }

    #[test]
    fn lines_are_searched_one_by_one() {
        assert_eq!(texts("a", "a a\nb\nba"), ["a a\n", "ba"]);
        assert_eq!(texts("^b", "ab\nba\n"), ["ba\n"]);
        assert_eq!(texts(r"\Ab", "ab\nba\nb"), ["ba\n", "b"]);
        assert_eq!(texts("", "a\n\nb"), ["a\n", "\n", "b"]);
        assert_eq!(texts("^$", "a\n\nb\n"), ["\n"]);
        assert_eq!(texts(r"a\s*b", "a\nb\na b\n"), ["a b\n"]);
        assert_eq!(texts("[^x]+y", "a\ny\nay"), ["ay"]);
        assert_eq!(texts("Ä", "ä\nÄ\n"), ["Ä\n"]);
        assert_eq!(texts("(?i)ä", "ä\nÄ\n"), ["ä\n", "Ä\n"]);
    }

    #[test]
    fn the_end_of_a_line_is_before_its_line_break_whichever_it_is() {
        assert_eq!(texts("a$", "a\r\na\nab\r\na"), ["a\r\n", "a\n", "a"]);
        assert_eq!(texts(r"\r$", "a\r\na\n"), ["a\r\n"]);
        assert_eq!(texts(".b", "a\rb\n"), Vec::<String>::new());
    }

    #[test]
    fn bytes_that_are_no_utf_8_don_t_hinder() {
        assert_eq!(matching("caf", b"caf\xe9\n\xff\n"), Ok(vec![b"caf\xe9\n".to_vec()]));
    }

    #[test]
    fn pieces_don_t_show() {
        let line = "x".repeat(1_000) + "needle\n";
        let text = line.repeat(3 * PIECE_BYTES / line.len()) + &"y".repeat(2 * PIECE_BYTES) + "\nneedle";
        assert_eq!(texts("needle$", &text).len(), text.matches("needle").count());
        assert_eq!(texts("^y+$", &text).len(), 1);
    }

    #[test]
    fn lines_are_searched_unless_they_are_too_long_for_the_pattern() {
        let text = "y".repeat(200_001);
        let count = |pattern, text: &str| matching(pattern, text.as_bytes()).map(|lines| lines.len());
        assert_eq!(count("y+", &text), Ok(1));
        assert_eq!(count("y{1000}", &text), Err(Skip::LongLines));
        assert_eq!(count("y{500}", &text), Err(Skip::LongLines));
        assert_eq!(count("y{500}", &text[1..]), Ok(1));
        assert_eq!(count("y{500}", &format!("{}\n", &text[2..]).repeat(3)), Ok(3));
        assert_eq!(count("y{50000}", &"y\n".repeat(5_000)), Ok(0));
    }

    #[test]
    fn a_search_ends_between_two_pieces() {
        let given_up = AtomicBool::new(true);
        let halt = Halt::new(Stop { given_up: &given_up, deadline: Instant::now() });
        let text = "line\n".repeat(PIECE_BYTES);
        let mut count = 0;
        let ended = Pattern::new("line").unwrap().lines(text.as_bytes(), &halt, &mut |_| {
            count += 1;
            true
        });
        assert_eq!((ended, count), (Err(Skip::Gone), PIECE_BYTES / 5));
    }

    #[test]
    fn a_bad_pattern_is_explained_in_one_line() {
        for (pattern, why) in [
            ("a(b", "unclosed group"),
            ("a)|(b", "unopened group"),
            ("*", "repetition operator missing expression"),
            ("(?=a)", "look-around, including look-ahead and look-behind, is not supported"),
            (r"a\nb", "line break"),
            ("a\nb", "line break"),
            (r"(a)\1", "backreferences are not supported"),
            (r"\w{1000}", "size limit"),
            (r"((a{100}){100}){100}", "size limit"),
            (&"x".repeat(PATTERN_BYTES + 1), "is the limit"),
        ] {
            let Err(Problem::Invalid(text)) = Pattern::new(pattern) else { panic!("{pattern} was accepted") };
            assert!(text.contains(why) && !text.contains('\n'), "{pattern}: {text}");
        }
        assert!(Pattern::new(r"\w{50}").is_ok());
    }

    proptest! {
        #[test]
        fn matching_lines_are_those_that_match_alone(text in "[abc\\n]{0,60}", pattern in "[abc.*+?^$|()]{0,6}") {
            let (Ok(regex), Ok(_)) = (grep_regex::RegexMatcher::new(&pattern), Pattern::new(&pattern)) else { return Ok(()) };
            let alone = |line: &&str| grep_matcher::Matcher::is_match(&regex, line.trim_end_matches('\n').as_bytes()).unwrap();
            let expected: Vec<&str> = text.split_inclusive('\n').filter(alone).collect();
            prop_assert_eq!(texts(&pattern, &text), expected);
        }
    }
}
