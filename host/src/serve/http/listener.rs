//! Which program listens on a port of this machine.

use procfs::{
    ProcResult,
    net::{TcpNetEntry, TcpState, tcp, tcp6},
    process::{FDTarget, Process, all_processes},
};

use crate::text::one_line;

/// Bytes of a program's name. The kernel keeps 15.
const NAME_BYTES: usize = 32;

/// The program that listens there, with its process id: `hermes-host (process 4711)`. Nothing where the system does not say, as with
/// processes of other users.
pub(super) fn on_port(port: u16) -> Option<String> {
    let sockets: Vec<u64> =
        [tcp(), tcp6()].into_iter().flatten().flatten().filter_map(|it| listens(&it, port)).collect();
    let holds = |process: &Process| -> ProcResult<bool> {
        let mut files = process.fd()?.flatten();
        Ok(files.any(|file| matches!(file.target, FDTarget::Socket(inode) if sockets.contains(&inode))))
    };
    let process = all_processes().ok()?.flatten().find(|process| holds(process).unwrap_or(false))?;
    let name = one_line(&process.stat().ok()?.comm, NAME_BYTES);
    Some(format!("{name} (process {})", process.pid))
}

fn listens(socket: &TcpNetEntry, port: u16) -> Option<u64> {
    (socket.state == TcpState::Listen && socket.local_address.port() == port).then_some(socket.inode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_on_a_port_is_named_and_a_free_port_has_none() {
        let here = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = here.local_addr().unwrap().port();
        let found = on_port(port).unwrap();
        assert!(found.ends_with(&format!("(process {})", std::process::id())), "{found}");
        drop(here);
        assert_eq!(on_port(port), None);
    }
}
