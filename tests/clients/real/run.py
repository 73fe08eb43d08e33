#!/usr/bin/env python3
"""Connects real programs to target/release/hermes-host, as `--print-config` says, and prints what each of them did.

    run.py [--programs DIR] [CLIENT...]     claude-code, codex, gemini, opencode, hermes, inspector; all unless some are named

The programs are installed into DIR (target/real-clients; 1.5 GB) from npm and PyPI unless they are there. No model is reachable: model.mjs is a
stand-in on loopback that calls the tools of a script. Every client has a home and a project of its own, and starts in the project; over
stdio it starts the host itself, over HTTP it connects to one. The exit code is 1 where a client did not do what EXPECTED says.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HOST = ROOT / "target/release/hermes-host"
HERMES_AGENT = "hermes-agent[mcp]==0.19.0"

# A first start compiles nothing (`list` did that), but Node and Python programs take their time on a busy machine.
PATIENCE = 180

NOTES = 'first "line"\n\tsecond line\n'
SHOWN = '1|first "line"\n2|\tsecond line'

# What the stand-in calls: a file, the folder that commands run in, and a tool whose calls need a person's approval.
SCRIPT = [
    {"tool": "read_file", "arguments": {"path": "notes.txt"}},
    {"tool": "terminal", "arguments": {"command": "pwd"}},
    {"tool": "convert_units", "arguments": {"value": 5, "from": "km", "to": "m"}},
]

# How each answers the question about convert_units where nobody sits at it. Hermes Agent reads "o" (once) from its stdin.
# Gemini CLI 0.61 takes the empty first event of a stream for an error and leaves, so over HTTP it has no tools: see docs/clients.md.
NOT_OVER_HTTP = ["gemini"]
EXPECTED = {
    "claude-code": "closed without an answer",
    "codex": "refused",
    "gemini": "nobody to ask",
    "opencode": "nobody to ask",
    "hermes": "5000",
}


def run(command, cwd, env, stdin=""):
    try:
        done = subprocess.run(
            command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as why:
        return f"no end within {PATIENCE} s: {why.stdout} {why.stderr}"
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.stdout + done.stderr)


def install(programs):
    if not (programs / "node_modules/.bin/claude").exists():
        programs.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "package.json", programs)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=programs, check=True, stdout=sys.stderr)
    if not (programs / "hv/bin/hermes").exists():
        subprocess.run([sys.executable, "-m", "venv", programs / "hv"], check=True)
        subprocess.run([programs / "hv/bin/pip", "install", "-q", HERMES_AGENT], check=True, stdout=sys.stderr)


class Served:
    """A process that says its address on the first line that has one."""

    def __init__(self, command, **more):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, **more
        )
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                self.url = found.group()
                return
        raise RuntimeError(f"{command} ended without an address")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()


class Trial:
    """One client, one transport."""

    def __init__(self, client, programs, root):
        self.client, self.root = client, root
        self.bin = programs / "node_modules/.bin"
        self.python = programs / "hv/bin"
        self.home, self.project, self.host_home = root / "home", root / "project", root / "host"
        for folder in (self.home, self.project, self.host_home):
            folder.mkdir()
        (self.project / "notes.txt").write_text(NOTES)
        (self.host_home / "hermes.toml").write_text('[policy]\nconvert_units = "ask"\n')
        (self.host_home / "hermes.toml").chmod(0o600)
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "SSL_CERT_FILE") if name in os.environ}
        self.env = {**keep, "HOME": str(self.home), "NO_COLOR": "1"}

    def host(self, *words):
        command = [HOST, *words, "--home", self.host_home]
        done = subprocess.run(command, cwd=self.project, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stderr}")
        return done.stdout

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def configure(self, model, http):
        """Puts what --print-config prints where the client reads it. Answers the version, `mcp list` and the chat."""
        options = ["--http", http] if http else []
        name = "claude-code" if self.client == "inspector" else self.client
        text = self.host("run", "--print-config", name, *options)
        if self.client == "claude-code":
            self.write(self.project / ".mcp.json", text)
            # As if a person had approved the project's servers, which is what Claude Code asks for before it starts them.
            self.write(self.project / ".claude/settings.local.json", '{"enableAllProjectMcpServers": true}')
            self.env |= {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "x", "DISABLE_AUTOUPDATER": "1"}
            self.env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
            claude = str(self.bin / "claude")
            chat = [claude, "-p", "go", "--mcp-config", ".mcp.json", "--allowedTools", "mcp__hermes-host"]
            return [claude, "--version"], [claude, "mcp", "list"], chat, ""
        if self.client == "codex":
            provider = f'[model_providers.s]\nname = "s"\nbase_url = "{model}/v1"\nwire_api = "responses"\n'
            head = f'model = "stand-in"\nmodel_provider = "s"\n{provider}'
            self.write(self.home / ".codex/config.toml", head + text)
            codex = str(self.bin / "codex")
            return [codex, "--version"], [codex, "mcp", "list"], [codex, "exec", "--skip-git-repo-check", "go"], ""
        if self.client == "gemini":
            whole = json.loads(text) | {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            whole |= {"privacy": {"usageStatisticsEnabled": False}}
            self.write(self.home / ".gemini/settings.json", json.dumps(whole))
            trusted = json.dumps({str(self.project): "TRUST_FOLDER"})
            self.write(self.home / ".gemini/trustedFolders.json", trusted)
            self.env |= {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": model}
            gemini = str(self.bin / "gemini")
            chat = [gemini, "-p", "go", "--yolo", "-m", "gemini-2.5-flash"]
            return [gemini, "--version"], [gemini, "mcp", "list"], chat, ""
        if self.client == "opencode":
            models = {"npm": "@ai-sdk/openai-compatible", "name": "s", "models": {"stand-in": {"name": "stand-in"}}}
            models["options"] = {"baseURL": f"{model}/v1", "apiKey": "x"}
            whole = json.loads(text) | {"provider": {"s": models}, "model": "s/stand-in", "small_model": "s/stand-in"}
            self.write(self.home / ".config/opencode/opencode.json", json.dumps(whole))
            self.env |= {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
            opencode = str(self.bin / "opencode")
            return [opencode, "--version"], [opencode, "mcp", "list"], [opencode, "run", "go"], ""
        if self.client == "hermes":
            head = f"model:\n  default: stand-in\n  provider: custom\n  base_url: {model}/v1\n  api_key: x\n"
            self.write(self.home / ".hermes/config.yaml", head + text)
            hermes = str(self.python / "hermes")
            chat = [hermes, "chat", "-Q", "-q", "go"]
            return [hermes, "--version"], [hermes, "mcp", "test", "hermes-host"], chat, "o\n"
        self.write(self.project / "inspector.json", text)
        cli = [str(self.bin / "mcp-inspector"), "--cli", "--config", "inspector.json", "--server", "hermes-host"]
        call = ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=notes.txt"]
        version = ["node", "-p", f"require('{self.bin.parent}/@modelcontextprotocol/inspector/package.json').version"]
        return version, [*cli, "--method", "tools/list"], [*cli, *call], ""

    def forwarded(self, log):
        """The results of tools in the last request, each as the text that the model would read."""

        def texts(value):
            if isinstance(value, str):
                return [value]
            if isinstance(value, list):
                return [text for item in value for text in texts(item)]
            if isinstance(value, dict):
                keys = ("content", "output", "error", "text", "functionResponse", "response")
                return [text for key in keys if key in value for text in texts(value[key])]
            return []

        lines = [json.loads(line) for line in log.read_text().splitlines()]
        last = next((line["results"] for line in reversed(lines) if line.get("results")), [])
        tools = max((line.get("tools", []) for line in lines), key=len, default=[])
        return ["\n".join(texts(result)) for result in last], [name for name in tools if "hermes" in name]

    def go(self, http):
        self.host("list")
        script, log = self.root / "script.json", self.root / "model.log"
        script.write_text(json.dumps(SCRIPT))
        log.touch()
        with Served(["node", HERE / "model.mjs", script, log]) as model:
            version, listing, chat, stdin = self.configure(model.url, http)
            row = {"client": self.client, "over": "http" if http else "stdio"}
            row["version"] = run(version, self.project, self.env).strip().splitlines()[0]
            listed = run(listing, self.project, self.env)
            said = run(chat, self.project, self.env, stdin)
        results, tools = self.forwarded(log)
        if self.client == "inspector":
            row |= {"connects": '"read_file"' in listed, "calls": SHOWN in said.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')}
            row["structured copy"] = "structuredContent" in said
            row["ok"] = row["connects"] and row["calls"] and not row["structured copy"]
        else:
            ask = results[2] if len(results) > 2 else ""
            row |= {"connects": bool(re.search("connected|enabled|✓", listed, re.IGNORECASE)), "lists": len(tools)}
            # Hermes Agent puts every result into JSON of its own.
            row["read_file"] = results[0] if results else ""
            row["calls"] = SHOWN in row["read_file"] or json.dumps(SHOWN)[1:-1] in row["read_file"]
            # In the output as well as in the header, which names the folder also where the command could not run.
            ran = results[1] if len(results) > 1 else ""
            row["in the project"] = "exit_code: 0" in ran and ran.count(str(self.project.resolve())) > 1
            row["answer"] = ask
            row["ok"] = row["connects"] and row["calls"] and EXPECTED[self.client] in ask and row["in the project"]
        if not row["ok"]:
            row |= {"list said": listed[-2000:], "chat said": said[-4000:]}
        return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=Path, default=ROOT / "target/real-clients")
    parser.add_argument("clients", nargs="*", default=[*EXPECTED, "inspector"])
    arguments = parser.parse_args()
    install(arguments.programs)
    failed = []
    for client in arguments.clients:
        # The inspector reads the configuration of a client that starts its servers.
        for over_http in (False,) if client == "inspector" else (False, True):
            # Not below /tmp: Codex keeps no helpers there.
            with tempfile.TemporaryDirectory(dir=ROOT / "target") as root:
                trial = Trial(client, arguments.programs.resolve(), Path(root))
                if over_http:
                    address = "127.0.0.1:7499"
                    command = [HOST, "run", "--http", address, "--home", trial.host_home, "--workspace", trial.project]
                    with Served(command, env=trial.env):
                        row = trial.go(address)
                else:
                    row = trial.go(None)
            print(json.dumps(row, ensure_ascii=False, indent=1), flush=True)
            if not row["ok"] and not (over_http and client in NOT_OVER_HTTP):
                failed.append(f"{client} over {row['over']}")
    print(f"failed: {', '.join(failed)}" if failed else "all of them did what was expected", file=sys.stderr)
    return 1 if failed else 0


sys.exit(main())
