//! Whether a file pattern could mean a name.

/// Whether `pattern` matches all of `name`. Brackets match any one character, which leans to asking.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(b'?') => {
                p += 1;
                n += 1;
            }
            Some(b'[') if close(pattern, p).is_some() => {
                p = close(pattern, p).unwrap_or(p) + 1;
                n += 1;
            }
            Some(byte) if name.get(n) == Some(byte) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

fn close(pattern: &[u8], open: usize) -> Option<usize> {
    // A bracket right after the opening one, or after its negation, is one of the characters.
    let first = open + 1 + usize::from(matches!(pattern.get(open + 1), Some(b'!' | b'^')));
    (first + 1..pattern.len()).find(|at| pattern.get(*at) == Some(&b']'))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_matches_what_the_shell_would_find() {
        for (pattern, name, expected) in [
            ("etc", "etc", true),
            ("e?c", "etc", true),
            ("e*", "etc", true),
            ("*", "", true),
            ("[e]tc", "etc", true),
            ("[!a]tc", "etc", true),
            ("e*d", "etc", false),
            ("*s*h*", ".ssh", true),
            ("etc", "etcd", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
