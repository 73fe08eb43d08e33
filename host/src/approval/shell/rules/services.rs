//! Services, timetables, accounts and the state of the system.

use super::Call;
use crate::approval::shell::{Category, walk::Walker};

/// Words that stop or change services.
const CHANGES: [&str; 27] = [
    "stop",
    "start",
    "restart",
    "try-restart",
    "reload-or-restart",
    "reload",
    "shutdown",
    "kill",
    "delete",
    "down",
    "exit",
    "force-stop",
    "isolate",
    "enable",
    "disable",
    "mask",
    "unmask",
    "link",
    "edit",
    "revert",
    "preset",
    "set-property",
    "set-default",
    "set-environment",
    "import-environment",
    "daemon-reexec",
    "clean",
];

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    let first = call.operand(0);
    let found = match call.name {
        "systemctl" => (!systemctl_looks(first) || call.commands_are(&CHANGES)).then_some(Category::Service),
        "service" | "rc-service" | "invoke-rc.d" => (!call.operands().any(|arg| arg.text == "status")
            && !call.says(&["--status-all"]))
        .then_some(Category::Service),
        "launchctl" => (!matches!(first, "list" | "print" | "")).then_some(Category::Service),
        "supervisorctl" | "sv" | "pm2" | "initctl" | "s6-svc" | "monit" => {
            call.commands_are(&CHANGES).then_some(Category::Service)
        }
        "update-rc.d" | "chkconfig" | "rc-update" => Some(Category::Service),
        "crontab" => (!call.has('l', "")).then_some(Category::Schedule),
        "loginctl" => {
            let changes =
                ["enable-linger", "terminate-user", "terminate-session", "kill-session", "kill-user", "attach"];
            call.commands_are(&changes).then_some(Category::Service)
        }
        "pm-suspend" | "pm-hibernate" | "pmset" => Some(Category::Power),
        "capsh" | "newgrp" | "sg" => Some(Category::Privilege),
        "at" | "batch" | "atrm" => (!call.has('l', "")).then_some(Category::Schedule),
        "useradd" | "userdel" | "usermod" | "groupadd" | "groupdel" | "groupmod" | "passwd" | "chpasswd" | "visudo"
        | "chsh" | "adduser" | "deluser" | "gpasswd" | "vipw" | "vigr" | "newusers" | "dscl" => {
            Some(Category::Accounts)
        }
        "mount" => (!call.args.is_empty() && !call.has('l', "")).then_some(Category::SystemState),
        "sysctl" => {
            (call.has('w', "write") || call.has('p', "load") || call.operands().any(|arg| arg.text.contains('=')))
                .then_some(Category::SystemState)
        }
        "iptables" | "ip6tables" => {
            (!call.has('L', "list") && !call.has('S', "list-rules")).then_some(Category::SystemState)
        }
        "nft" => (first != "list" || call.has('f', "file")).then_some(Category::SystemState),
        "ufw" => (!matches!(first, "status" | "version")).then_some(Category::SystemState),
        "firewall-cmd" => (!call
            .options()
            .any(|arg| arg.text.starts_with("--list") || arg.text.starts_with("--get") || arg.text == "--state"))
        .then_some(Category::SystemState),
        "ip" => call
            .operands()
            .any(|arg| {
                matches!(arg.text.as_str(), "set" | "del" | "delete" | "flush" | "add" | "change" | "replace" | "exec")
            })
            .then_some(Category::SystemState),
        "ifconfig" => {
            call.operands().any(|arg| matches!(arg.text.as_str(), "down" | "up")).then_some(Category::SystemState)
        }
        "nmcli" => call.says(&["down", "delete", "off", "modify", "disconnect"]).then_some(Category::SystemState),
        "hostnamectl" | "timedatectl" | "localectl" => first.starts_with("set").then_some(Category::SystemState),
        "date" => call.has('s', "set").then_some(Category::SystemState),
        "journalctl" => call
            .options()
            .any(|arg| arg.text.starts_with("--vacuum") || arg.text == "--rotate")
            .then_some(Category::Overwrite),
        "dmesg" => call.has('C', "clear").then_some(Category::Overwrite),
        "iptables-restore" | "ip6tables-restore" | "arpspoof" | "ettercap" | "umount" | "swapoff" | "swapon"
        | "insmod" | "rmmod" | "modprobe" | "setenforce" | "losetup" | "update-grub" | "grub-install"
        | "efibootmgr" | "hwclock" | "auditctl" | "setsebool" | "pivot_root" | "switch_root" | "kmod" | "nvram"
        | "csrutil" | "spctl" | "update-initramfs" | "dmsetup" | "loadkeys" | "iw" | "rfkill" => {
            Some(Category::SystemState)
        }
        "gcore" => Some(Category::CredentialRead),
        "history" => call.has('c', "").then_some(Category::Obscured),
        _ => return false,
    };
    if let (Some(Category::Schedule), Some(text)) = (found, &call.input.text) {
        scheduled(walker, call.name, text);
    }
    if let Some(category) = found {
        walker.ask(category, call.shown());
    }
    true
}

/// Judges what a timetable would run. A line of `crontab` has five fields before its command, or a name like `@daily`.
fn scheduled(walker: &mut Walker, name: &str, text: &str) {
    if name != "crontab" {
        return walker.program_text(name, text);
    }
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields = if line.starts_with('@') { 1 } else { 5 };
        let command = line.split_whitespace().skip(fields).collect::<Vec<_>>().join(" ");
        if !command.is_empty() {
            walker.program_text(name, &command);
        }
    }
}

fn systemctl_looks(word: &str) -> bool {
    matches!(
        word,
        "" | "status" | "show" | "cat" | "help" | "get-default" | "list-units" | "list-unit-files" | "list-timers"
    ) || word.starts_with("is-")
        || word.starts_with("list-")
}
