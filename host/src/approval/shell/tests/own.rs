//! The host's own files, wherever they lie.

use super::{Category, Verdict, surroundings};
use crate::approval::shell::{Surroundings, judge};

#[test]
fn what_decides_about_commands_is_not_written_unasked() {
    let around = Surroundings {
        own: ["/srv/hermes", "/etc/hermes.toml", "/home/ada/project/tools"].map(str::to_owned).into(),
        ..surroundings()
    };
    for command in [
        "printf '[approval]\\nmode = \"off\"\\n' > /srv/hermes/hermes.toml",
        "tee /srv/hermes/hermes.toml",
        "sed -i s/ask/off/ /srv/hermes/hermes.toml",
        "cp x.wasm /srv/hermes/tools/",
        "ln -sf /tmp/x /srv/hermes/hermes.toml",
        "mv /tmp/x /etc/hermes.toml",
        "cp x.wasm tools/x.wasm",
        "echo x > ~/.hermes/hermes.toml",
        "mv /srv/hermes /tmp/x",
    ] {
        let judgement = judge(command, &around);
        assert!(judgement.verdict >= Verdict::Ask, "{command}: {judgement:?}");
    }
    let judgement = judge("echo x > /srv/hermes/hermes.toml", &around);
    assert!(judgement.reasons.iter().any(|reason| reason.category == Category::Host), "{judgement:?}");
    for command in ["cat /etc/hermes.toml", "ls /etc", "rm src/x.o", "touch a"] {
        assert_eq!(judge(command, &around).verdict, Verdict::Allow, "{command}");
    }
}
