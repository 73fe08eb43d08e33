//! Programs that serve or watch until somebody ends them.

use super::foreground::{from_first_argument, name, unwrapped};

/// Scripts of a package that by custom do not end.
const SCRIPTS: [&str; 4] = ["dev", "start", "serve", "watch"];

/// Options of package managers that take a value.
const PACKAGE_OPTIONS: [&str; 9] =
    ["--prefix", "-C", "--dir", "--cwd", "-F", "--filter", "-w", "--workspace", "--loglevel"];

/// Options of docker and its compose that take a value, up to the subcommand.
const COMPOSE_OPTIONS: [&str; 11] = [
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--project-directory",
    "--profile",
    "--env-file",
    "-c",
    "--context",
    "-H",
    "--host",
];

/// Options with which `docker compose up` comes to an end, beside `-d`.
const COMPOSE_ENDS: [&str; 6] =
    ["--detach", "--wait", "--no-start", "--dry-run", "--abort-on-container-exit", "--exit-code-from"];

/// What vite does and then ends. A preview is left to the timeout: it is a look at what was built.
const VITE_ENDS: [&str; 3] = ["build", "optimize", "preview"];

/// What a command comes to.
enum Reading<'a> {
    Ends,
    Endless(String),
    /// Another one.
    Runs(&'a [String]),
}

/// What in this command does not end by itself, if anything.
pub(super) fn endless(command: &[String]) -> Option<String> {
    let mut command = command;
    // Each step leaves fewer words, so it ends; and a loop takes no stack, of which a guest has little.
    loop {
        match read(command) {
            Reading::Ends => return None,
            Reading::Endless(server) => return Some(server),
            Reading::Runs(inner) => command = unwrapped(inner),
        }
    }
}

fn read(command: &[String]) -> Reading<'_> {
    let Some((program, arguments)) = command.split_first() else { return Reading::Ends };
    let program = name(program);
    match (program, arguments) {
        ("npm" | "pnpm" | "yarn" | "bun", _) => script(program, arguments),
        ("uv" | "poetry" | "pipenv", [run, command @ ..]) if run == "run" => Reading::Runs(command),
        ("next", [dev, ..]) if dev == "dev" => Reading::Endless("next dev".into()),
        ("vite", _) if !arguments.iter().any(|word| VITE_ENDS.contains(&word.as_str())) => {
            Reading::Endless("vite".into())
        }
        ("nodemon" | "uvicorn" | "gunicorn", _) => Reading::Endless(program.into()),
        ("docker", _) => match from_first_argument(arguments, &COMPOSE_OPTIONS) {
            [compose, arguments @ ..] if compose == "compose" => compose_up("docker compose", arguments),
            _ => Reading::Ends,
        },
        ("docker-compose", _) => compose_up(program, arguments),
        _ if program.starts_with("python") => module(program, arguments),
        _ => Reading::Ends,
    }
}

/// A package manager runs scripts, and all but npm the package's programs by their mere name too.
fn script<'a>(manager: &str, arguments: &'a [String]) -> Reading<'a> {
    let arguments = from_first_argument(arguments, &PACKAGE_OPTIONS);
    let rest = match arguments {
        [verb, rest @ ..] if ["run", "run-script"].contains(&verb.as_str()) => rest,
        [verb, rest @ ..] if ["exec", "dlx", "x"].contains(&verb.as_str()) => return Reading::Runs(rest),
        _ => arguments,
    };
    match from_first_argument(rest, &PACKAGE_OPTIONS) {
        [script, ..] if SCRIPTS.contains(&script.as_str()) => Reading::Endless(format!("{manager} {script}")),
        rest if manager != "npm" => Reading::Runs(rest),
        _ => Reading::Ends,
    }
}

fn compose_up<'a>(program: &str, arguments: &'a [String]) -> Reading<'a> {
    let ends = |option: &String| {
        let letters = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|letters| letters.contains('d')) || COMPOSE_ENDS.iter().any(|end| option.starts_with(end))
    };
    match from_first_argument(arguments, &COMPOSE_OPTIONS) {
        [up, options @ ..] if up == "up" && !options.iter().any(ends) => Reading::Endless(format!("{program} up")),
        _ => Reading::Ends,
    }
}

/// `python -m http.server`, and servers that are run as modules.
fn module<'a>(python: &str, arguments: &'a [String]) -> Reading<'a> {
    // After a script or `-c`, an `-m` is an argument of that.
    let options = arguments.iter().take_while(|word| word.starts_with('-') && !["-m", "-c"].contains(&word.as_str()));
    match arguments.get(options.count()..) {
        Some([m, module, ..]) if m == "-m" && module == "http.server" => {
            Reading::Endless(format!("{python} -m http.server"))
        }
        Some([m, module @ ..]) if m == "-m" => Reading::Runs(module),
        _ => Reading::Ends,
    }
}
