//! What holds for every text, and what a hostile one costs.

use std::time::{Duration, Instant};

use proptest::{collection::vec, prelude::*, sample::select};

use super::{
    super::{has_mask, mark::LABEL, mask, mask_range},
    samples::{LABELS, PIECES, TOKENS, masked, private_key, random, tail},
};

fn texts() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

/// Whole lines of secrets among others, so that most cases have something to mask.
fn documents() -> impl Strategy<Value = String> {
    let token =
        select(TOKENS).prop_map(|(kept, alphabet, length)| format!("{kept}{}{}", random(alphabet, length), tail(kept)));
    let key = (select(&LABELS), 2..6usize, select(&["", "  ", "# "]))
        .prop_map(|(label, lines, before)| private_key(label, lines, before, "\n"));
    vec(prop_oneof![texts(), token, key, Just("\n".into())], 0..8).prop_map(|parts: Vec<String>| parts.concat())
}

/// A part of the masked whole, with the halves of a mark's characters at its edges as stars.
fn part_of(text: &[u8], masked: &[u8], start: usize, end: usize) -> Vec<u8> {
    let mut part = masked[start..end].to_vec();
    let is_split = |at: usize| {
        let wide = at.checked_sub(1).and_then(|from| masked.get(from..=at)).unwrap_or_default();
        (wide == &LABEL[..2] || wide == &LABEL[10..]) && text[at - 1..=at] != *wide
    };
    if let Some(first) = part.first_mut().filter(|_| is_split(start)) {
        *first = b'*';
    }
    if let Some(last) = part.last_mut().filter(|_| is_split(end)) {
        *last = b'*';
    }
    part
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn masking_keeps_length_lines_and_utf8_and_finds_all_at_once(text in documents()) {
        let (once, count) = masked(&text);
        prop_assert_eq!(once.len(), text.len());
        for (before, after) in text.bytes().zip(once.bytes()) {
            prop_assert!(before == after || !matches!(before, b'\n' | b'\r') && !matches!(after, b'\n' | b'\r'));
        }
        prop_assert_eq!(once == text, count == 0);
        prop_assert_eq!(masked(&once), (once.clone(), 0));
    }

    #[test]
    fn a_range_is_a_part_of_the_masked_whole(text in documents(), from in 0.0..1.0f64, to in 0.0..1.0f64) {
        let [from, to] = [from, to].map(|at| (at * (text.len() + 1) as f64) as usize);
        let (start, end) = (from.min(to), from.max(to));
        let (whole, count) = masked(&text);
        let (part, part_count) = mask_range(text.as_bytes(), start..end);
        let expected = part_of(text.as_bytes(), whole.as_bytes(), start, end);
        prop_assert_eq!(part.escape_ascii().to_string(), expected.escape_ascii().to_string());
        prop_assert!(part_count <= count);
        prop_assert!(part_count > 0 || part == text.as_bytes()[start..end]);
        prop_assert!(std::str::from_utf8(&part).is_ok() || text.get(start..end).is_none());
        prop_assert_eq!(mask_range(text.as_bytes(), 0..text.len()), (whole.into_bytes(), count));
    }

    #[test]
    fn bytes_of_any_kind_are_taken(mut bytes in vec(any::<u8>(), 0..300), piece in select(PIECES), at in 0..300usize) {
        let at = at.min(bytes.len());
        bytes.splice(at..at, piece.bytes());
        let mut once = bytes.clone();
        let count = mask(&mut once);
        prop_assert_eq!(once == bytes, count == 0);
        prop_assert_eq!(mask_range(&bytes, 0..bytes.len()), (once.clone(), count));
        prop_assert_eq!(mask(&mut once), 0);
    }

    #[test]
    fn whoever_masks_leaves_a_mark(text in documents()) {
        let (once, count) = masked(&text);
        prop_assert!(count == 0 || has_mask(once.as_bytes()), "{once}");
    }
}

/// The fastest of some runs over 128 KiB of one piece: what the machine does besides makes a run only slower.
fn fastest(piece: &str) -> Duration {
    let text: Vec<u8> = piece.bytes().cycle().take(128 << 10).collect();
    let run = |_| {
        let mut bytes = text.clone();
        let start = Instant::now();
        mask(&mut bytes);
        mask_range(&text, text.len() / 2..text.len() / 2 + 100);
        has_mask(&text);
        start.elapsed()
    };
    (0..5).map(run).min().unwrap()
}

#[test]
fn hostile_text_costs_no_more_than_its_length() {
    // A candidate every three bytes. What looks far ahead at each of its own takes a hundred times as long, and more.
    let limit = fastest("sk-") * 40;
    for piece in PIECES.iter().copied().chain([
        "://a:a:a:",
        "x://a:bcd@",
        "x://a@a@a@",
        "authorization=bearer ",
        "authorization=authorization=",
        "x-api-key:x-api-key=a1b2c3d4",
        "password=",
        "PASSWORD=a1!",
        "password='a1!b",
        "password=\"a1!\"",
        "<password>a1!b",
        "\npassword:a1!b2c3",
        "\npassword:a1!b2c3 x",
        "api_key=a1b2c3d4e5f6g7h8 ",
        "glc_aaaaaaaaaaaaaaaaaaaaaaaa/",
        concat!("glc", "_aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3/"),
        "glpat-xxxxxxxxxxxxxxxxxxxx-",
        "eyJaaaaaaaaaaaaaaaaaaaaaaaaaa.eyJa.",
        "MTA5NzY1NDMyMTA5ODc2NTQz.GaBcDe.",
        "-----BEGIN PRIVATE KEY-----Comment:",
        "-----BEGIN PRIVATE KEY-----\\n\\n",
        "-----BEGIN PRIVATE KEY-----\nComment: a\n",
        "-----BEGIN PRIVATE KEY-----\nA\n",
        "-----BEGIN PRIVATE KEY----- A ",
        "a\n",
    ]) {
        // A busy machine makes some of the runs slow, what the text costs makes all of them slow.
        assert!((0..20).any(|_| fastest(piece) < limit), "{piece:?} takes more than {limit:?}");
    }
}
