//! The loopback interface of a new network namespace, which is down at first.

use rustix::{
    io,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink::SocketAddrNetlink, recv, sendto,
        socket_with,
    },
};

/// The first interface of every network namespace.
const LOOPBACK: i32 = 1;

/// `RTM_NEWLINK` of rtnetlink(7).
const NEW_LINK: u16 = 16;

/// `NLM_F_REQUEST | NLM_F_ACK` of netlink(7).
const REQUEST_WITH_ANSWER: u16 = 0x1 | 0x4;

/// `NLMSG_ERROR` of netlink(7): the answer, also if nothing went wrong.
const ERROR: u16 = 2;

/// `IFF_UP` of netdevice(7).
const UP: u32 = 0x1;

/// Brings the loopback interface up.
pub(super) fn bring_up() -> io::Result<()> {
    // Protocol 0 is NETLINK_ROUTE.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    sendto(&socket, &request(), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 64];
    let (count, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    let field = |at: usize, size: usize| answer.get(..count).and_then(|answer| answer.get(at..at + size));
    let is_error = field(4, 2) == Some(ERROR.to_ne_bytes().as_slice());
    match field(16, 4).and_then(|code| code.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) if is_error => Ok(()),
        Some(code) if is_error => Err(io::Errno::from_raw_os_error(-code)),
        _ => Err(io::Errno::PROTO),
    }
}

/// The header of netlink(7) and the `ifinfomsg` of rtnetlink(7).
fn request() -> Vec<u8> {
    let mut link = Vec::new();
    // Family, padding and device type are not looked at.
    link.extend([0; 4]);
    link.extend(LOOPBACK.to_ne_bytes());
    link.extend(UP.to_ne_bytes());
    link.extend(UP.to_ne_bytes());
    let mut message = Vec::new();
    message.extend((16 + link.len() as u32).to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
    // Sequence and port.
    message.extend([0; 8]);
    message.extend(link);
    message
}
