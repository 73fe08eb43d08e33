//! Disks: formatting, wiping, writing.

use super::{Call, target::is_disk};
use crate::approval::shell::{Category, walk::Walker};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    let name = call.name;
    let says =
        |words: &[&str]| call.args.iter().any(|arg| words.iter().any(|word| arg.text.eq_ignore_ascii_case(word)));
    let lost = match name {
        "mkfs" | "mke2fs" | "mkswap" | "mkdosfs" | "mkntfs" | "mkexfatfs" | "newfs" | "newfs_apfs" => true,
        "blkdiscard" | "badblocks" if name == "blkdiscard" || call.has('w', "") || call.has('n', "") => true,
        "wipefs" => call.has('a', "all") || call.has('o', "offset") || call.has('f', "force"),
        "cryptsetup" => says(&["luksformat", "erase", "lukserase", "reencrypt", "format"]),
        "sgdisk" => {
            call.has('Z', "zap-all") || call.has('z', "zap") || call.has('o', "clear") || call.has('d', "delete")
        }
        "sfdisk" => call.has('\0', "delete") || call.has('\0', "wipe"),
        "parted" => says(&["mklabel", "mktable", "rm", "mkpart", "resizepart"]),
        "hdparm" => {
            call.options().any(|arg| arg.text.starts_with("--security-erase") || arg.text.starts_with("--trim-sector"))
        }
        "nvme" => says(&["format", "sanitize", "delete-ns", "write-zeroes"]),
        "diskutil" => says(&["erasedisk", "erasevolume", "reformat", "partitiondisk", "zerodisk", "secureerase"]),
        "mdadm" => call.says(&["--zero-superblock"]),
        "zpool" => says(&["destroy", "labelclear"]),
        "sg_format" | "sg_sanitize" => true,
        name => name.starts_with("mkfs.") || name.starts_with("newfs_"),
    };
    if lost {
        walker.never(Category::Disk, call.shown());
        return true;
    }
    match name {
        "dd" => dd(walker, call),
        "fdisk" | "gdisk" | "cfdisk" | "cgdisk" | "sgdisk" | "sfdisk" | "parted" => {
            if !call.has('l', "list") && !call.has('p', "print") && !call.says(&["print"]) {
                walker.ask(Category::Disk, call.shown());
            }
        }
        "cryptsetup" | "wipefs" | "nvme" | "hdparm" | "mdadm" | "zpool" | "diskutil" | "badblocks" => {
            let reads = ["status", "list", "info", "-i", "-I", "--detail", "smart-log", "isLuks", "luksDump", "iostat"];
            if !call.args.is_empty()
                && !call.says(&reads)
                && !call.says(&["--examine", "history", "id-ctrl"])
                && name != "wipefs"
            {
                walker.ask(Category::Disk, call.shown());
            }
        }
        "lvremove" | "vgremove" | "pvremove" | "lvreduce" | "zfs" | "btrfs" | "resize2fs" | "tune2fs"
        | "xfs_repair" | "fsck" | "e2fsck" | "debugfs" => {
            let harmless = matches!(name, "zfs" | "btrfs") && !says(&["destroy", "rollback", "delete"]);
            if !harmless {
                walker.ask(Category::Disk, call.shown());
            }
        }
        _ => return false,
    }
    true
}

fn dd(walker: &mut Walker, call: &Call<'_>) {
    for arg in call.args {
        let Some(path) = arg.text.strip_prefix("of=") else { continue };
        let target = crate::approval::shell::resolve::Arg { text: path.into(), ..arg.clone() };
        match walker.scope.places.absolute(&target) {
            Some(path) if is_disk(&path, false) => walker.never(Category::Disk, format!("dd writes the disk {path}")),
            Some(_) => {
                super::write::file(walker, &target, "dd writes");
                super::write::empties(walker, &target);
            }
            None if !target.is_known() => walker.ask(Category::UnknownTarget, format!("dd writes {}", target.shown())),
            None => {}
        }
    }
    if call.args.iter().any(|arg| arg.text.strip_prefix("if=").is_some_and(|path| is_disk(path, false))) {
        walker.ask(Category::Disk, format!("reads a whole disk: {}", call.shown()));
    }
}
