//! How long a judgement takes.

use std::{fs, time::Duration};

use super::{allowed::allowed, never::NEVER, refused::ASK, surroundings, tricks};
use crate::approval::shell::judge;

/// What one command may take on average, so that explaining and asking are never felt.
const PER_COMMAND: Duration = Duration::from_micros(50);

#[test]
#[cfg_attr(debug_assertions, ignore = "only the optimised code is promised to be fast")]
#[allow(clippy::print_stderr)]
fn a_command_takes_under_fifty_microseconds_on_average() {
    let tables = [NEVER, ASK, tricks::SEEN_THROUGH, tricks::DOUBTED].concat();
    let commands: Vec<&str> = tables.iter().map(|(_, command)| *command).chain(allowed()).collect();
    let around = surroundings();
    // The fastest round of several, and only the time on a processor: others share the machine.
    let rounds = (0..30).map(|_| {
        let start = on_processor();
        for command in &commands {
            std::hint::black_box(judge(command, &around));
        }
        (on_processor() - start) / commands.len() as u32
    });
    let best = rounds.min().unwrap();
    eprintln!("{} commands, {best:?} each", commands.len());
    assert!(best < PER_COMMAND, "{best:?}");
}

/// How long this thread has run.
fn on_processor() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}
