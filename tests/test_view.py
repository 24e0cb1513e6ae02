"""The server of the dashboard: who gets an answer, what is in it, and that a hostile store stops nothing."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from msgspec import to_builtins

from sojourn import web_build
from sojourn.cli.main import main
from sojourn.errors import ParamError, SojournError
from sojourn.frame_library import pl
from sojourn.store import index
from sojourn.store.folder import ResultFolder
from sojourn.view import source, table
from tests import optional
from tests.hostile_store import HTML, make_hostile

try:
    from sojourn.view import server
except ModuleNotFoundError as error:
    if error.name not in {"uvicorn", "starlette"}:
        raise
    optional.VIEW.skip()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that `compare` has written: two disciplines, two seeds."""
    out = tmp_path_factory.mktemp("view") / "two"
    words = ["compare", "rrul", "--qdisc", "pfifo_fast", "--qdisc", "fq_codel", "--duration", "1s", "--repeat", "2"]
    with patch.dict(os.environ):
        assert main([*words, "--no-sync", "--workers", "1", "--out", str(out)]) == 0
    return out


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in the place of the build."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "view.html").write_text("<!doctype html><title>page</title>")
    (folder / "assets/view.js").write_text("let a;")
    (folder / "assets/notes.txt").write_text("not for browsers")
    monkeypatch.setattr(web_build, "_INSTALLED", folder)
    return folder


@dataclass
class Asked:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks a server, with the token unless told otherwise."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.token = token

    def ask(self, path: str, method: str = "GET", *, token: bool = True, **headers: str) -> Asked:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.putrequest(method, path, skip_host="Host" in named)
            for name, value in ({"X-Sojourn-Token": self.token} if token else {} | named).items():
                connection.putheader(name, value)
            if token:
                for name, value in named.items():
                    connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return Asked(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()


@contextmanager
def serving(path: Path) -> Iterator[Client]:
    """Serve a folder from a thread."""
    with server.listen("127.0.0.1", 0) as opened:
        port = opened.getsockname()[1]
        token = server.new_token()
        view = server.View(title="t", sources=source.find(path), token=token, port=port)
        running = server.runner(view)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [opened]})
        thread.start()
        try:
            yield Client(port, token)
        finally:
            running.should_exit = True
            thread.join()


@pytest.fixture
def client(results: Path) -> Iterator[Client]:
    with serving(results) as asks:
        yield asks


def columns(answer: Any) -> dict[str, list[Any]]:
    """Return the columns of `/api/runs`, texts put in."""
    return {
        each["name"]: [each["words"][place] for place in each["values"]] if each["kind"] == "text" else each["values"]
        for each in answer["columns"]
    }


def test_the_token_is_needed_for_every_answer(client: Client, page: Path) -> None:
    assert page.is_dir()
    for path in ("/", "/api/about", "/api/runs", "/api/run/0/x", "/api/progress"):
        assert client.ask(path, token=False).status == 401, path
    wrong = "x" * len(client.token)
    assert client.ask("/api/runs", token=False, X_Sojourn_Token=wrong).status == 401
    assert client.ask(f"/?token={wrong}", token=False).status == 401
    assert client.ask(f"/?token={client.token[:-1]}", token=False).status == 401
    assert client.ask("/?token=%C3%A9", token=False).status == 401
    assert client.ask("/api/runs", token=False, X_Sojourn_Token="é").status == 401
    assert client.ask("/api/runs").status == 200


def test_the_address_that_is_printed_sets_a_cookie_for_this_server_alone(client: Client, page: Path) -> None:
    assert page.is_dir()
    first = client.ask(f"/?token={client.token}", token=False)
    assert (first.status, first.body) == (200, b"<!doctype html><title>page</title>")
    cookie = first.headers["set-cookie"]
    assert cookie.startswith(f"sojourn_view_{client.port}={client.token};")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert client.ask("/api/about", token=False, Cookie=cookie.partition(";")[0]).status == 200
    assert client.ask("/", token=False, Cookie=cookie.partition(";")[0]).status == 200
    assert client.ask("/api/about", token=False, Cookie=f"sojourn_view_1={client.token}").status == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}"])
def test_a_name_that_another_has_given_to_this_machine_gets_nothing(client: Client, host: str) -> None:
    answer = client.ask("/api/runs", Host=host.format(port=client.port))
    assert answer.status == 421
    assert b"rrul" not in answer.body
    assert client.ask("/api/runs", Host=f"localhost:{client.port}").status == 200


