"""Where the office is, however its address was written."""

import pytest

from postoffice.client.address import read_address
from postoffice.core.errors import BadSetting

GOOD = {
    "127.0.0.1:8787": "http://127.0.0.1:8787",
    "localhost:8787": "http://localhost:8787",
    "[::1]:8787": "http://[::1]:8787",
    "127.0.0.1": "http://127.0.0.1",
    " http://127.0.0.1:8787/ ": "http://127.0.0.1:8787",
    # Plain http beyond this machine only when written out.
    "mail.example:8000": "https://mail.example:8000",
    "10.0.0.7:8787": "https://10.0.0.7:8787",
    "http://mail.example:8000": "http://mail.example:8000",
    "https://mail.example": "https://mail.example",
    "https://mail.example/office/": "https://mail.example/office",
}
BAD = [
    "ftp://mail.example",
    "mail.example:notaport",
    "mail.example:0",
    "mail.example:65536",
    "http://",
    "://",
    ":8787",
    "http://user:amb_key@mail.example",
    "http://amb_key@mail.example",
    "https://mail.example/?key=amb_key",
    "http://[::1",
    "[::1",
    "two words",
    "http://127.0.0..1",
    "http://user:amb_key@mail.example:notaport",
    "https://mail.example:notaport/?key=amb_key",
    "http://user:amb_key@[::1",
    "ftp://user:amb_key@mail.example",
]


class TestAddresses:
    @pytest.mark.parametrize(("written", "meant"), GOOD.items())
    def test_what_is_meant_is_found(self, written: str, meant: str) -> None:
        assert read_address(written, "MAILBOX_SERVER_URL") == meant

    @pytest.mark.parametrize("written", BAD)
    def test_what_cannot_be_meant_is_refused_by_the_settings_name(self, written: str) -> None:
        with pytest.raises(BadSetting, match="MAILBOX_SERVER_URL") as refused:
            read_address(written, "MAILBOX_SERVER_URL")
        assert "amb_key" not in str(refused.value)
