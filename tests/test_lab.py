"""`sojourn lab` serves the pages on this machine alone."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sojourn import web_build
from sojourn.cli import lab
from sojourn.cli.main import main
from sojourn.errors import ParamError

PAGE = "<!doctype html><title>lab</title>"


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Return the port at which a folder with a page, a program and another folder is served."""
    (tmp_path / "lab.html").write_text(PAGE)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "sojourn.wasm").write_bytes(b"\0asm")
    with lab.serve(tmp_path, 0) as server:
        assert server.server_address[0] == "127.0.0.1"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield int(server.server_address[1])
        server.shutdown()
        thread.join()


def ask(port: int, path: str, host: str = "127.0.0.1") -> tuple[int, str, str]:
    """Return the status, the type and the text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": host})
    answer = connection.getresponse()
    found = answer.status, answer.headers["Content-Type"], answer.read().decode()
    connection.close()
    return found


def test_the_files_are_served_with_their_types(port: int) -> None:
    assert ask(port, "/lab.html?compare=codel") == (200, "text/html", PAGE)
    assert ask(port, "/assets/sojourn.wasm", f"localhost:{port}")[:2] == (200, "application/wasm")


@pytest.mark.parametrize("path", ["/", "/assets/", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/no"])
def test_neither_folders_nor_what_is_outside_is_shown(port: int, path: str) -> None:
    assert ask(port, path)[0] == 404


def test_another_name_of_the_host_is_refused(port: int) -> None:
    status, _, text = ask(port, "/lab.html", "evil.example")
    assert status == 403
    assert "but must be 127.0.0.1 or localhost" in text


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ParamError, match="but it cannot be used"):
            lab.serve(tmp_path, taken.getsockname()[1])


def test_without_the_pages_the_command_says_how_to_build_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(web_build, "_INSTALLED", tmp_path)
    monkeypatch.setattr(web_build, "_CHECKOUT", tmp_path)
    assert main(["lab", "--no-browser"]) == 2
    assert "run make web" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["lab", "--port", "70000"])
    assert "port is '70000', but must be a whole number from 0 to 65535" in capsys.readouterr().err
