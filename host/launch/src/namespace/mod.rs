//! The namespaces of a command: what it does not see it can't touch.
//!
//! The supervisor enters the user, network, ipc and uts namespaces itself ([`enter`]); its child is process 1 of the pid
//! namespace, makes the mount namespace and builds the command's files in it ([`root`]).

mod loopback;
pub(crate) mod root;

use std::{fs, net::TcpListener};

use rustix::{
    process::{getegid, geteuid},
    thread::UnshareFlags,
};

use crate::{PROXY_PORT, privileges};

/// Moves this process into new namespaces, with a user namespace first if it is not root. Its children are in a pid namespace of their
/// own. Gives the listener of the proxy, where the command is to have one.
pub(crate) fn enter(user: bool, has_proxy: bool) -> Result<Option<TcpListener>, String> {
    let (uid, gid) = (geteuid(), getegid());
    if user {
        unshare(UnshareFlags::NEWUSER)?;
        // The command keeps its user: files have the owner that they have outside.
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/uid_map", &format!("{uid} {uid} 1", uid = uid.as_raw()))?;
        write("/proc/self/gid_map", &format!("{gid} {gid} 1", gid = gid.as_raw()))?;
    }
    unshare(UnshareFlags::NEWPID | UnshareFlags::NEWNET | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS)?;
    loopback::bring_up().map_err(|why| format!("the loopback interface can't be brought up: {why}"))?;
    let listen = || TcpListener::bind(("127.0.0.1", PROXY_PORT));
    let proxy = has_proxy.then(listen).transpose();
    let proxy = proxy.map_err(|why| format!("the port of the proxy can't be opened: {why}"))?;
    if user {
        privileges::keep_for_setup().map_err(|why| format!("capabilities can't be kept for the setup: {why}"))?;
    }
    Ok(proxy)
}

/// Moves this thread into new namespaces.
#[allow(deprecated, reason = "only CLONE_FILES makes unshare unsafe, and it is never passed")]
pub(super) fn unshare(flags: UnshareFlags) -> Result<(), String> {
    rustix::thread::unshare(flags).map_err(|why| format!("the kernel refuses new namespaces ({flags:?}): {why}"))
}

fn write(path: &str, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|why| format!("{path} can't be written: {why}"))
}
