//! Takes sentences out of a text so that what is left still reads well.

use std::{collections::BTreeMap, ops::Range};

use super::block::{Block, Shape, blocks};

/// The text without the sentences that have a mention in them, trimmed.
pub(super) fn without(text: &str, mentions: &[Range<usize>]) -> String {
    let mut blocks = blocks(text);
    for mention in mentions {
        let at = blocks.partition_point(|block| block.range.end <= mention.start);
        if let Some(block) = blocks.get_mut(at) {
            block.drop_at(text, mention.start);
        }
    }
    drop_owned(text, &mut blocks);
    drop_orphans(text, &mut blocks);
    write(text, &blocks)
}

impl Block {
    fn is_gone(&self) -> bool {
        self.shape != Shape::Blank && self.parts.iter().all(|part| part.gone)
    }

    fn drop_all(&mut self) {
        self.parts.iter_mut().for_each(|part| part.gone = true);
    }

    /// The first sentence of an item says what the item is; the others only say more. Without a marker it must be a whole line.
    fn drop_at(&mut self, text: &str, mention: usize) {
        let at = self.parts.iter().position(|part| part.range.contains(&mention));
        let is_item = match (self.shape, &self.parts[..]) {
            (Shape::Item { marked: false, .. }, [first, second, ..]) => {
                text[first.range.end..second.range.start].contains('\n')
            }
            (shape, _) => matches!(shape, Shape::Item { .. }),
        };
        match at {
            Some(at) if at > 0 || !is_item => self.parts[at].gone = true,
            _ => self.drop_all(),
        }
    }
}

/// Whether a sentence announces what follows it.
fn announces(text: &str, sentence: &Range<usize>) -> bool {
    text[sentence.clone()].ends_with([':', '：'])
}

/// The blocks after `blocks[at]` that belong to it: the items below an item, the list or code that a paragraph announces, all
/// that is under a heading.
fn owned(text: &str, blocks: &[Block], at: usize) -> Range<usize> {
    let start = at + 1;
    let run = |belongs: &dyn Fn(Shape) -> bool| {
        start..start + blocks[start..].iter().take_while(|block| belongs(block.shape)).count()
    };
    match blocks[at].shape {
        Shape::Heading => run(&|shape| shape != Shape::Heading),
        Shape::Item { indent, .. } => {
            run(&|shape| matches!(shape, Shape::Item { indent: inner, .. } if inner > indent))
        }
        Shape::Paragraph if blocks[at].parts.last().is_some_and(|last| announces(text, &last.range)) => {
            let next =
                blocks[start..].iter().position(|block| block.shape != Shape::Blank).map(|skipped| start + skipped);
            match next.map(|next| (next, blocks[next].shape)) {
                Some((next, Shape::Code)) => start..next + 1,
                Some((_, Shape::Item { .. })) => run(&|shape| matches!(shape, Shape::Item { .. } | Shape::Blank)),
                _ => start..start,
            }
        }
        _ => start..start,
    }
}

/// What belongs to a dropped sentence goes with it. A heading only names what is below it, which may stay.
fn drop_owned(text: &str, blocks: &mut [Block]) {
    for at in 0..blocks.len() {
        let gone = match blocks[at].shape {
            Shape::Item { .. } => blocks[at].is_gone(),
            Shape::Paragraph => blocks[at].parts.last().is_some_and(|last| last.gone),
            _ => false,
        };
        if gone {
            let owned = owned(text, blocks, at);
            blocks[owned].iter_mut().for_each(Block::drop_all);
        }
    }
}

/// What announced only things that are gone goes too. From the end, since that may leave another announcement alone.
fn drop_orphans(text: &str, blocks: &mut [Block]) {
    for at in (0..blocks.len()).rev() {
        let owned = &blocks[owned(text, blocks, at)];
        let is_left = |block: &Block| block.shape != Shape::Blank && !block.is_gone();
        let mut alone = owned.iter().any(Block::is_gone) && !owned.iter().any(is_left);
        let block = &mut blocks[at];
        if alone && block.shape == Shape::Heading {
            block.drop_all();
        }
        for part in block.parts.iter_mut().rev() {
            part.gone |= alone && announces(text, &part.range);
            if !part.gone {
                break;
            }
            alone = true;
        }
    }
}

