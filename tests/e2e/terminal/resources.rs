//! What a command may use up.

use std::{fs, path::Path};

use super::{
    Scene,
    sandbox::{LAYERS, confined},
};

/// The limits that every command has, with a shell's words for them.
async fn check(scene: &Scene, what: &str) {
    let text =
        scene.text("ulimit -Hf; ulimit -Hn; ulimit -Hu; ulimit -Hc; nice; ulimit -Hd; cat /proc/self/cgroup").await;
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_else(|| panic!("{what}: {text}"));
    // In units of 1024 bytes.
    assert_eq!(next(), (16_u64 << 20).to_string(), "{what}: file size");
    assert!(next().parse::<u64>().unwrap() <= 65_536, "{what}: open files");
    assert!(next().parse::<u64>().unwrap() <= 4_096, "{what}: processes");
    assert_eq!(next(), "0", "{what}: core file");
    assert!(next().parse::<i32>().unwrap() >= 5, "{what}: niceness");
    let data = next().to_owned();
    // A cgroup limits the memory of all processes together; where none can be made, a limit holds for each.
    let groups: Vec<&str> = lines.filter(|line| line.contains("hermes-host-")).collect();
    let has_memory = groups.iter().any(|group| group.contains(":memory:") || group.contains("::/"));
    assert!(has_memory || data.parse::<u64>().is_ok(), "{what}: memory is not limited: {text}");
    for group in groups {
        let (_, path) = group.rsplit_once(':').unwrap();
        for mount in ["", "memory", "pids", "unified"] {
            let left = Path::new("/sys/fs/cgroup").join(mount).join(path.trim_start_matches('/'));
            assert!(!left.exists(), "{what}: {} is left", left.display());
        }
    }
}

#[tokio::test]
async fn every_command_on_this_machine_is_limited() {
    check(&Scene::local(), "unconfined").await;
    for layers in LAYERS {
        check(&confined(layers, false).scene, &format!("{layers:?}")).await;
    }
}

#[tokio::test]
async fn a_file_of_a_command_has_a_bound() {
    for layers in LAYERS {
        let c = confined(layers, false);
        assert!(!c.works("truncate -s 17G big").await, "{layers:?}");
        assert!(c.works("truncate -s 1G small").await, "{layers:?}");
        assert_eq!(fs::metadata(c.home.join("project/small")).unwrap().len(), 1 << 30);
    }
}
