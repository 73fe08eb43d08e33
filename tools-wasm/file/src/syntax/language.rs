//! Which files are parsed, by their names.

/// What a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Json,
    /// JSON in which its readers allow comments.
    Commented,
    Yaml,
    Toml,
}

impl Language {
    /// Nothing for a file that is not parsed.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.to_ascii_lowercase();
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if name == ".eslintrc" {
            return Some(Self::Commented);
        }
        match name.rsplit_once('.')?.1 {
            "jsonc" => Some(Self::Commented),
            "json" if allows_comments(directory, name) => Some(Self::Commented),
            "json" | "ipynb" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json | Self::Commented => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        }
    }
}

fn allows_comments(directory: &str, name: &str) -> bool {
    let starts = ["tsconfig.", "jsconfig.", ".eslintrc.", "devcontainer."];
    starts.iter().any(|start| name.starts_with(start)) || directory.rsplit('/').next() == Some(".vscode")
}
