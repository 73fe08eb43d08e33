//! What commands may take: every bound a constant, its reason above it.

use std::{sync::LazyLock, time::Duration};

use hermes_launch::{CgroupLimits, ResourceLimits};

use crate::open_file_limit::original_open_file_limit;

/// How long a command in the foreground runs if nobody says. Long enough for a build of middle size.
pub const TIMEOUT: Duration = Duration::from_secs(180);

/// The longest that a command in the foreground may ask for. What takes longer belongs in the background, where it can be watched.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(600);

/// Between asking a command to end and ending it. Long enough to remove a lock file, too short to be worth ignoring. Attack 41.
pub const GRACE: Duration = Duration::from_secs(1);

/// How long the supervisor may take to end what it was told to, before the host does it instead. A command may have stopped it.
pub const STUCK: Duration = Duration::from_secs(5);

/// How long output is still read after every process of the command has ended. It is there already, unless somebody outside the
/// command's reach holds the pipe.
pub const DRAIN: Duration = Duration::from_secs(1);

/// Bytes of output that a result carries. More than a model should be shown of one command. Attack 41.
pub const OUTPUT_BYTES: usize = 50_000;

/// The part of them that is kept of the beginning, in percent: what failed is told at the end, what was done at the start.
pub const HEAD_PERCENT: usize = 40;

/// Bytes kept of what a background process printed. The oldest lines go first.
pub const LOG_BYTES: usize = 200_000;

/// Bytes at the end of the log that `poll` shows.
pub const POLL_BYTES: usize = 1_000;

/// Lines that `log` shows if nobody says.
pub const LOG_LINES: usize = 200;

/// Bytes of one line that watch patterns are looked for in. A line without an end must not grow for ever.
pub const LINE_BYTES: usize = 8 * 1024;

/// Bytes that a pipe holds until they are read, and that one look at it takes. Four times what is usual: a command that prints
/// much waits for the host less often.
pub(crate) const PIPE_BYTES: usize = 256 * 1024;

/// Between two looks at a command's output while it runs. People read no faster, and a command may print a million lines a second.
pub const LIVE_EVERY: Duration = Duration::from_millis(200);

/// Bytes of a line that such a look shows.
pub const LIVE_BYTES: usize = 400;

/// Bytes of a command line. One argument of a program has 128 KiB in Linux, and every quote in a command takes four there.
pub const COMMAND_BYTES: usize = 96 * 1024;

/// Bytes of the variables that one call leaves for the next. The kernel gives a program 2 MiB for all its arguments.
pub const STATE_BYTES: u64 = 256 * 1024;

/// Variables that a task carries on.
pub const VARIABLES: usize = 1_000;

/// Commands of one task that run at the same time, in the foreground or in the background.
pub const RUNNING_OF_A_TASK: usize = 16;

/// Commands that run at the same time in one place, all tasks together.
pub const RUNNING: usize = 64;

/// Background processes that are remembered after their end, so that their output can be read. The oldest is forgotten first.
pub const FINISHED: usize = 64;

/// How long they are remembered.
pub const FINISHED_FOR: Duration = Duration::from_secs(30 * 60);

/// Tasks whose working directory and variables are remembered. The one that was idle longest is forgotten first.
pub const TASKS: usize = 256;

/// Patterns that one process is watched for.
pub const PATTERNS: usize = 16;

/// Bytes of one pattern.
pub const PATTERN_BYTES: usize = 256;

/// Between two notices that a process printed what was watched for.
pub const NOTICE_EVERY: Duration = Duration::from_secs(15);

/// That many intervals in a row with more matches than notices, and the pattern is no signal but noise: the watch ends.
pub const NOISY_INTERVALS: u32 = 3;

/// Notices of matches in all, in each [`NOTICES_WINDOW`]. Notices of ends are never held back: a process ends once.
pub const NOTICES: usize = 15;

/// The time that [`NOTICES`] are counted over.
pub const NOTICES_WINDOW: Duration = Duration::from_secs(10);

