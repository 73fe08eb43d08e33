//! Commands of Windows, for hosts that reach it from a shell.

use super::Call;
use crate::approval::shell::{Category, walk::Walker};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    let name = call.name.trim_end_matches(".exe");
    let slash = |letter: &str| call.args.iter().any(|arg| arg.text.eq_ignore_ascii_case(&format!("/{letter}")));
    match name {
        "del" | "erase" | "rd" if slash("s") || slash("q") || slash("f") => walker.ask(Category::Windows, call.shown()),
        "rmdir" if slash("s") => walker.ask(Category::Windows, call.shown()),
        "remove-item" | "ri" => walker.ask(Category::Windows, call.shown()),
        "format" | "format.com" if call.args.iter().any(|arg| arg.text.ends_with(':')) => {
            walker.never(Category::Disk, call.shown())
        }
        "diskpart" | "vssadmin" | "bcdedit" | "cipher" | "reg" | "schtasks" | "taskkill" | "net" | "wmic" => {
            walker.ask(Category::Windows, call.shown());
        }
        "powershell" | "pwsh" => {
            let runs = call.options().any(|arg| {
                let option = arg.text.to_lowercase();
                ["-e", "-c", "-f"].iter().any(|start| option.starts_with(start))
            });
            if runs || call.operands().next().is_some() || call.input.fed {
                walker.ask(Category::InlineCode, call.shown());
            }
        }
        "cmd" if slash("c") || slash("k") => {
            let text = call
                .args
                .iter()
                .filter(|arg| !arg.text.starts_with('/'))
                .map(|arg| arg.text.as_str())
                .collect::<Vec<_>>()
                .join(" ");
            walker.ask(Category::InlineCode, call.shown());
            walker.program_text("cmd", &text.replace('\\', "\\\\"));
        }
        _ => return false,
    }
    true
}
