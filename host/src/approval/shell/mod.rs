//! What a shell command would do, judged before it is run.
//!
//! The text is parsed, not matched: `syntax` reads it, `walk` follows it in the order in which a shell would run it, `resolve`
//! makes arguments of its words as far as they are known, wrappers are taken off, and `rules` look at each command that is
//! left. What can't be known before running needs a person.
//!
//! The rules are a deny list, and so they are always behind. Two things carry the weight instead: where the sandbox confines a
//! command, `confined` drops every finding that the sandbox holds; where nothing confines it, `understood` asks about every
//! command that is not modelled in full.
//!
//! ```text
//! judge("timeout 5 sudo rm -rf /", …)  ->  never, system-delete
//! judge("man mkfs", …)                 ->  allow
//! ```

mod confined;
mod effect;
pub mod limits;
mod obscured;
mod resolve;
mod rules;
mod surroundings;
mod syntax;
#[cfg(test)]
mod tests;
mod understood;
mod verdict;
mod walk;

pub use effect::{Effect, EffectKind};
pub use surroundings::{HostPaths, Surroundings};
pub use verdict::{Category, Judgement, Parsed, Reason, Verdict};

use walk::{Flow, Walker};

/// Judges a command line.
///
/// Confined, only what the sandbox does not hold is asked about. Unconfined, only what is fully understood is allowed: every
/// program in the table of `understood`, every operand and directory known, every write inside the workspace or a temporary
/// folder.
///
/// Never panics, and takes a time that the [`limits`] bound. What is too long, too deep or no shell text at all is not understood.
pub fn judge(command: &str, surroundings: &Surroundings) -> Judgement {
    let mut walker = Walker::new(surroundings);
    if command.len() > limits::COMMAND_BYTES {
        walker.ask(Category::Limit, format!("longer than {} bytes", limits::COMMAND_BYTES));
    } else {
        if let Some(found) = obscured::find(command) {
            walker.ask(Category::Obscured, found);
        }
        understood::inherited(&mut walker, surroundings);
        if let Some(obstacle) = understood::obstacle(command) {
            walker.doubt(Category::UnknownCommand, format!("only plain commands are understood: {obstacle}"));
        }
        let input = surroundings.input.clone().map_or_else(Flow::inherited, Flow::text);
        walker.shell_text(command, &input);
    }
    let is_suspect = !walker.findings.is_empty();
    let mut findings = walker.findings;
    if surroundings.is_confined {
        findings.retain(|finding| confined::stands(finding, surroundings));
    } else {
        findings.extend(walker.doubts);
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
    Judgement {
        verdict: findings.first().map_or(Verdict::Allow, |finding| finding.verdict),
        reasons: findings.into_iter().map(|finding| finding.reason).collect(),
        commands: walker.commands,
        effects: walker.effects,
        is_suspect,
    }
}