def test_pages_of_other_sites_get_nothing(client: Client) -> None:
    for site in ("cross-site", "same-site"):
        assert client.ask("/api/runs", Sec_Fetch_Site=site).status == 403
    for site in ("same-origin", "none"):
        assert client.ask("/api/runs", Sec_Fetch_Site=site).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_written(client: Client, method: str) -> None:
    answer = client.ask("/api/runs", method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_every_answer_has_the_headers_of_safety(client: Client, page: Path) -> None:
    assert page.is_dir()
    for path, status in (("/api/runs", 200), ("/nowhere", 404), ("/assets/view.js", 200), ("/?token=x", 401)):
        answer = client.ask(path)
        assert answer.status == status, path
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert "server" not in answer.headers


def test_the_laboratory_may_have_its_simulator_and_nothing_keeps_this_server_s_pages(
    client: Client, page: Path
) -> None:
    assert client.ask("/api/about").json["lab"] is False
    for name in ("lab.html", "sw.js", "assets/worker-1.js"):
        (page / name).write_text("let a;")
    os.utime(page / "view.html", (1, 1))  # as another build
    assert client.ask("/api/about").json["lab"] is True
    for path in ("/lab.html", "/assets/worker-1.js"):
        policy = client.ask(path).headers["content-security-policy"]
        assert "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'" in policy
        assert "connect-src 'self'" in policy
    assert client.ask("/sw.js").status == 404
    assert client.ask("/offline.js").body == b""


def test_only_files_of_the_build_are_given_out(client: Client, page: Path) -> None:
    (page.parent / "secret.js").write_text("secret")
    assert client.ask("/assets/view.js").headers["content-type"].startswith("text/javascript")
    for path in (
        "/../secret.js",
        "/assets/../../secret.js",
        "/%2e%2e/secret.js",
        "/..%2fsecret.js",
        "/assets/..%2f..%2fsecret.js",
        "//etc/passwd",
        "/assets/notes.txt",
        "/assets",
        "/%00",
        f"/{page.parent}/secret.js",
    ):
        answer = client.ask(path)
        assert answer.status == 404, path
        assert b"secret" not in answer.body


def test_the_table_has_the_summary_of_each_record(client: Client, results: Path) -> None:
    """The oracle is what `sojourn compare` keeps of the same runs."""
    found = client.ask("/api/runs").json
    assert found["broken"] == []
    by_column = columns(found)
    comparison = index.load(results).comparison
    assert found["rows"] == comparison.runs.height == 4
    place = {key: number for number, key in enumerate(zip(by_column["qdisc"], by_column["seed"], strict=True))}
    for row in comparison.runs.to_dicts():
        number = place[row["qdisc"], str(row["seed"])]
        for name, value in row.items():
            if name in table.COLUMNS and table.COLUMNS[name] == "number":
                shown = by_column[name][number]
                assert shown == (None if value is None else pytest.approx(value, rel=1e-6)), name
        assert by_column["link"][number] == row["link"]


def test_an_answer_that_is_known_is_not_sent_again(client: Client, results: Path) -> None:
    for path in ("/api/runs", "/api/comparison/0", "/api/claims"):
        first = client.ask(path)
        again = client.ask(path, If_None_Match=first.headers["etag"])
        assert (again.status, again.body) == (304, b"")
    before = client.ask("/api/runs").headers["etag"]
    extra = results / "runs" / ("0" * 32)
    extra.mkdir()
    try:
        after = client.ask("/api/runs", If_None_Match=before)
        assert after.status == 200
        assert [each["id"] for each in after.json["broken"]] == ["0" * 32]
    finally:
        extra.rmdir()


def test_a_series_is_that_of_the_run_and_thinned_on_request(client: Client, results: Path) -> None:
    run = index.load(results).comparison.cells[0].runs[0]
    name = run.id  # type: ignore[attr-defined]
    found = client.ask(f"/api/series/0/{name}?metric=goodput_mbit&points=8000").json["series"]
    frame = run.series.filter(pl.col("metric") == "goodput_mbit")
    for line in found:
        rows = frame.filter(pl.col("name") == line["name"])
        assert line["t"] == pytest.approx(rows["t_s"].to_list())
        assert line["v"] == pytest.approx(rows["value"].to_list(), rel=1e-6)
    assert len(found) == frame["name"].n_unique()
    part = client.ask(f"/api/series/0/{name}?metric=rtt_ms&from=0.2&to=0.6").json["series"]
    assert part
    assert all(0.2 <= time <= 0.6 for line in part for time in line["t"])
    total = client.ask(f"/api/series/0/{name}?metric=goodput_mbit&combined=1").json["series"]
    assert {line["direction"] for line in total} == {"up", "down"}
    for line in total:
        rows = frame.filter(pl.col("direction") == line["direction"])
        assert sum(line["v"]) == pytest.approx(rows["value"].sum())
    curve = client.ask(f"/api/cdf/0/{name}?metric=rtt_ms").json
    probes = run.series.filter((pl.col("metric") == "rtt_ms") & (pl.col("t_s") >= 0))["value"].drop_nulls()
    assert curve["count"] == probes.len()
    assert curve["value"][0] == pytest.approx(probes.min())
    assert (curve["value"][-1], curve["fraction"][-1]) == (pytest.approx(probes.max()), 1.0)


def test_a_record_is_that_of_the_run(client: Client, results: Path) -> None:
    run = index.load(results).comparison.cells[0].runs[0]
    found = client.ask(f"/api/run/0/{run.id}").json  # type: ignore[attr-defined]
    assert (found["scenario"], found["summary"]) == (run.record.scenario, to_builtins(run.summary))
    assert "series" not in found


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/api/series/0/{id}?points=3", 400, "points is 3, but must be from 4 to 8000"),
        ("/api/series/0/{id}?points=many", 400, "points is 'many', but must be a whole number"),
        ("/api/series/0/{id}?from=nan", 400, "from is 'nan', but must be a number of seconds"),
        ("/api/series/9/{id}", 404, "there is no such folder"),
        ("/api/series/0/../../etc", 404, "there is nothing at this address"),
        ("/api/run/0/" + "f" * 32, 404, "there is no such run"),
        ("/api/comparison/9", 404, "there is no such folder"),
        *(
            (f"/api/{what}", 400, f"the folder is '{'9' * 40}', but must be a whole number")
            for what in (f"comparison/{'9' * 5000}", f"run/{'9' * 5000}/x", f"cdf/{'9' * 5000}/x")
        ),
        ("/api/series/-1/x", 400, "the folder is '-1', but must be a whole number"),
    ],
)
def test_what_cannot_be_answered_is_a_sentence(
    client: Client, results: Path, path: str, status: int, sentence: str
) -> None:
    name = next(each.name for each in (results / "runs").iterdir() if each.is_dir())
    answer = client.ask(path.format(id=name))
    assert (answer.status, answer.json) == (status, {"error": sentence})


