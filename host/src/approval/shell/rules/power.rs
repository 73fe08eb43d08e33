//! Turning the machine off.

use super::Call;
use crate::approval::shell::{Category, walk::Walker};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    let first = call.operand(0);
    let off = match call.name {
        "reboot" | "halt" | "poweroff" | "kexec" => !call.says(&["--help", "-w", "--wtmp-only"]),
        "shutdown" => !call.says(&["-c", "--help", "-k", "--show"]),
        "init" | "telinit" => matches!(first, "0" | "6" | "1" | "s" | "S"),
        "systemctl" | "loginctl" => {
            let words = ["poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue"];
            if call.says(&["suspend", "hibernate", "hybrid-sleep"]) {
                walker.ask(Category::Power, call.shown());
            }
            call.commands_are(&words) || start_target(call)
        }
        "dbus-send" | "busctl" | "gdbus" => {
            call.args.iter().any(|arg| ["PowerOff", "Reboot", "Halt"].iter().any(|word| arg.text.contains(word)))
        }
        "rundll32" | "rundll32.exe" => false,
        _ => return false,
    };
    if off {
        walker.never(Category::Power, call.shown());
    }
    off
}

/// `systemctl start reboot.target` and `isolate`.
fn start_target(call: &Call<'_>) -> bool {
    call.commands_are(&["start", "isolate"])
        && call.operands().any(|arg| {
            ["poweroff", "reboot", "halt", "kexec", "runlevel0", "runlevel6", "emergency", "rescue"]
                .iter()
                .any(|name| arg.text.starts_with(name))
        })
}
