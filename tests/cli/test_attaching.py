"""Files are sent and saved at the command."""

from pathlib import Path

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


def test_a_file_is_sent_listed_and_saved(home: Home, tmp_path: Path) -> None:
    alice, bob = home.names("alice", "bob")
    report = tmp_path / "report.pdf"
    report.write_bytes(b"%PDF" * 1000)
    sent = home.ask("send", "--to", bob, "Please look", "--file", str(report), "--file", str(report), "--as", alice)
    id = sent["message_id"]
    inbox = home.ask("inbox", "--as", bob)["sessions"]
    assert "report.pdf, 4000 bytes" in plain(seen(home, "read", inbox[0]["session_id"], "--peek", "--as", bob))
    saved = home.ask("save", id[-8:], "--to", str(tmp_path), "--as", bob)["saved"]
    assert [Path(path).name for path in saved] == ["report (2).pdf", "report (3).pdf"]
    assert all(Path(path).read_bytes() == report.read_bytes() for path in saved)
    assert "Saved" in plain(seen(home, "save", id, "--to", str(tmp_path), "--name", "report.pdf", "--as", alice))
    assert "no attachment" in home.refused(66, "save", id, "--name", "other.pdf", "--as", bob)
    assert "no folder" in home.refused(65, "save", id, "--to", str(tmp_path / "no"), "--as", bob)
    assert "no file" in home.refused(65, "send", "--to", bob, "x", "--file", str(tmp_path / "no"), "--as", alice)


def test_a_file_goes_without_a_word_with_an_answer_and_with_a_result(home: Home, tmp_path: Path) -> None:
    alice, bob = home.names("alice", "bob")
    (tmp_path / "out.txt").write_text("done")
    file = str(tmp_path / "out.txt")
    brought = home.ask("upload", file, "--as", alice)["attachments"]
    assert [(one["name"], one["type"], one["size"]) for one in brought] == [("out.txt", "text/plain", 4)]
    letter = home.ask("send", "--to", bob, "--file", file, "--as", alice)["message_id"]
    home.ask("reply", letter, "Here is mine", "--file", file, "--as", bob)
    task = home.ask("send", "--to", bob, "--task", "Do it", "--as", alice)["message_id"]
    home.ask("task", "complete", task, "see there", "--file", file, "--as", bob)
    carried = [home.ask("recv", "--as", alice)["attachments"] for _ in range(2)]
    assert carried == [brought, brought]
