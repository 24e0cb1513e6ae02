"""Who may take part in a Dask cluster: certificates with `tls://`, and a warning without."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sojourn.cluster_address import lacking, warning
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.test_dask import Cluster, address_of, start

pytest.importorskip("distributed", reason=optional.DASK.reason())

DOCUMENT = Path(__file__).parents[1] / "docs/dask.md"
WORDS = ("compare", "bulk", "--qdisc", "codel", "--qdisc", "pie", "--repeat", "2", "--duration", "1s", "--json")


@pytest.mark.parametrize(
    "address",
    [
        "tcp://10.0.0.1:8786",
        "tcp://scheduler.example.net:8786",
        "tcp://[2001:db8::1]:8786",
        "10.0.0.1:8786",
        "host:8786",
        "ws://10.0.0.1:8786",
        "tcp://127.0.0.1.example.net:8786",
        "tcp://0.0.0.0:8786",
        "tcp://[bad",
    ],
)
def test_an_open_address_is_warned_of(address: str) -> None:
    message = warning(address)
    assert message is not None
    assert "\n" not in message
    for word in (address, "whoever", "run code here", "tls://"):
        assert word in message


@pytest.mark.parametrize(
    "address",
    ["tcp://127.0.0.1:8786", "tcp://127.1.2.3:1", "tcp://[::1]:8786", "localhost:8786", "tls://10.0.0.1:8786"],
)
def test_loopback_and_tls_are_not(address: str) -> None:
    assert warning(address) is None


class Authority:
    """Keys that are made for a test, as the documentation says."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.ca, self.cert, self.key = (folder / name for name in ("ca.pem", "cert.pem", "key.pem"))
        lines = [line.strip() for line in DOCUMENT.read_text().splitlines() if line.startswith("    openssl ")]
        assert len(lines) == 3
        script = "\n".join(["set -e", *lines])
        subprocess.run(["sh", "-c", script], cwd=folder, check=True, capture_output=True, timeout=120)

    @property
    def words(self) -> list[str]:
        """The options of a scheduler or a worker."""
        return [*("--tls-ca-file", str(self.ca)), *("--tls-cert", str(self.cert)), *("--tls-key", str(self.key))]

    def configure(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Name the keys as a user does, in the environment of the client."""
        name = "DASK_DISTRIBUTED__COMM__TLS__"
        monkeypatch.setenv(f"{name}CA_FILE", str(self.ca))
        monkeypatch.setenv(f"{name}CLIENT__CERT", str(self.cert))
        monkeypatch.setenv(f"{name}CLIENT__KEY", str(self.key))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    optional.program("openssl")
    return Authority(tmp_path / "authority")


def begin(folder: Path, scheduler: list[str], worker: list[str]) -> Cluster:
    """Begin a scheduler and a worker."""
    folder.mkdir()
    file = folder / "scheduler.json"
    words = ["--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(file), *scheduler]
    made = Cluster("", folder, start("scheduler", folder / "scheduler", *words), [])
    try:
        made.address = address_of(made.scheduler, file, folder / "scheduler/log")
        words = [made.address, "--nthreads", "1", "--no-dashboard", "--no-nanny", *worker]
        made.workers.append(start("worker", folder / "worker", *words))
    except BaseException:
        end(made)
        raise
    return made


def end(made: Cluster) -> None:
    for process in (*made.workers, made.scheduler):
        process.kill()
        process.wait()


@pytest.fixture
def encrypted(tmp_path: Path, authority: Authority) -> Iterator[Cluster]:
    """A scheduler and a worker that speak TLS."""
    tls = ["--protocol", "tls", *authority.words]
    made = begin(tmp_path / "cluster", ["--host", "127.0.0.1", *tls], tls)
    yield made
    end(made)


@pytest.mark.slow
def test_a_cluster_with_certificates_makes_the_same_runs(
    encrypted: Cluster, authority: Authority, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert encrypted.address.startswith("tls://127.0.0.1:")
    authority.configure(monkeypatch)
    far = cli(*WORDS, "--dask", encrypted.address)
    assert "not encrypted" not in far.stderr
    assert far.stdout == cli(*WORDS).stdout


@pytest.mark.slow
def test_a_cluster_with_certificates_is_for_those_who_have_them(
    encrypted: Cluster, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Authority(tmp_path / "another").configure(monkeypatch)
    result = cli(*WORDS, "--dask", encrypted.address, status=2)
    assert_one_sentence(result, encrypted.address, "certificate and ours are of the same authority")
    # Without TLS it does not answer either.
    result = cli(*WORDS, "--dask", encrypted.address.replace("tls:", "tcp:"), status=2)
    assert_one_sentence(result, "no Dask scheduler answers there")


def test_missing_certificates_are_told(inside: Cli) -> None:
    assert lacking("tcp://10.0.0.1:8786") is None
    result = inside(*WORDS, "--dask", "tls://127.0.0.1:9", status=2)
    assert_one_sentence(result, "needs certificates", "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE and ", "CLIENT__CERT")


def own_address() -> str:
    """An address of this machine that others may reach; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            optional.NETWORK.skip()
        return str(probe.getsockname()[0])


@pytest.mark.slow
def test_a_cluster_without_certificates_is_warned_of_once(tmp_path: Path, cli: Cli) -> None:
    made = begin(tmp_path / "cluster", ["--host", own_address()], [])
    try:
        # Rounds until an interval is narrow: the command connects more than once.
        more = ("--until-ci", "5%", "--max-repeat", "6")
        far = cli(*WORDS, *more, "--dask", made.address)
        assert far.stderr.count("it is not encrypted, and whoever runs that scheduler") == 1
        assert far.stdout == cli(*WORDS, *more).stdout
    finally:
        end(made)
