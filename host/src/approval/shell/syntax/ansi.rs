//! `$'…'`: text with escapes.

use super::cursor::{Fault, Parser};

impl Parser<'_> {
    /// Reads the text after `$'` up to and with the closing quote.
    pub(super) fn ansi(&mut self) -> Result<String, Fault> {
        let mut bytes = Vec::new();
        loop {
            match self.take_char() {
                None => return Err(self.fault("unterminated `$'`")),
                Some('\'') => break,
                Some('\\') => self.escape(&mut bytes)?,
                Some(other) => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        // The shell ends such a text at its first NUL.
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        String::from_utf8(bytes).map_err(|_| self.fault("`$'…'` that is not UTF-8"))
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        let Some(letter) = self.take_char() else { return Err(self.fault("unterminated `$'`")) };
        let simple = match letter {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '?' => letter as u8,
            'x' => {
                let Some(value) = self.digits(16, 2) else { return Err(self.fault("`\\x` without digits")) };
                (value & 0xff) as u8
            }
            '0'..='7' => {
                self.at -= 1;
                (self.digits(8, 3).unwrap_or(0) & 0xff) as u8
            }
            'u' | 'U' => {
                let longest = if letter == 'u' { 4 } else { 8 };
                let found = self.digits(16, longest).and_then(char::from_u32);
                let Some(found) = found else { return Err(self.fault("not a character")) };
                bytes.extend_from_slice(found.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            'c' => match self.take_char() {
                Some(letter) if letter.is_ascii() => letter as u8 & 0x1f,
                _ => return Err(self.fault("`\\c` without a letter")),
            },
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
        };
        bytes.push(simple);
        Ok(())
    }

    fn digits(&mut self, radix: u32, longest: usize) -> Option<u32> {
        let mut value = None::<u32>;
        for _ in 0..longest {
            let Some(digit) = self.peek().and_then(|byte| (byte as char).to_digit(radix)) else { break };
            value = Some(value.unwrap_or(0).wrapping_mul(radix).wrapping_add(digit));
            self.at += 1;
        }
        value
    }
}
