//! Seccomp: system calls that a confined command does not get. They reach what no path names (sockets, keys, other processes), or
//! belong to parts of the kernel that no tool needs.

use std::collections::BTreeMap;

use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, CLONE_NEWUSER, EACCES, ENOSYS, EPERM, PRIO_PROCESS, S_ISGID, S_ISUID,
    SOCK_SEQPACKET, SOCK_STREAM, SYS_add_key, SYS_bpf, SYS_clone, SYS_clone3, SYS_fchmod, SYS_fchmodat, SYS_fchmodat2,
    SYS_io_uring_enter, SYS_io_uring_register, SYS_io_uring_setup, SYS_ioprio_set, SYS_kcmp, SYS_kexec_load,
    SYS_keyctl, SYS_mknodat, SYS_mq_open, SYS_msgctl, SYS_msgget, SYS_msgrcv, SYS_msgsnd, SYS_open_by_handle_at,
    SYS_openat, SYS_openat2, SYS_perf_event_open, SYS_prlimit64, SYS_request_key, SYS_sched_setaffinity,
    SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setscheduler, SYS_semctl, SYS_semget, SYS_semop, SYS_semtimedop,
    SYS_setns, SYS_setpriority, SYS_shmat, SYS_shmctl, SYS_shmget, SYS_socket, SYS_socketpair, SYS_unshare,
    SYS_userfaultfd,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use crate::Network;

/// The families of the network that a network namespace holds.
const NAMESPACED: [i32; 4] = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];

/// The families that are left when the network of the machine is shared. Never unix sockets: a container engine, a session bus or an
/// agent of keys that listens there acts outside the sandbox.
const SHARED: [i32; 3] = [AF_INET, AF_INET6, AF_NETLINK];

/// The other numbering of system calls on x86-64, which some kernels still accept.
const X32: i64 = 0x4000_0000;

/// The bits of a socket's type that are its type. The others are flags.
const SOCKET_TYPE: u64 = 0xf;

/// `IOPRIO_WHO_PROCESS` of ioprio_set(2).
const IOPRIO_WHO_PROCESS: u64 = 1;

/// System calls that no command gets: keys of the session, other namespaces, and parts of the kernel that are often attacked.
const REFUSED: [i64; 13] = [
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_setns,
    SYS_open_by_handle_at,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_kexec_load,
    SYS_kcmp,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
];

/// System calls whose first argument is a process: 0 is the caller.
const OF_A_PROCESS: [i64; 5] =
    [SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setscheduler];

/// System V IPC and message queues, which have no path: an IPC namespace holds them where there is one. The objects of the user are in
/// reach otherwise, and what a command makes outlives it.
const INTERPROCESS: [i64; 12] = [
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_semctl,
    SYS_mq_open,
];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The filters of a command, compiled. That takes longer than most commands, so it is done before the launch is there.
pub(crate) struct SyscallFilters([BpfProgram; 3]);

impl SyscallFilters {
    /// The filters of a command with namespaces, whatever its network: a network namespace holds that.
    pub(crate) fn namespaced() -> Result<Self, seccompiler::Error> {
        Self::compile(true, Network::None)
    }

    /// The filters of a command that Landlock and seccomp hold alone.
    pub(crate) fn without_namespaces(network: Network) -> Result<Self, seccompiler::Error> {
        Self::compile(false, network)
    }

    fn compile(is_namespaced: bool, network: Network) -> Result<Self, seccompiler::Error> {
        // What they are to do lies in memory that a filter can't read. Libraries fall back to the older calls, which have arguments.
        let unreadable = vec![(SYS_clone3, Vec::new()), (SYS_openat2, Vec::new())];
        Ok(Self([
            program(unreadable, ENOSYS)?,
            program(refused(is_namespaced)?, EPERM)?,
            program(sockets(is_namespaced, network)?, EACCES)?,
        ]))
    }

    /// Puts the filters on this thread and all that comes of it.
    pub(crate) fn apply(&self) -> Result<(), seccompiler::Error> {
        self.0.iter().try_for_each(|program| apply_filter(program))
    }
}

fn refused(is_namespaced: bool) -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::Error> {
    let mut rules: Vec<(i64, Vec<SeccompRule>)> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // A user namespace gives capabilities in it, and with them more of the kernel to attack.
    let new_user = CLONE_NEWUSER as u64;
    for call in [SYS_unshare, SYS_clone] {
        rules.push((call, vec![rule([(0, SeccompCmpOp::MaskedEq(new_user), new_user)])?]));
    }
    rules.extend(set_user_id()?);
    if !is_namespaced {
        rules.extend(INTERPROCESS.iter().map(|call| (*call, Vec::new())));
        // Without a pid namespace, the processes of the same user are in reach: the host is one of them.
        for call in OF_A_PROCESS {
            rules.push((call, vec![rule([(0, SeccompCmpOp::Ne, 0)])?]));
        }
        for (call, process) in [(SYS_setpriority, PRIO_PROCESS as u64), (SYS_ioprio_set, IOPRIO_WHO_PROCESS)] {
            rules.push((call, vec![rule([(0, SeccompCmpOp::Ne, process)])?, rule([(1, SeccompCmpOp::Ne, 0)])?]));
        }
    }
    Ok(rules)
}

