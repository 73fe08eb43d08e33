//! The launcher as a program of its own. The host embeds it: a small program starts in a fraction of the time of the host's.

fn main() {
    hermes_launch::run();
}
