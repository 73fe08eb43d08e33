//! What an exit code means where it does not mean that something went wrong, or where it says more than "failed".

use super::Ended;

/// Programs and codes with a meaning of their own.
const MEANINGS: &[(&[&str], i32, &str)] = &[
    (&["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"], 1, "no match: not an error"),
    (&["diff", "cmp", "colordiff", "comm"], 1, "the files differ: not an error"),
    (&["find"], 1, "some places could not be searched; what was found is still valid"),
    (&["test", "["], 1, "the condition is false: not an error"),
    (&["expr"], 1, "the result is empty or zero: not an error"),
    (&["pgrep", "pkill"], 1, "no process matched: not an error"),
    (&["which", "type", "command"], 1, "not found"),
    (&["curl"], 6, "the host's name could not be resolved"),
    (&["curl"], 7, "no connection to the host"),
    (&["curl"], 22, "the server answered with an error status"),
    (&["curl"], 28, "the request timed out"),
    (&["git"], 1, "differences or nothing to do, depending on the subcommand; often not an error"),
];

/// Words that run the command after them.
const WRAPPERS: [&str; 8] = ["sudo", "env", "command", "time", "nice", "nohup", "exec", "!"];

/// What a command's end means, where that is worth saying.
pub(crate) fn of(command: &str, ended: Ended) -> Option<String> {
    match ended {
        Ended::Timeout => Some("ended at its deadline, with everything it had started".into()),
        Ended::Lost => Some("its supervisor was killed: how it ended is not known".into()),
        Ended::Signal(number) => Some(format!("ended by signal {number}{}", name(number))),
        Ended::Exit(126) => Some("the program was found and could not be run".into()),
        Ended::Exit(127) => Some("no such program".into()),
        Ended::Exit(code) => {
            let program = decisive(command)?;
            let known = MEANINGS.iter().find(|(programs, known, _)| *known == code && programs.contains(&program));
            match known {
                Some((_, _, meaning)) => Some((*meaning).to_owned()),
                // A shell tells by such a code that its last command was ended by a signal.
                None if (129..=128 + 31).contains(&code) => {
                    Some(format!("ended by signal {}{}", code - 128, name(code - 128)))
                }
                None => None,
            }
        }
    }
}

fn name(signal: i32) -> String {
    let name = match signal {
        1 => "hang-up",
        2 => "interrupt",
        3 => "quit",
        4 => "illegal instruction",
        6 => "abort",
        8 => "arithmetic error",
        9 => "kill; the system may have run out of memory",
        11 => "segmentation fault",
        13 => "broken pipe",
        15 => "terminate",
        _ => return String::new(),
    };
    format!(" ({name})")
}

/// The program whose exit code is the whole command's: the first word of the last command in the last pipeline.
fn decisive(command: &str) -> Option<&str> {
    let mut words = words(last_command(command)).skip_while(|word| is_assignment(word) || WRAPPERS.contains(word));
    Some(words.next()?.rsplit('/').next().unwrap_or_default())
}

fn words(command: &str) -> impl Iterator<Item = &str> {
    command.split_whitespace()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// What stands after the last operator that is neither quoted nor in brackets.
fn last_command(command: &str) -> &str {
    let command = command.trim_end().trim_end_matches([';', '\n']);
    let (mut start, mut quote, mut depth) = (0, None, 0usize);
    let mut bytes = command.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (None | Some(b'"'), b'\\') => {
                bytes.next();
            }
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'(' | b'{') => depth += 1,
            (None, b')' | b'}') => depth = depth.saturating_sub(1),
            (None, b'|' | b';' | b'&' | b'\n') if depth == 0 && !is_redirection(command, at) => start = at + 1,
            _ => {}
        }
    }
    command.get(start..).unwrap_or_default()
}

/// `2>&1` and `&>file` hold no operator.
fn is_redirection(command: &str, at: usize) -> bool {
    let bytes = command.as_bytes();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    bytes.get(at) == Some(&b'&') && (matches!(before, Some(b'>' | b'<')) || bytes.get(at + 1) == Some(&b'>'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_command_decides() {
        for (command, program) in [
            ("grep a b", "grep"),
            ("cat a | /usr/bin/grep b", "grep"),
            ("cd x && LANG=C sudo grep b; ", "grep"),
            ("grep 'a;b' c 2>&1", "grep"),
            ("grep a b &> c", "grep"),
            ("grep \"a|b\" c", "grep"),
            ("grep a$(echo x; echo y) c", "grep"),
            ("grep a b\\;c", "grep"),
            ("grep a b | head", "head"),
            ("a\ngrep b", "grep"),
        ] {
            assert_eq!(decisive(command), Some(program), "{command}");
        }
    }

    #[test]
    fn codes_that_are_no_errors_are_called_so() {
        let note = |command, code| of(command, Ended::Exit(code)).unwrap_or_default();
        assert!(note("grep a b", 1).contains("no match"));
        assert!(note("diff a b", 1).contains("differ"));
        assert!(note("[ -f x ]", 1).contains("false"));
        assert!(note("curl x", 22).contains("status"));
        assert!(note("./a", 139).contains("segmentation"));
        assert!(note("nothing", 127).contains("no such program"));
        assert_eq!(of("grep a b", Ended::Exit(2)), None);
        assert_eq!(of("cargo build", Ended::Exit(1)), None);
        assert_eq!(of("true", Ended::Exit(0)), None);
    }

    proptest! {
        #[test]
        fn any_text_can_be_asked_about(command in "\\PC{0,60}", code in 0..256i32) {
            let _ = of(&command, Ended::Exit(code));
        }
    }
}
