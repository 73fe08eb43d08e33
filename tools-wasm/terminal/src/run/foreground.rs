//! Command lines that have no place in the foreground: they leave something behind that the host would end, or never end.

use super::{servers, words};

/// Programs whose purpose is to leave a process behind.
const DETACHERS: [&str; 3] = ["nohup", "disown", "setsid"];

/// Words before a command that change nothing about what it is.
const KEYWORDS: [&str; 10] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"];

/// Programs that run the command after them, with those of their options that take a value.
const WRAPPERS: [(&str, &[&str]); 8] = [
    ("sudo", &["-u", "-g", "-p", "-C", "-D", "-T", "--user", "--group", "--prompt", "--chdir"]),
    ("env", &["-u", "-C", "--unset", "--chdir"]),
    ("nice", &["-n", "--adjustment"]),
    ("command", &[]),
    ("exec", &["-a"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("npx", &["-p", "--package"]),
    ("bunx", &["-p", "--package"]),
];

/// Options with which a program only speaks of itself.
const ASKING: [&str; 4] = ["--help", "-h", "--version", "-v"];

/// Why this command line is not run in the foreground, and what to do instead.
pub(super) fn refusal(line: &str) -> Option<String> {
    let line = words::split(line);
    let why = |words: &Vec<String>| {
        let command = unwrapped(words);
        let program = name(command.first()?);
        if words.iter().any(|word| ASKING.contains(&word.as_str())) {
            None
        } else if DETACHERS.contains(&program) {
            Some(format!(
                "{program} would leave a process behind, which is ended with the command: pass the command without {program} and \
                 with background=true"
            ))
        } else {
            let server = servers::endless(command)?;
            Some(format!(
                "{server} does not end by itself: start it with background=true, and wait for it to be ready with \
                 watch_patterns or process"
            ))
        }
    };
    line.commands.iter().find_map(why).or_else(|| line.detaches.then(detached))
}

fn detached() -> String {
    "`&` would leave a process behind, which is ended with the command: pass the command without & and with background=true, and \
     what comes after it in a call of its own; quote an & that belongs to an argument"
        .into()
}

/// A program's name without its directory.
pub(super) fn name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

/// The command itself: without keywords, assignments and programs that only run it.
pub(super) fn unwrapped(words: &[String]) -> &[String] {
    let mut rest = words;
    while let [first, after @ ..] = rest {
        if KEYWORDS.contains(&first.as_str()) || is_assignment(first) {
            rest = after;
        } else if let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name(first)) {
            // Alone, or with nothing but options, it is the command itself.
            match from_first_argument(after, valued) {
                [] => break,
                command => rest = command,
            }
        } else {
            break;
        }
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The words from the first one on that is neither an option nor the value of one.
pub(super) fn from_first_argument<'a>(words: &'a [String], valued: &[&str]) -> &'a [String] {
    let mut rest = words;
    while let [first, after @ ..] = rest {
        rest = match after {
            _ if !first.starts_with('-') => break,
            [_value, after @ ..] if valued.contains(&first.as_str()) => after,
            _ => after,
        };
    }
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_leaves_a_process_behind_is_refused() {
        for (line, named) in [
            ("nohup ./server", "nohup"),
            ("cd a && /usr/bin/nohup make > log 2>&1 &", "nohup"),
            ("sudo -u x setsid make", "setsid"),
            ("disown", "disown"),
            ("A=b nice -n 5 nohup make", "nohup"),
            ("make &", "`&`"),
            ("make & sleep 1", "`&`"),
            ("(make &)", "`&`"),
        ] {
            let why = refusal(line).unwrap_or_default();
            assert!(why.starts_with(named) && why.contains("background=true"), "{line}: {why}");
        }
    }

    #[test]
    fn what_does_not_end_is_refused() {
        for line in [
            "npm start",
            "npm run dev",
            "npm --prefix web run serve",
            "npm run-script watch",
            "pnpm dev",
            "pnpm --filter app dev",
            "pnpm -C web run start",
            "yarn start",
            "yarn run serve",
            "bun run dev",
            "bun watch",
            "cd web && npm run dev",
            "PORT=3000 npm start",
            "npm start | head -5",
            "npm start > log 2>&1",
            "if true; then npm start; fi",
            "next dev",
            "npx next dev -p 4000",
            "vite",
            "vite dev",
            "vite serve",
            "vite --port 3000",
            "npx --yes vite",
            "npm exec vite",
            "yarn vite",
            "pnpm exec vite dev",
            "node_modules/.bin/vite",
            "nodemon app.js",
            "npx nodemon",
            "uvicorn main:app --reload",
            "/opt/venv/bin/uvicorn main:app",
            "python -m uvicorn main:app",
            "uv run uvicorn main:app",
            "poetry run gunicorn app",
            "gunicorn -w 4 app:app",
            "python -m http.server",
            "python3 -m http.server 8000",
            "python3.12 -u -m http.server",
            "docker compose up",
            "docker compose -f a.yml up --build web",
            "docker-compose up",
            "sudo docker compose up",
        ] {
            let why = refusal(line).unwrap_or_default();
            assert!(why.contains("does not end") && why.contains("background=true"), "{line}: {why}");
        }
    }

    #[test]
    fn what_ends_is_run() {
        for line in [
            "ls -la",
            "",
            "echo \"npm start\"",
            "echo 'nohup x &'",
            "grep -rn \"uvicorn\" .",
            "grep -rn uvicorn .",
            "git commit -m 'run npm start & wait'",
            "npm install nodemon",
            "npm i -D vite",
            "yarn add gunicorn",
            "pip install uvicorn gunicorn",
            "npm run build",
            "npm test",
            "npm run",
            "npm run start:check",
            "npm",
            "vite build",
            "npx vite build --mode production",
            "vite --config v.ts build",
            "vite preview --help",
            "vite --version",
            "vitest run",
            "next build",
            "next lint",
            "npm start --help",
            "nodemon -v",
            "uvicorn --version",
            "nohup --help",
            "python -m http.server --help",
            "python -m pytest",
            "python -c 'import http.server'",
            "python app.py -m http.server",
            "docker compose up -d",
            "docker compose up --detach web",
            "docker compose -f a.yml up -Vd",
            "docker compose up --wait",
            "docker compose up --abort-on-container-exit",
            "docker compose ps",
            "docker compose down",
            "docker ps",
            "docker run up",
            "timeout 5 npm start",
            "which nohup vite",
            "make 2>&1 | tail -3 && echo ok",
            "cat > start.sh <<'EOF'\nnohup npm start &\nEOF\nchmod +x start.sh",
            "sudo",
            "env",
            "command -v vite",
        ] {
            assert_eq!(refusal(line), None, "{line}");
        }
    }

    #[test]
    fn a_long_chain_of_runners_takes_no_stack() {
        assert_eq!(refusal(&"bun ".repeat(24_000)), None);
        assert!(refusal(&("yarn ".repeat(20_000) + "vite")).is_some());
    }

    proptest! {
        #[test]
        fn any_line_can_be_asked_about(line in "(npm|run|dev|docker|compose|up|sudo|-u|python|-m|vite|[a&|;'\" \n=-]){0,20}") {
            let _ = refusal(&line);
        }
    }
}
