"""The owner's key: made once, known again, and never brought back once it was taken away."""

from pathlib import Path

import pytest

from postoffice.core.agent import new_key
from postoffice.core.errors import BadKey, BadSetting
from postoffice.office import PostOffice
from postoffice.serve import build
from postoffice.serve.build import ensure_owner_key


async def test_a_start_that_broke_off_after_writing_the_file_is_made_good(office: PostOffice, tmp_path: Path) -> None:
    key = (await ensure_owner_key(office, tmp_path / "one")).read_text().strip()
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "owner.key").write_text("amb_" + "1" * 64)
    await ensure_owner_key(office, tmp_path / "two")
    assert (await office.identify(key=key)).owner
    assert (await office.identify(key="amb_" + "1" * 64)).owner


async def test_replicas_that_share_a_folder_and_start_together_have_one_key(
    office: PostOffice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, theirs, half = tmp_path / "shared" / "owner.key", "amb_" + "2" * 64, []

    def slower() -> str:
        half.append(kept.exists())  # the other would find no key in it
        kept.write_text(theirs)
        return new_key()

    monkeypatch.setattr(build, "new_key", slower)
    await ensure_owner_key(office, kept.parent)
    assert (half, kept.read_text(), list(kept.parent.iterdir())) == ([False], theirs, [kept])
    assert (await office.identify(key=theirs)).owner


async def test_one_that_was_taken_back_stays_so(office: PostOffice, tmp_path: Path) -> None:
    key = (await ensure_owner_key(office, tmp_path)).read_text().strip()
    await office.revoke_keys(office.owner(), of="owner")
    await ensure_owner_key(office, tmp_path)
    with pytest.raises(BadKey):
        await office.identify(key=key)


async def test_a_file_that_holds_no_key_is_told_of(office: PostOffice, tmp_path: Path) -> None:
    (tmp_path / "owner.key").write_text("")
    with pytest.raises(BadSetting, match="delete it"):
        await ensure_owner_key(office, tmp_path)
