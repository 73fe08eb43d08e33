//! A filter of system calls for what Landlock does not see: sockets other than TCP, and the ring that would open them unseen.

use std::collections::BTreeMap;

use libc::{AF_INET, AF_INET6, AF_NETLINK, EACCES, SYS_io_uring_setup, SYS_socket};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

/// Families of sockets that are left when the network is allowed: the internet, and asking the kernel about its interfaces. Never
/// unix sockets: whoever listens there (a container engine, a session bus, an agent of keys) acts outside the sandbox.
const INTERNET: [i32; 3] = [AF_INET, AF_INET6, AF_NETLINK];

/// The other numbering of system calls on x86-64, which some kernels still accept.
const X32: i64 = 0x4000_0000;

/// Puts the filter on this thread and all that comes of it. Pairs of connected sockets stay allowed: they lead nowhere.
pub(super) fn restrict(network: bool) -> Result<(), seccompiler::Error> {
    apply_filter(&filter(network)?)
}

fn filter(network: bool) -> Result<BpfProgram, seccompiler::Error> {
    let other_family = |family: i32| {
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family as u64)
            .map_err(seccompiler::Error::from)
    };
    // No rule at all means every call.
    let sockets = match network {
        true => vec![SeccompRule::new(INTERNET.map(other_family).into_iter().collect::<Result<_, _>>()?)?],
        false => Vec::new(),
    };
    let mut rules = BTreeMap::new();
    for numbering in [0, X32] {
        rules.insert(SYS_socket | numbering, sockets.clone());
        rules.insert(SYS_io_uring_setup | numbering, Vec::new());
    }
    let here = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(EACCES as u32), here)?;
    Ok(filter.try_into()?)
}

#[cfg(test)]
mod tests {
    use std::{net::UdpSocket, os::unix::net::UnixStream, thread};

    use super::*;

    /// The filter holds for one thread, which ends with the test.
    fn in_a_thread<T: Send + 'static>(network: bool, look: impl FnOnce() -> T + Send + 'static) -> T {
        let thread = thread::spawn(move || {
            rustix::thread::set_no_new_privs(true).unwrap();
            restrict(network).unwrap();
            look()
        });
        thread.join().unwrap()
    }

    #[test]
    fn without_the_network_no_socket_is_opened() {
        let (inet, unix, pair) = in_a_thread(false, || {
            (UdpSocket::bind("127.0.0.1:0").is_ok(), UnixStream::connect("/x").unwrap_err(), UnixStream::pair().is_ok())
        });
        assert!(!inet);
        assert_eq!(unix.raw_os_error(), Some(EACCES));
        assert!(pair);
    }

    #[test]
    fn with_the_network_the_internet_is_open_and_unix_sockets_are_not() {
        let (inet, unix) =
            in_a_thread(true, || (UdpSocket::bind("127.0.0.1:0").is_ok(), UnixStream::connect("/x").unwrap_err()));
        assert!(inet);
        assert_eq!(unix.raw_os_error(), Some(EACCES));
    }
}