/// Notices that are kept for a task until it asks. Whoever asks rarely needs the last ones.
pub const NOTICES_KEPT: usize = 50;

/// Bytes that are written in all to a process that runs what it reads: each line is judged with everything before it. What is longer
/// belongs into a file.
pub const WRITTEN_BYTES: usize = 64 * 1024;

/// How long a process may leave what it is sent unread before writing to it is given up.
pub const WRITE_WAIT: Duration = Duration::from_secs(5);

/// Rows and columns of a terminal.
pub const PTY_SIZE: (u16, u16) = (30, 120);

/// Bytes of one file that a command writes. A build's artifacts and a container image fit; a disk that fills up by mistake stays
/// below it. Test `a_file_of_a_command_has_a_bound`.
pub const FILE_BYTES: u64 = 16 << 30;

/// Files that one process of a command has open.
pub const OPEN_FILES: u64 = 65_536;

/// Processes and threads of a command. A parallel build of a large project has some hundreds. Attack 41.
pub const PROCESSES: u64 = 4_096;

/// The part of this machine's memory that a command may use where a cgroup can be made, in percent. The host and the rest of the
/// machine live on what is left.
pub const MEMORY_PERCENT: u64 = 75;

/// How much less of the processor a command gets than the host: the host answers while commands compile.
pub const NICE: u8 = 5;

/// The limits on every command on this machine.
pub(crate) fn resources() -> ResourceLimits {
    ResourceLimits {
        file_bytes: Some(FILE_BYTES),
        open_files: Some(OPEN_FILES),
        // The host raised its own.
        soft_open_files: original_open_file_limit(),
        processes: Some(PROCESSES),
        nice: Some(NICE),
        cgroup: memory_bytes()
            .map(|memory| CgroupLimits { memory_bytes: memory / 100 * MEMORY_PERCENT, processes: PROCESSES }),
    }
}

/// The memory of this machine.
fn memory_bytes() -> Option<u64> {
    static BYTES: LazyLock<Option<u64>> = LazyLock::new(|| {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    });
    *BYTES
}

/// The limits as a table in Markdown.
pub fn table() -> String {
    let seconds = |time: Duration| format!("{} s", time.as_secs());
    let rows = [
        ("a command in the foreground, unless it asks for more", seconds(TIMEOUT)),
        ("the most that it may ask for", seconds(TIMEOUT_MAX)),
        ("between asking a command to end and ending it", seconds(GRACE)),
        ("bytes of a command line", COMMAND_BYTES.to_string()),
        ("bytes of output in a result, head and tail", OUTPUT_BYTES.to_string()),
        ("bytes kept of what a background process printed", LOG_BYTES.to_string()),
        ("commands of a task at once", RUNNING_OF_A_TASK.to_string()),
        ("commands at once in one place", RUNNING.to_string()),
        ("ended processes that are remembered", format!("{FINISHED}, for {}", seconds(FINISHED_FOR))),
        ("tasks that are remembered", TASKS.to_string()),
        ("variables that a task carries on", format!("{VARIABLES}, of {STATE_BYTES} bytes")),
        ("patterns that a process is watched for", format!("{PATTERNS}, of {PATTERN_BYTES} bytes")),
        ("between two notices of one process", seconds(NOTICE_EVERY)),
        ("notices of matches in all", format!("{NOTICES} in {}", seconds(NOTICES_WINDOW))),
        ("notices kept for a task", NOTICES_KEPT.to_string()),
        ("bytes written to a process that runs what it reads", WRITTEN_BYTES.to_string()),
        ("bytes of one file that a command writes", FILE_BYTES.to_string()),
        ("files that one process of a command has open", OPEN_FILES.to_string()),
        ("processes and threads of a command", PROCESSES.to_string()),
        ("memory of a command, where a cgroup can be made", format!("{MEMORY_PERCENT} % of the machine's")),
        ("niceness of a command beside the host", NICE.to_string()),
    ];
    let rows = rows.iter().map(|(what, limit)| format!("| {what} | {limit} |\n"));
    format!("| limit on commands | value |\n|---|---|\n{}", rows.collect::<String>())
}