def test_a_comparison_has_the_intervals_of_compare(client: Client, results: Path) -> None:
    found = client.ask("/api/comparison/0").json
    kept = json.loads((results / "compare.json").read_text())
    for discipline in kept["disciplines"]:
        for metric, row in discipline["summary"].items():
            mine = next(
                each for each in found["summary"] if (each["qdisc"], each["metric"]) == (discipline["qdisc"], metric)
            )
            assert {name: mine[name] for name in row} == pytest.approx(row, rel=1e-9), metric
    assert len(found["differences"]) == len(kept["differences"])


@pytest.fixture
def hostile(results: Path, tmp_path: Path) -> Path:
    """Return a copy of the results with runs that are broken, and names that are HTML."""
    make_hostile(results, tmp_path / "hostile")
    return tmp_path / "hostile"


def test_what_is_broken_is_a_row_that_says_why_and_stops_nothing(hostile: Path) -> None:
    names = sorted(each.name for each in (hostile / "runs").iterdir() if len(each.name) == 32)
    with serving(hostile) as client:
        answer = client.ask("/api/runs")
        assert answer.headers["content-type"] == "application/json"
        found = answer.json
        assert found["rows"] == 1
        why = {each["id"]: each["why"] for each in found["broken"]}
        assert set(why) == set(names) - set(columns(found)["id"])
        assert len(why) == 5
        assert all(len(sentence) > 10 for sentence in why.values())
        for name in why:
            assert client.ask(f"/api/run/0/{name}").status == 422
            assert client.ask(f"/api/series/0/{name}").status == 422
        # Names are data: they come as they are, as JSON, which no browser takes for a page.
        assert columns(found)["experiment"] == [HTML]
        claims = client.ask("/api/claims").json["folders"]
        assert claims[0]["claims"][0]["says"] == HTML
        assert client.ask("/api/comparison/0").status == 200