/// What stays, with the marks and the space that stood before it.
fn write(text: &str, blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut numbers = BTreeMap::new();
    let mut after_blank = true;
    for block in blocks {
        let number = renumber(block, &mut numbers);
        let is_blank = block.shape == Shape::Blank;
        if block.is_gone() || (is_blank && after_blank) {
            continue;
        }
        after_blank = is_blank;
        let mut end = block.parts.first().map_or(block.range.start, |part| part.range.start);
        let head = &text[block.range.start..end];
        match number {
            Some((old, new)) => out.push_str(&head.replacen(&old.to_string(), &new.to_string(), 1)),
            None => out.push_str(head),
        }
        let mut is_first = true;
        for part in &block.parts {
            if !part.gone {
                out.push_str(if is_first { "" } else { &text[end..part.range.start] });
                out.push_str(&text[part.range.clone()]);
                is_first = false;
            }
            end = part.range.end;
        }
        out.push_str(&text[end..block.range.end]);
    }
    out.trim().to_owned()
}

/// The number an item had and the one it gets: a list that counts goes on counting. Kept per depth: the last number that was
/// there, and the last that was given.
fn renumber(block: &Block, numbers: &mut BTreeMap<usize, (u32, u32)>) -> Option<(u32, u32)> {
    let (indent, number) = match block.shape {
        Shape::Item { indent, number, .. } => (indent, number),
        Shape::Blank => return None,
        _ => (0, None),
    };
    numbers.retain(|depth, _| *depth < indent || (*depth == indent && number.is_some()));
    let number = number?;
    let new = match numbers.get(&indent) {
        Some((last, given)) if last + 1 == number => given + 1,
        _ => number,
    };
    let given = if block.is_gone() { new.saturating_sub(1) } else { new };
    numbers.insert(indent, (number, given));
    Some((number, new))
}

#[cfg(test)]
mod tests {
    /// Without the sentences that contain an x.
    fn without(text: &str) -> String {
        let found: Vec<_> = text.match_indices('x').map(|(at, _)| at..at + 1).collect();
        super::without(text, &found)
    }

    #[test]
    fn what_is_left_reads_well() {
        for (what, text, left) in [
            ("a sentence in the middle", "One. Use x. Two.", "One. Two."),
            ("the first", "Use x. Two.\nThree.", "Two.\nThree."),
            ("the last", "One.\nUse x.\n", "One."),
            ("a line end stays where a line is left", "One. x.\nTwo. x. Three.", "One.\nTwo. Three."),
            ("a paragraph leaves no gap", "One.\n\nx.\n\nTwo.", "One.\n\nTwo."),
            ("an item", "- a\n- x\n- b", "- a\n- b"),
            ("an item with its lines", "- a\n- x is\n  good\n- b", "- a\n- b"),
            ("an item with the items below it", "- x\n  - deep\n    - deeper\n- b", "- b"),
            ("a line with the deeper lines below it", "Offers:\n  x()\n    Returns 1.\n  b()", "Offers:\n  b()"),
            ("a sentence of an indented line", "  Not x. One.\n  Two.", "One.\n  Two."),
            ("more about an item", "- a. Not x. Fine.\n- b", "- a. Fine.\n- b"),
            ("a list that counts", "1. a\n2. x\n3. b\n   - c\n4. d", "1. a\n2. b\n   - c\n3. d"),
            ("a list that starts with it", "(1) x\n(2) a\n(3) b", "(1) a\n(2) b"),
            ("a list of ones", "1. a\n1. x\n1. b", "1. a\n1. b"),
            ("two lists", "1. a\n2. x\nThen:\n1. b\n2. c", "1. a\nThen:\n1. b\n2. c"),
            ("an announcement of nothing", "One. Also:\n- x\n- x\n\nTwo.", "One.\n\nTwo."),
            ("an announcement of lines that are gone", "One.\nExample:\nx = 1", "One."),
            ("an announcement of something", "Also:\n\n- x\n- a", "Also:\n\n- a"),
            ("a list without its announcement", "One. Not for x:\n- a\n- b\n\nTwo.", "One.\n\nTwo."),
            ("an item that announces", "- a:\n  - x\n- b", "- b"),
            ("a heading over nothing", "# A\nx.\n\n# B\nOne.", "# B\nOne."),
            ("a heading itself", "# x\nOne.", "One."),
            ("a line of code", "Try:\n```\na = 1\nx = 2\n\nb\n```\nEnd.", "Try:\n```\na = 1\n\nb\n```\nEnd."),
            ("all code", "One.\n\nTry:\n\n```\nx\n```\n\nEnd.", "One.\n\nEnd."),
            ("a fence that never closes", "One.\n```\nx", "One."),
            ("a row", "| a | b |\n| x | c |\n| d | e |", "| a | b |\n| d | e |"),
            ("other scripts", "一つ。x を使う。二つ。", "一つ。二つ。"),
            ("windows line ends", "One.\r\nUse x.\r\nTwo.", "One.\r\nTwo."),
            ("everything", "Use x.", ""),
        ] {
            assert_eq!(without(text), left, "{what}");
        }
    }
}