/// Files that run as their owner: where the host is root, such a file in the workspace would make every user of the machine root.
/// Landlock does not see modes.
fn set_user_id() -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::Error> {
    let mode =
        |argument: u8| [S_ISUID, S_ISGID].map(|bit| (argument, SeccompCmpOp::MaskedEq(bit.into()), u64::from(bit)));
    let changed =
        |argument: u8| mode(argument).map(|condition| rule([condition])).into_iter().collect::<Result<Vec<_>, _>>();
    let mut rules = vec![
        (SYS_fchmod, changed(1)?),
        (SYS_fchmodat, changed(2)?),
        (SYS_fchmodat2, changed(2)?),
        (SYS_mknodat, changed(2)?),
        // Whatever the flags: O_TMPFILE makes a file without O_CREAT.
        (SYS_openat, changed(3)?),
    ];
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        (libc::SYS_chmod, changed(1)?),
        (libc::SYS_creat, changed(1)?),
        (libc::SYS_mknod, changed(1)?),
        (libc::SYS_open, changed(2)?),
    ]);
    Ok(rules)
}

fn sockets(is_namespaced: bool, network: Network) -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::Error> {
    let other_than = |families: &[i32]| {
        let conditions = families.iter().map(|family| (0, SeccompCmpOp::Ne, *family as u64));
        rule(conditions.collect::<Vec<_>>())
    };
    if is_namespaced {
        return Ok(vec![(SYS_socket, vec![other_than(&NAMESPACED)?])]);
    }
    // No rule at all means every call.
    let created = match network {
        Network::Shared => vec![other_than(&SHARED)?],
        Network::None | Network::Proxy => Vec::new(),
    };
    // A pair with a connection leads nowhere. A datagram socket of a pair can still send to any name, and the kernel makes one of
    // other types, too.
    let connected = [SOCK_STREAM, SOCK_SEQPACKET].map(|kind| kind as u64);
    let others = (0..=SOCKET_TYPE).filter(|kind| !connected.contains(kind));
    let paired = others.map(|kind| rule([(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), kind)])).collect::<Result<_, _>>()?;
    Ok(vec![(SYS_socket, created), (SYS_socketpair, paired)])
}

/// A rule that holds where all of these hold: number of the argument, comparison, value.
fn rule(conditions: impl IntoIterator<Item = (u8, SeccompCmpOp, u64)>) -> Result<SeccompRule, seccompiler::Error> {
    let conditions = conditions.into_iter().map(|(argument, comparison, value)| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value).map_err(seccompiler::Error::from)
    });
    Ok(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?)
}

fn program(calls: Vec<(i64, Vec<SeccompRule>)>, errno: i32) -> Result<BpfProgram, seccompiler::Error> {
    let numberings = if cfg!(target_arch = "x86_64") { vec![0, X32] } else { vec![0] };
    let rules: Rules = numberings
        .into_iter()
        .flat_map(|numbering| calls.iter().map(move |(call, rules)| (call | numbering, rules.clone())))
        .collect();
    let here = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno as u32), here)?;
    Ok(filter.try_into()?)
}

#[cfg(test)]
mod tests {
    use std::{
        net::UdpSocket,
        os::unix::net::{UnixDatagram, UnixStream},
        thread,
    };

    use super::*;

    /// The filter holds for one thread, which ends with the test.
    fn in_a_thread<T: Send + 'static>(network: Network, look: impl FnOnce() -> T + Send + 'static) -> T {
        let thread = thread::spawn(move || {
            rustix::thread::set_no_new_privs(true).unwrap();
            SyscallFilters::without_namespaces(network).unwrap().apply().unwrap();
            look()
        });
        thread.join().unwrap()
    }

    #[test]
    fn without_network_and_namespaces_no_socket_is_opened() {
        let (inet, unix, pair, datagrams) = in_a_thread(Network::None, || {
            (
                UdpSocket::bind("127.0.0.1:0").is_ok(),
                UnixStream::connect("/x").unwrap_err(),
                UnixStream::pair().is_ok(),
                UnixDatagram::pair().is_ok(),
            )
        });
        assert!(!inet && !datagrams);
        assert_eq!(unix.raw_os_error(), Some(EACCES));
        assert!(pair);
    }

    #[test]
    fn a_shared_network_has_no_unix_sockets() {
        let (inet, unix) = in_a_thread(Network::Shared, || {
            (UdpSocket::bind("127.0.0.1:0").is_ok(), UnixStream::connect("/x").unwrap_err())
        });
        assert!(inet);
        assert_eq!(unix.raw_os_error(), Some(EACCES));
    }

    #[test]
    fn limits_of_other_processes_can_not_be_changed() {
        use rustix::process::{Resource, getpid, getrlimit, prlimit, setrlimit};
        let (own, other) = in_a_thread(Network::None, || {
            let now = getrlimit(Resource::Core);
            (
                setrlimit(Resource::Core, now),
                prlimit(Some(getpid()), Resource::Core, getrlimit(Resource::Core)).map(drop),
            )
        });
        assert_eq!((own, other), (Ok(()), Err(rustix::io::Errno::PERM)));
    }
}
