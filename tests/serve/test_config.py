"""Settings: every source, and which of them wins."""

import re
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from postoffice.config import Settings, read_settings, slips
from postoffice.core.errors import BadSetting, ExtraMissing, NotSafe
from postoffice.serve.app import create_app
from postoffice.serve.build import build_office
from postoffice.serve.migrate import migrate

ROOT = Path(__file__).parents[2]


def test_the_more_particular_source_wins(tmp_path: Path) -> None:
    (tmp_path / "postoffice.toml").write_text("port = 1\nws_ping_interval = 1\nreceive = 1\nmax_attempts = 1\n")
    (tmp_path / ".env").write_text("POSTOFFICE_PORT=2\nWS_PING_INTERVAL=2\nPOSTOFFICE_RECEIVE=2\n")
    environ = {"POSTOFFICE_PORT": "3", "WS_PING_INTERVAL": "3"}
    settings = read_settings({"port": 4}, environ, tmp_path)
    assert (settings.port, settings.ws_ping_interval, settings.limits.receive, settings.limits.max_attempts) == (4, 3.0, 2, 1)


def test_a_flag_not_given_leaves_the_rest_alone(tmp_path: Path) -> None:
    assert read_settings({"port": None}, {"POSTOFFICE_PORT": "5"}, tmp_path).port == 5


def test_without_any_source_the_defaults_hold(tmp_path: Path) -> None:
    assert read_settings({}, {}, tmp_path) == Settings()


@pytest.mark.parametrize("name", ["DATABASE_URL", "POSTOFFICE_DATABASE"])
def test_the_database_has_two_names(tmp_path: Path, name: str) -> None:
    assert read_settings({}, {name: "postgresql+asyncpg://a/b"}, tmp_path).database == "postgresql+asyncpg://a/b"


def test_our_own_name_wins_over_the_other(tmp_path: Path) -> None:
    assert read_settings({}, {"DATABASE_URL": "theirs", "POSTOFFICE_DATABASE": "ours"}, tmp_path).database == "ours"


def test_an_empty_variable_says_nothing(tmp_path: Path) -> None:
    assert read_settings({}, {"DATABASE_URL": "", "POSTOFFICE_PORT": ""}, tmp_path) == Settings()


def test_durations_are_in_seconds(tmp_path: Path) -> None:
    (tmp_path / "postoffice.toml").write_text("retention = 86400\n")
    limits = read_settings({}, {"POSTOFFICE_VISIBILITY": "1.5"}, tmp_path).limits
    assert (limits.retention, limits.visibility) == (timedelta(days=1), timedelta(seconds=1.5))


