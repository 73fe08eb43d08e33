//! The command line of hermes-host.

mod cli;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // Before anything else: the compile worker and the launcher are this same binary, and nothing of the command line concerns them.
    hermes_host::run_if_asked();
    hermes_host::raise_open_file_limit();
    cli::main()
}
