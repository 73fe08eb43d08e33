//! The text as it was given, whatever line breaks the file has.

use std::ops::Range;

use memchr::memmem;

use super::super::{
    splice::{Splice, common},
    text::{after_break, body, ending, has_crlf},
};

/// Where a text with `\n` in it stands in a file, none of the places overlapping another. Stops after `most` of them.
pub(super) fn find(file: &str, old: &str, most: usize) -> Vec<Range<usize>> {
    let from = body(file);
    let places = |wanted: &str| -> Vec<Range<usize>> {
        // The text goes on behind its byte order mark. A text is never found inside of a character.
        let found = memmem::find_iter(&file.as_bytes()[from..], wanted);
        found.take(most).map(|at| from + at..from + at + wanted.len()).collect()
    };
    let mut found = places(old);
    if !old.contains('\n') || !has_crlf(file) {
        return found;
    }
    for place in &mut found {
        // A break is taken whole.
        place.start -= usize::from(old.starts_with('\n') && file[..place.start].ends_with('\r'));
    }
    found.extend(places(&old.replace('\n', "\r\n")));
    found.sort_by_key(|place| (place.start, place.end));
    let mut free = 0;
    found.retain(|place| {
        let kept = place.start >= free;
        free = if kept { place.end } else { free };
        kept
    });
    found.truncate(most);
    found
}

/// The new text in all of these places, with the line breaks that each of them has.
pub(super) fn splices(file: &str, places: &[Range<usize>], old: &str, new: &str) -> Vec<Splice> {
    let (head, tail) = common(old, new);
    // What is common to both is common in whole characters.
    let (old_end, unix) = (old.len() - tail, &new[head..new.len() - tail]);
    let windows = unix.replace('\n', "\r\n");
    let mixed = (old.contains('\n') || unix.contains('\n')) && has_crlf(file);
    // The break of the line in which the last place lies, and where that line ends: lines may be long, and places many.
    let mut line = ("\n", if mixed { 0 } else { file.len() + 1 });
    let splice = |place: &Range<usize>| {
        let start = advance(file, place.start, &old[..head], mixed);
        if start >= line.1 {
            line = (ending(file, start), file[start..].find('\n').map_or(file.len() + 1, |at| start + at + 1));
        }
        let text = if line.0 == "\r\n" { windows.clone() } else { unix.to_owned() };
        Splice { start, end: advance(file, start, &old[head..old_end], mixed), text }
    };
    places.iter().map(splice).collect()
}

/// The position in the file after a text that stands there, maybe with other line breaks.
fn advance(file: &str, at: usize, text: &str, mixed: bool) -> usize {
    if !mixed {
        return at + text.len();
    }
    text.split_inclusive('\n').fold(at, |at, line| match line.strip_suffix('\n') {
        Some(content) => after_break(file, at + content.len()),
        None => at + line.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::super::splice::apply, *};

    fn replaced(file: &str, old: &str, new: &str) -> String {
        apply(file, &splices(file, &find(file, old, 100), old, new))
    }

    #[test]
    fn breaks_stay_those_of_the_file() {
        assert_eq!(replaced("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n");
        assert_eq!(replaced("a\r\nb\nc\n", "b\nc", "x\ny"), "a\r\nx\ny\n");
        assert_eq!(replaced("one\r\ntwo", "two", "2\n3"), "one\r\n2\r\n3");
        assert_eq!(replaced("a\nb\na\r\nb\r\n", "a\nb", "c\nd"), "c\nd\nc\r\nd\r\n");
    }

    #[test]
    fn no_break_is_cut_in_two() {
        assert_eq!(replaced("a\r\nb\r\n", "\nb", " b"), "a b\r\n");
        assert_eq!(replaced("a\r\nb\n", "\nb\n", "\nc\n"), "a\r\nc\n");
    }

    #[test]
    fn a_byte_order_mark_stays() {
        assert_eq!(replaced("\u{feff}a", "a", "b"), "\u{feff}b");
        assert!(find("\u{feff}a", "\u{feff}", 100).is_empty());
    }
}