@pytest.mark.parametrize(
    ("environ", "toml", "named"),
    [
        ({"POSTOFFICE_PORT": "many"}, "", "port"),
        ({"POSTOFFICE_VISIBILITY": "long"}, "", "visibility"),
        ({"POSTOFFICE_MAX_ATTEMPTS": "few"}, "", "max_attempts"),
        ({}, "prot = 1", "prot"),
        ({}, "port =", "config"),
        ({"POSTOFFICE_INBOX_SCHEMA": 'x"; --'}, "", "inbox_schema"),
        ({}, "[limits]\ndepth = 5", "limits"),
        ({"POSTOFFICE_VISIBILITY": "0"}, "", "visibility"),
        ({"POSTOFFICE_VISIBILITY": "-5"}, "", "visibility"),
        ({"POSTOFFICE_VISIBILITY": "1e13"}, "", "visibility"),
        ({"POSTOFFICE_VISIBILITY": "nan"}, "", "visibility"),
        ({"POSTOFFICE_VISIBILITY": "0.5"}, "", "visibility"),
        ({"POSTOFFICE_VISIBILITY": "43201"}, "", "visibility"),
        ({"POSTOFFICE_VISIBILITY_LEAST": "31"}, "", "visibility_least"),
        ({"POSTOFFICE_VISIBILITY_MOST": "299"}, "", "visibility_most"),
        ({"POSTOFFICE_ID_CHARS": "63"}, "", "id_chars"),
        ({"POSTOFFICE_NOTE_CHARS": "499"}, "", "note_chars"),
        ({"POSTOFFICE_CODE_LIFE": "1e12"}, "", "code_life"),
        ({"POSTOFFICE_WAIT": "-1"}, "", "wait"),
        ({"POSTOFFICE_WAIT": "241"}, "", "wait"),
        ({"POSTOFFICE_MAX_ATTEMPTS": "0"}, "", "max_attempts"),
        ({"POSTOFFICE_DEPTH": "-3"}, "", "depth"),
        ({"POSTOFFICE_BATCH": "0"}, "", "batch"),
        ({"POSTOFFICE_PAGE_MOST": "199"}, "", "page_most"),
        ({"POSTOFFICE_MESSAGE_BYTES": "0"}, "", "message_bytes"),
        ({"POSTOFFICE_RECEIVE": "101"}, "", "receive"),
        ({"POSTOFFICE_TTL": "11"}, "", "ttl"),
        ({"POSTOFFICE_SENDS_PER_MINUTE": "-1"}, "", "sends_per_minute"),
        ({}, "retention = -1", "retention"),
        ({}, "ledger_key = 42", "ledger_key"),
        ({}, "data = 5", "data"),
        ({}, "priority = 6", "priority"),
        ({"WS_PING_INTERVAL": "-1"}, "", "ws_ping_interval"),
        ({"POSTOFFICE_WS_PING_TIMEOUT": "nan"}, "", "ws_ping_timeout"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, environ: dict[str, str], toml: str, named: str) -> None:
    (tmp_path / "postoffice.toml").write_text(toml)
    with pytest.raises(BadSetting) as caught:
        read_settings({}, environ, tmp_path)
    assert str(caught.value.facts["name"]).split(" (")[0] == named


def test_a_file_that_some_editors_begin_with_a_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "postoffice.toml").write_text("port = 9001", encoding="utf-8-sig")
    (tmp_path / ".env").write_text("POSTOFFICE_HOST=127.0.0.9", encoding="utf-8-sig")
    settings = read_settings({}, {}, tmp_path)
    assert (settings.host, settings.port) == ("127.0.0.9", 9001)


@pytest.mark.parametrize("file", [".env", "postoffice.toml"])
def test_a_file_that_is_no_text_is_named(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_bytes('host = "caf\xe9"'.encode("latin-1"))
    with pytest.raises(BadSetting, match=file):
        read_settings({}, {}, tmp_path)


@pytest.mark.parametrize("source", ["flag", "environment", ".env", "TOML"])
def test_a_path_may_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "postoffice.toml").write_text('data = "~/mail"\n' if source == "TOML" else "")
    (tmp_path / ".env").write_text("POSTOFFICE_DATA=~/mail\n" if source == ".env" else "")
    environ = {"POSTOFFICE_DATA": "~/mail"} if source == "environment" else {}
    flags = {"data": Path("~/mail")} if source == "flag" else {}
    assert read_settings(flags, environ, tmp_path).data == tmp_path / "home" / "mail"


def test_a_default_follows_the_bounds_that_were_set(tmp_path: Path) -> None:
    environ = {"POSTOFFICE_BATCH": "5", "POSTOFFICE_WAIT_MOST": "0", "POSTOFFICE_TTL_MOST": "0"}
    limits = read_settings({}, environ, tmp_path).limits
    assert (limits.receive, limits.wait, limits.ttl) == (5, timedelta(0), 0)


@pytest.mark.parametrize("source", ["environment", ".env"])
def test_the_file_may_be_named_in_either(tmp_path: Path, source: str) -> None:
    (tmp_path / "other.toml").write_text("port = 7\n")
    environ = {"POSTOFFICE_CONFIG": str(tmp_path / "other.toml")}
    if source == ".env":
        (tmp_path / ".env").write_text(f"POSTOFFICE_CONFIG={tmp_path}/other.toml\n")
        environ = {"POSTOFFICE_CONFIG": ""}
    assert read_settings({}, environ, tmp_path).port == 7


def test_other_variables_of_ours_pass_by(tmp_path: Path) -> None:
    assert read_settings({}, {"POSTOFFICE_SERVER": "http://127.0.0.1:8787", "SECRET_KEY": "x"}, tmp_path) == Settings()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("POSTOFFICE_PROT", "did you mean POSTOFFICE_PORT?"),
        ("POSTOFFICE_DATBASE", "did you mean POSTOFFICE_DATABASE?"),
        ("POSTOFFICE_SEVER", "did you mean POSTOFFICE_SERVER?"),
        ("POSTOFFICE_max_atempts", "did you mean POSTOFFICE_MAX_ATTEMPTS?"),
        ("POSTOFFICE_WEATHER", "docs/settings.md has them all"),
        ("POSTOFFICE_XYZZY", "docs/settings.md has them all"),
    ],
)
def test_a_variable_that_is_no_setting_is_told_with_the_nearest_that_is(tmp_path: Path, name: str, hint: str) -> None:
    told = f"is not a setting of postoffice; {hint}"
    (slip,) = read_settings({}, {name: "1"}, tmp_path).slips
    assert slip.startswith(f"{name} {told}")
    (tmp_path / ".env").write_text(f"{name}=1\n")
    (slip,) = read_settings({}, {}, tmp_path).slips
    assert slip.startswith(f"{name} in .env {told}")
    (slip,) = read_settings({}, {name: "1"}, tmp_path).slips
    assert slip.startswith(f"{name} {told}")


