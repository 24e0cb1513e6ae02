"""What a release is cut from."""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

import pytest

from tools.release import Refused
from tools.release import __main__ as release

CHANGELOG = "# Changelog\n\n## Unreleased\n\n### Added\n\n- A.\n\n## 0.1.0 (2026-01-01)\n\n- B.\n"


def test_what_is_unreleased_becomes_the_version() -> None:
    cut = release.cut(CHANGELOG, "0.2.0", "2026-02-01")
    assert cut == CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 (2026-02-01)\n")
    # A release that was stopped after that goes on.
    assert release.cut(cut, "0.2.0", "2026-02-02") == cut


@pytest.mark.parametrize("text", ["# Changelog\n", "## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- B.\n"])
def test_a_release_without_news_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="has nothing below Unreleased"):
        release.cut(text, "0.2.0", "2026-02-01")


def test_the_site_is_packed_to_the_same_bytes_whoever_packs_it(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for folder, mode in ((first, 0o600), (second, 0o664)):
        (folder / "site" / "lab").mkdir(parents=True)
        for name in ("index.html", "lab/tcp.html"):
            (folder / "site" / name).write_text(name)
            (folder / "site" / name).chmod(mode)
        release.archive(folder / "site", folder / "sojourn.tar.gz", 1_000_000_000)
    packed = (first / "sojourn.tar.gz").read_bytes()
    assert packed == (second / "sojourn.tar.gz").read_bytes()
    assert gzip.decompress(packed)
    with tarfile.open(first / "sojourn.tar.gz") as tar:
        assert "sojourn/lab/tcp.html" in tar.getnames()


def test_a_version_is_released_once_and_of_what_is_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    for answers, words in (
        ({"status": " M x"}, "the tree has changes"),
        ({"tag": "v0.1.0"}, "the tag v0.1.0 is there"),
    ):
        monkeypatch.setattr(release, "output", lambda _, word, *__, of=answers: of.get(word, ""))
        with pytest.raises(Refused, match=words):
            release.ready("0.1.0")
