"""The commands about windows, and machines' keys."""

import asyncio

from postoffice.client.windows import Windows
from tests.cli.home import Home


async def open_one(url: str, folder: str, key: str | None = None) -> str:
    async with Windows(url, key=key) as windows:
        opened = await windows.open(client="codex", process=4711, started=folder, folder=folder, machine="laptop", ring="queue")
    return str(opened["agent"])


class TestWindows:
    def test_open_windows_are_shown_with_their_folder_to_the_owner(self, home: Home) -> None:
        (shop,) = home.names("shop")
        assert asyncio.run(open_one(home.office.url, f"/home/ann/{shop}")) == shop
        (seen,) = [one for one in home.ask("windows", "--as", "owner")["windows"] if one["agent"] == shop]
        assert (seen["client"], seen["ring"], seen["folder"]) == ("codex", "queue", f"/home/ann/{shop}")
        (others,) = home.ask("windows", "--of", shop, "--as", "ann")["windows"]
        assert "folder" not in others


class TestMachines:
    def test_a_machine_gets_a_key_lists_it_and_loses_it(self, home: Home) -> None:
        (ann,) = home.names("ann")
        made = home.ask("key", "machine", ann, "--as", "owner")
        assert asyncio.run(open_one(home.office.url, "/x/till", made["api_key"])) == f"{ann}-till"
        assert home.ask("inbox", "--as", f"{ann}-till", extra={"POSTOFFICE_KEY": made["api_key"]})["sessions"] == []
        assert ann in {one["prefix"] for one in home.ask("key", "machine", "--as", "owner")["machines"]}
        assert home.ask("key", "machine", ann, "--revoke", "--as", "owner") == {"revoked": 1}
        home.refused(77, "inbox", "--as", f"{ann}-till", extra={"POSTOFFICE_KEY": made["api_key"]})