def test_a_key_in_toml_that_is_no_setting_is_refused_with_the_nearest_that_is(tmp_path: Path) -> None:
    for key, hint in (("prot", "the nearest is port"), ("xyzzy", "docs/settings.md has them all"), ("slips", "none of that name")):
        (tmp_path / "postoffice.toml").write_text(f"{key} = 1\n")
        with pytest.raises(BadSetting, match=hint):
            read_settings({}, {}, tmp_path)


def test_a_setting_in_small_letters_is_one(tmp_path: Path) -> None:
    settings = read_settings({}, {"POSTOFFICE_port": "5"}, tmp_path)
    assert (settings.port, settings.slips) == (5, ())


def test_no_variable_that_anything_of_ours_goes_by_is_taken_for_a_slip() -> None:
    places = ("src", "docs", "deploy", "packages", "bench", "tools", "migrations")
    files = [
        ROOT / "Makefile",
        ROOT / "README.md",
        *(path for place in places for path in (ROOT / place).rglob("*") if path.is_file() and path.suffix != ".pyc"),
    ]
    names = {name for path in files for name in _variables(path.read_bytes().decode(errors="ignore"))}
    for path in (ROOT / "tests").rglob("*.py"):  # which write slips down, too: only what they read
        names |= {name for line in path.read_text().splitlines() if "os.environ" in line for name in _variables(line)}
    assert {"POSTOFFICE_PORT", "POSTOFFICE_KEY", "POSTOFFICE_SUBJECT", "POSTOFFICE_EXAMPLES"} <= names
    assert slips(names) == {}


def _variables(text: str) -> set[str]:
    return set(re.findall(r"POSTOFFICE_[A-Z][A-Z_]*", text))


@pytest.mark.parametrize("command", [build_office, migrate])
def test_postgresql_without_its_extra_is_told_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, command: Callable[[Settings], object]
) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'postoffice\[postgres\]'"):
        command(Settings(database="postgresql://a/b"))


@pytest.mark.parametrize("address", ["collector:4318", "http://", "http://:4318", "http://host:99999", "http://[::1", "http://a b"])
def test_a_collector_that_no_span_could_ever_reach_is_refused(address: str) -> None:
    with pytest.raises(BadSetting, match="like http://host:4318"):
        build_office(Settings(traces=address))


@pytest.mark.parametrize("host", ["mail.example:443", "https://mail.example", "*.example", "*", "[::1]", ""])
def test_a_name_that_nobody_can_call_by_is_refused(host: str) -> None:
    with pytest.raises(BadSetting, match="The setting allowed_hosts is wrong"):
        create_app(Settings(allowed_hosts=(host,)))


@pytest.mark.parametrize("origin", ["*", "app.example", "https://app.example/path", "https://*.example", ""])
def test_an_origin_that_no_page_has_is_refused(origin: str) -> None:
    with pytest.raises(BadSetting, match="The setting cors_origins is wrong"):
        create_app(Settings(cors_origins=(origin,)))


