"""A runner as a service that survives a reboot: a systemd unit or a launchd agent of the user."""

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from postoffice.cli.command import Options
from postoffice.core.errors import BadSetting
from postoffice.core.names import check_name

_PASSED_ON = ("PATH", "POSTOFFICE_SERVER", "POSTOFFICE_CREDENTIALS", "POSTOFFICE_DATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
"""The variables that the service needs. None holds a key, as the service uses the one kept for the agent."""


def change_service(options: Options) -> None:
    """Install and start the service, or stop and remove it."""
    name = f"postoffice-run-{check_name(options['runs']).lower()}"
    path, begin, end = _place(name)
    if options["uninstall"]:
        _do(end)
        path.unlink(missing_ok=True)
        print(f"{name} is gone.")
        return
    words = _words(options)
    folder = str(Path(options["cwd"] or ".").resolve())
    environment = {variable: os.environ[variable] for variable in _PASSED_ON if os.environ.get(variable)}
    path.parent.mkdir(parents=True, exist_ok=True)
    if sys.platform == "darwin":
        path.write_bytes(launch_agent(name, words, folder, environment))
    else:
        path.write_text(unit(options["runs"], words, folder, environment))
    print(f"{path} is written: {options['runs']}'s runner, in {folder}.")
    if _do(begin):
        print(f"It is running, and begins with each login. End it: postoffice run {options['runs']} --uninstall")
        if sys.platform != "darwin":
            print("To have it run while you are not logged in, too: loginctl enable-linger")
    else:
        print(f"Start it: {' && '.join(' '.join(command) for command in begin)}")


def _place(name: str) -> tuple[Path, list[list[str]], list[list[str]]]:
    """The path of its file, and the commands that start and stop it."""
    if sys.platform == "darwin":
        path = Path.home() / "Library" / "LaunchAgents" / f"{name}.plist"
        return path, [["launchctl", "load", "-w", str(path)]], [["launchctl", "unload", "-w", str(path)]]
    if not sys.platform.startswith("linux"):
        raise BadSetting(name="--install", why="there is neither systemd nor launchd here; let your own system start `postoffice run`")
    path = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user" / f"{name}.service"
    control = ["systemctl", "--user"]
    return path, [[*control, "daemon-reload"], [*control, "enable", "--now", path.name]], [[*control, "disable", "--now", path.name]]


def _do(commands: Sequence[Sequence[str]]) -> bool:
    """Run these commands; False if one failed."""
    return all(
        shutil.which(command[0]) is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603
        for command in commands
    )


def _words(options: Options) -> list[str]:
    """The same command line without the installing options."""
    words = [sys.executable, "-m", "postoffice", "run", options["runs"]]
    for flag in ("with", "jobs", "timeout", "server"):
        value = options["preset" if flag == "with" else flag]
        words += [] if value is None else [f"--{flag}", str(value)]
    for name in options["env"]:
        words += ["--env", name]
    return words + (["--", *options["words"]] if options["words"] else [])


def unit(agent: str, words: Sequence[str], folder: str, environment: Mapping[str, str]) -> str:
    """A systemd unit. Other variables that the command needs, such as a model's key, go into the file it names."""
    lines = [
        "[Unit]",
        f"Description=Postoffice: answers the mail of {agent}",
        "After=network-online.target",
        "",
        "[Service]",
        f"ExecStart={' '.join(_quoted(word).replace('$', '$$') for word in words)}",
        f"WorkingDirectory={folder.replace('%', '%%')}",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in environment.items()),
        f"EnvironmentFile=-%h/.config/postoffice/run-{agent.lower()}.env",
        "Restart=always",
        "RestartSec=5",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def _quoted(word: str) -> str:
    """One word, escaped so that systemd replaces nothing in it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def launch_agent(name: str, words: Sequence[str], folder: str, environment: Mapping[str, str]) -> bytes:
    """A launchd agent."""
    log = str(Path.home() / "Library" / "Logs" / f"{name}.log")
    return plistlib.dumps(
        {
            "Label": name,
            "ProgramArguments": list(words),
            "WorkingDirectory": folder,
            "EnvironmentVariables": dict(environment),
            "RunAtLoad": True,
            "KeepAlive": True,
            "StandardErrorPath": log,
        }
    )
