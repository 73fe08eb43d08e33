//! What a shell command would do, judged before it is run.
//!
//! The text is parsed, not matched: `syntax` reads it, `walk` follows it in the order in which a shell would run it, `resolve`
//! makes arguments of its words as far as they are known, wrappers are taken off, and `rules` look at each command that is
//! left. What can't be known before running needs a person.
//!
//! ```text
//! judge("timeout 5 sudo rm -rf /", …)  ->  never, system-delete
//! judge("man mkfs", …)                 ->  allow
//! ```

pub mod limits;
mod obscured;
mod resolve;
mod rules;
mod surroundings;
mod syntax;
#[cfg(test)]
mod tests;
mod verdict;
mod walk;

pub use surroundings::Surroundings;
pub use verdict::{Category, Judgement, Parsed, Reason, Verdict};

use walk::{Flow, Walker};

/// Judges a command line.
///
/// Never panics, and takes a time that the [`limits`] bound. What is too long, too deep or no shell text at all is `ask`.
pub fn judge(command: &str, surroundings: &Surroundings) -> Judgement {
    let mut walker = Walker::new(surroundings);
    if command.len() > limits::COMMAND_BYTES {
        walker.ask(Category::Limit, format!("longer than {} bytes", limits::COMMAND_BYTES));
    } else {
        if let Some(found) = obscured::find(command) {
            walker.ask(Category::Obscured, found);
        }
        let input = surroundings.input.clone().map_or_else(Flow::inherited, Flow::text);
        walker.shell_text(command, &input);
    }
    let mut findings = walker.findings;
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
    Judgement {
        verdict: findings.first().map_or(Verdict::Allow, |finding| finding.verdict),
        reasons: findings.into_iter().map(|finding| finding.reason).collect(),
        commands: walker.commands,
    }
}