def test_a_damaged_index_or_claims_file_is_said_and_stops_nothing(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(results, folder)
    (folder / "index.json").write_text('{"format": "sojourn-folder/2"')
    (folder / "claims.json").write_text("[1]")
    with serving(folder) as client:
        found = client.ask("/api/runs").json
        assert found["rows"] == 4
        assert [each["id"] for each in found["broken"]] == ["index.json"]
        assert "is not JSON" in found["broken"][0]["why"]
        [claims] = client.ask("/api/claims").json["folders"]
        assert claims["claims"] == []
        assert "claims.json cannot be read" in claims["error"]


def test_more_claims_than_a_folder_has_are_refused_at_once(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results, tmp_path / "x")
    claim = {"id": "a-1", "section": "", "says": "", "verdict": "holds", "value": 1, "low": None, "high": None}
    (tmp_path / "x/claims.json").write_text(json.dumps([claim | {"unit": "", "reason": ""}] * 10_001))
    with serving(tmp_path / "x") as client:
        [claims] = client.ask("/api/claims").json["folders"]
        assert "is a list of 10001, but must be a list of at most 10000" in claims["error"]


def leave(kind: str, folder: Path, other: Path) -> None:
    """Have a folder of results lead to the runs of another one."""
    if kind.startswith("index"):
        plain = json.loads((folder / "index.json").read_text())
        plain["store"] = str(other / "runs") if kind == "index, absolute" else f"../{other.name}/runs"
        (folder / "index.json").write_text(json.dumps(plain))
        return
    place = {"runs": folder / "runs", "claims": folder / "claims.json", "index itself": folder / "index.json"}
    path = place.get(kind) or next((folder / "runs").glob("?" * 32))
    target = other / path.relative_to(folder)
    if kind in {"run.json", "series.parquet"}:
        path, target = path / kind, target / kind
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize("kind", ["index, absolute", "index, upwards", "runs", "a run", "run.json", "series.parquet"])
def test_nothing_outside_of_the_folder_that_was_opened_is_shown(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    shutil.copytree(results, tmp_path / "secret")
    shutil.copytree(results, tmp_path / "x")
    shutil.copy(results / "compare.json", tmp_path / "secret/claims.json")
    leave(kind, tmp_path / "x", tmp_path / "secret")
    whole = kind.startswith(("index", "runs"))
    with serving(tmp_path / "x") as client:
        found = client.ask("/api/runs").json
        assert found["rows"] == (0 if whole else 3)
        [broken] = found["broken"]
        assert ("outside of" if whole else "is a symbolic link") in broken["why"]
        if not whole:
            assert client.ask(f"/api/run/0/{broken['id']}").status == 422
    words = ["plot", "cdf", str(tmp_path / "x"), "--out", str(tmp_path / "x.svg")]
    assert main(words) == 2
    assert ("outside of" if whole else "is a symbolic link") in capsys.readouterr().err
    if whole:
        assert main([*words, "--store", str(tmp_path / "secret/runs")]) == 0
        [seen] = source.find(tmp_path / "x", tmp_path / "secret")
        assert len(seen.ids()) == 4
        # What was opened is the folder above: both are in it.
        assert all(len(one.ids()) == 4 for one in source.find(tmp_path))


@pytest.mark.parametrize("name", ["index.json", "claims.json"])
def test_a_file_of_results_is_no_link_to_another_folder(results: Path, tmp_path: Path, name: str) -> None:
    for folder in ("secret", "x"):
        shutil.copytree(results, tmp_path / folder)
    (tmp_path / "x" / name).unlink(missing_ok=True)
    (tmp_path / "secret/claims.json").write_text("[]")
    (tmp_path / "x" / name).symlink_to(tmp_path / "secret" / name)
    with pytest.raises(SojournError, match="leads out of"):
        index.load(tmp_path / "x")
    (tmp_path / "above").mkdir()
    (tmp_path / "above/link").symlink_to(tmp_path / "secret")
    with pytest.raises(SojournError, match="holds no results"):
        source.find(tmp_path / "above")


#: A server with few descriptors, which ends with its input.
SERVER = """
import resource, sys, threading
from pathlib import Path
from sojourn.view import guests, server, source
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
guests.MOST_S = 3.0
opened = server.listen("127.0.0.1", 0)
port = opened.getsockname()[1]
view = server.View(title="t", sources=source.find(Path(sys.argv[1])), token="t", port=port)
running = server.runner(view)
print(port, flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), setattr(running, "should_exit", True))).start()
running.run(sockets=[opened])
"""


def test_connections_without_the_token_neither_last_nor_keep_others_out(results: Path) -> None:
    words = [sys.executable, "-c", SERVER, str(results)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as running, ExitStack() as held:
        assert running.stdout is not None
        client = Client(int(running.stdout.readline()), "t")
        silent = []
        for number in range(400):
            one = held.enter_context(socket.create_connection(("127.0.0.1", client.port), timeout=10))
            silent.append(one)
            if number % 2:
                with suppress(ConnectionError):
                    one.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        began = time.monotonic()
        assert client.ask("/api/about").status == 200
        assert time.monotonic() - began < 3
        for one in silent:
            with suppress(ConnectionResetError):
                assert one.recv(1) == b""
        assert client.ask("/api/about").status == 200
        assert running.communicate("", timeout=20)[1] == ""


def test_what_is_being_made_is_seen_as_it_grows(results: Path, tmp_path: Path) -> None:
    place = tmp_path / "growing"
    folder = ResultFolder(place, plan="p", runs=4)
    runs = sorted(each for each in (results / "runs").iterdir() if each.is_dir())
    (place / "runs").mkdir()
    with serving(place) as client:

        def progress() -> Any:
            return client.ask("/api/progress").json["folders"][0]  # type: ignore[no-any-return]

        first = progress()
        assert (first["runs"], first["planned"], first["kind"]) == (0, 4, "unfinished")
        if Path("/proc/locks").exists():
            assert first["writing"]
        for number, run in enumerate(runs, 1):
            shutil.copytree(run, place / "runs" / run.name)
            assert progress()["runs"] == number
            assert client.ask("/api/runs").json["rows"] == number
        folder.finish()
        assert not progress()["writing"]


def test_folders_stores_and_single_runs_are_found(results: Path, tmp_path: Path) -> None:
    [one] = source.find(results)
    assert (one.kind, len(one.ids()), one.labels.command.split()[0]) == ("comparison", 4, "sojourn")
    [store] = source.find(results / "runs")
    assert (store.kind, len(store.ids())) == ("store", 4)
    run = next(each for each in (results / "runs").iterdir() if each.is_dir())
    [single] = source.find(run)
    assert (single.kind, single.ids()) == ("run", [run.name])
    shutil.copytree(results, tmp_path / "all/one")
    shutil.copytree(results, tmp_path / "all/two")
    (tmp_path / "all/other").mkdir()
    assert [each.path.name for each in source.find(tmp_path / "all")] == ["one", "two"]
    with pytest.raises(SojournError, match="holds no results"):
        source.find(tmp_path / "all/other")
    with pytest.raises(SojournError, match="must be a folder"):
        source.find(tmp_path / "none")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org", ""])
def test_it_listens_on_this_machine_alone(host: str) -> None:
    with pytest.raises(ParamError, match="must be an address of this machine alone"):
        server.listen(host, 0)
    assert main(["view", str(Path(__file__).parent), "--host", host]) == 2


@pytest.mark.parametrize("port", ["65536", "-1", "http", ""])
def test_a_port_that_is_none_is_refused_with_the_rule(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["view", ".", "--no-browser", f"--port={port}"])
    assert f"port is {port!r}, but must be a whole number from 0 to 65535" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ParamError, match="cannot be used"):
            server.listen("127.0.0.1", taken.getsockname()[1])


def test_without_the_page_the_command_says_how_to_build_it(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(web_build, "_INSTALLED", tmp_path)
    monkeypatch.setattr(web_build, "_CHECKOUT", tmp_path)
    assert main(["view", str(results), "--no-browser"]) == 2
    assert "run make web" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_serves_until_control_c(results: Path) -> None:
    if web_build.built("view.html") is None:
        optional.WEB_PAGE.skip()
    words = [sys.executable, "-m", "sojourn", "view", str(results), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        port, token = address.removeprefix("http://127.0.0.1:").split("/?token=")
        client = Client(int(port), token)
        until = time.monotonic() + 20
        while True:
            try:
                answer = client.ask(f"/?token={token}", token=False)
                break
            except ConnectionRefusedError:
                assert time.monotonic() < until
                time.sleep(0.1)
        assert answer.status == 200
        assert b'id="app"' in answer.body
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 0
        assert running.stderr is not None
        assert running.stderr.read() == "Ctrl-C ends it\n"


@pytest.mark.slow
def test_ten_thousand_runs_are_one_table(results: Path, tmp_path: Path) -> None:
    store = tmp_path / "many"
    store.mkdir()
    [first, *_] = sorted(each for each in (results / "runs").iterdir() if each.is_dir())
    head = json.loads((first / "run.json").read_text())
    series = (first / "series.parquet").read_bytes()
    names = [f"{number:032x}" for number in range(10_000)]
    for number, name in enumerate(names):
        head["stored"]["id"], head["seed"] = name, number
        (store / name).mkdir()
        (store / name / "run.json").write_text(json.dumps(head, separators=(",", ":")))
        (store / name / "series.parquet").write_bytes(series)
    made = table.Table(source.find(store))
    answer = made.json()
    assert columns(json.loads(answer))["seed"] == [str(number) for number in range(10_000)]
    # What has not changed is not read again.
    assert made.json() is answer