@pytest.mark.parametrize("proxy", ["nginx", "10.0.0.7/24", "10.0.0.0/33", "10.0.0.7:80", "http://10.0.0.7", "[::1]"])
def test_a_proxy_that_nobody_can_be_is_refused(proxy: str) -> None:
    with pytest.raises(BadSetting, match="The setting trusted_proxies is wrong"):
        create_app(Settings(trusted_proxies=("10.0.0.7", proxy)))


@pytest.mark.parametrize("proxies", [("10.0.0.7", "10.0.0.0/24"), ("::1", "fd00::/8"), ("*",)])
def test_a_proxy_is_an_address_or_one_of_a_network(proxies: tuple[str, ...]) -> None:
    assert create_app(Settings(trusted_proxies=proxies))


def test_every_name_and_origin_that_somebody_comes_by_will_do() -> None:
    hosts = ("mail", "Mail.Example.com", "my_host", "10.0.0.1", "2001:db8::1")
    origins = ("https://App.Example", "https://app.example/", "http://localhost:3000", "http://[::1]:3000", "null", "tauri://localhost")
    assert create_app(Settings(allowed_hosts=hosts, cors_origins=origins, open_to_others=True))


def test_hints_between_replicas_are_refused_where_there_can_be_only_one_office(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="The setting wake is wrong"):
        build_office(Settings(data=tmp_path, wake="nats://127.0.0.1:4222"))


@pytest.mark.parametrize("command", [build_office, migrate])
@pytest.mark.parametrize(
    "address",
    [
        "mysql://a/b",
        "sqlite:///mail.db",
        "a:secret@b/c",
        "postgresql:/a/b",
        "postgresql://a:b/c",
        "postgresql://[a/b",
        "postgresql://a:secret/5@b/c",
    ],
)
def test_what_is_no_postgresql_address_is_refused_and_not_repeated(command: Callable[[Settings], object], address: str) -> None:
    with pytest.raises(BadSetting, match="The setting database is wrong") as caught:
        command(Settings(database=address))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["postgresql://a:secret@127.0.0.1:70000/b", "postgresql://a:secret@../b", "postgresql://a:secret@127.0.0.1/b?sslmode=no"]
)
async def test_an_address_that_no_postgresql_can_have_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(BadSetting, match="The setting database is wrong") as caught:
        async with build_office(Settings(database=address)):
            pass
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://",
        "postgres://a",
        "postgresql+asyncpg://a:b@c:1/d",
        "postgresql://a@b,c:1,[::1]:2/d?target_session_attrs=read-write",
        "postgresql://a:%2F@/d?host=/tmp",
    ],
)
def test_every_way_to_write_a_postgresql_address_will_do(address: str) -> None:
    assert build_office(Settings(database=address))


@pytest.mark.parametrize("line", ["POSTOFFICE_CORS_ORIGINS=https://evil.example", "POSTOFFICE_ALLOWED_HOSTS=evil.example"])
def test_a_file_in_the_working_directory_lets_nobody_into_an_open_office(tmp_path: Path, line: str) -> None:
    file = tmp_path / ".env"
    file.write_text(line)
    settings = read_settings({}, {}, tmp_path)
    with pytest.raises(NotSafe, match=re.escape(str(file))):
        create_app(settings)
    assert create_app(read_settings({"auth": "keys"}, {}, tmp_path))
    assert create_app(read_settings({"open_to_others": True}, {}, tmp_path))
    file.write_text(f"{line}\nPOSTOFFICE_OPEN_TO_OTHERS=true")
    with pytest.raises(BadSetting, match="open_to_others"):
        read_settings({}, {}, tmp_path)


def test_what_a_file_says_on_who_may_call_is_told_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "postoffice.toml").write_text('auth = "open"\nport = 1\n')
    (tmp_path / ".env").write_text("POSTOFFICE_TRUSTED_PROXIES=10.0.0.1\nPOSTOFFICE_HOST=127.0.0.2")
    assert read_settings({"host": "127.0.0.1"}, {}, tmp_path).widened == (
        f"auth is set in {tmp_path / 'postoffice.toml'}: open",
        f"trusted_proxies is set in {tmp_path / '.env'}: 10.0.0.1",
    )
