//! Characters that make a text read differently from what it does.

/// The first such character, for a person; `None` if there is none.
pub(super) fn find(text: &str) -> Option<String> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return None;
    }
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(found) = chars.next() {
        let hides = match found {
            '\n' | '\t' => false,
            '\r' => chars.peek() != Some(&'\n'),
            // Joiners make emoji and some scripts; elsewhere they only hide.
            '\u{200c}' | '\u{200d}' => before.is_ascii(),
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                true
            }
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{3164}' | '\u{ffa0}' | '\u{115f}' | '\u{1160}' => true,
            '\u{2800}' | '\u{e0000}'..='\u{e007f}' => true,
            found => found.is_control(),
        };
        if hides {
            return Some(format!("the character U+{:04X} hides what the text does", found as u32));
        }
        before = found;
    }
    None
}
