"""Git: a repository of our own that borrows the objects of another one, and `git bisect` in it.

Nothing is ever written into the repository that a person named, and none of its files is touched. Ours has the same
commits, because it reads the objects where they are (`objects/info/alternates`). It has no branches and no tags.

`git bisect` runs with `--no-checkout`: it says which commit comes next, and only a commit that has to be built is
checked out. So a search that begins anew comes to where it was without touching a file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError, os_errors_as, refused

#: Git's own name of a commit.
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FIRST_BAD = re.compile(r"^([0-9a-f]{40,64}) is the first '?bad'? commit$", re.MULTILINE)
_LEFT = re.compile(r"^Bisecting: (\d+) revisions? left to test after this \(roughly (\d+) steps?\)$", re.MULTILINE)
#: `git bisect` ends with this where only skipped commits are left.
_ONLY_SKIPPED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The repository that a person named."""

    #: The folder that was named.
    top: Path
    #: Where its objects are.
    objects: Path
    #: The file that says where its history is cut off; `None` if it is whole.
    shallow: Path | None

    @classmethod
    def at(cls, top: Path) -> Origin:
        """Find the repository of a folder.

        Raises `ParamError` if the folder is not there, or is none of git's, and `SojournError` if there is no git.
        """
        if shutil.which("git") is None:
            message = "git is missing, which a bisect needs: apt-get install git"
            raise SojournError(message)
        if not top.is_dir():
            raise refused(str(top), "source", "must be a folder with a git repository")
        words = ("rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "shallow")
        done = _git(top, words, _reading())
        if done.returncode != 0:
            raise refused(str(top), "source", f"must be a folder with a git repository: git says {_gist(done)!r}")
        objects, shallow = (Path(line) for line in done.stdout.splitlines()[:2])
        return cls(top=top, objects=objects, shallow=shallow if shallow.is_file() else None)

    def commit(self, name: str, field: str) -> str:
        """Return git's own name of a commit.

        Raises `ParamError` if it is no commit.

        - `name`: a branch, a tag, the beginning of a hash, or whatever else git takes.
        """
        # Git would take the first for an option, and NUL ends a word.
        unfit = not name or name.startswith("-") or not name.isprintable()
        found = "" if unfit else self._rev_parse(f"{name}^{{commit}}")
        if not _SHA.fullmatch(found):
            raise refused(name, field, f"must name a commit of {self.top}: a branch, a tag or a hash")
        return found

    def _rev_parse(self, words: str) -> str:
        return _git(self.top, ("rev-parse", "--verify", "--quiet", words), _reading()).stdout.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """What `git bisect` says."""

    #: The first bad commit, if it is found.
    first_bad: str | None = None
    #: The commits among which it is, if all others were skipped.
    candidates: tuple[str, ...] = ()
    #: How many commits are left after the next, and how many steps that takes roughly; `None` if git did not say so.
    left: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Our repository."""

    #: Its folder, which has the files of one commit.
    top: Path

    @classmethod
    def borrow(cls, origin: Origin, top: Path) -> Repository:
        """Make the repository, or take the one that is there from an earlier search.

        Raises `SojournError` if it cannot be made.
        """
        made = cls(top=top)
        with os_errors_as(f"{top} cannot be written"):
            top.mkdir(parents=True, exist_ok=True)
            if not (top / ".git").is_dir():
                made.git("init", "--quiet", "--template=", ".")
            git = top / ".git"
            # Nobody else uses this repository, so what locks it was left by a git that was killed.
            (git / "index.lock").unlink(missing_ok=True)
            # An earlier search may have been in another repository, whose commits are not here.
            for left in git.glob("BISECT_*"):
                left.unlink()
            shutil.rmtree(git / "refs/bisect", ignore_errors=True)
            (git / "HEAD").write_text("ref: refs/heads/none\n")
            (git / "objects/info").mkdir(parents=True, exist_ok=True)
            (git / "objects/info/alternates").write_bytes(os.fsencode(origin.objects) + b"\n")
            if origin.shallow is None:
                (git / "shallow").unlink(missing_ok=True)
            else:
                shutil.copyfile(origin.shallow, git / "shallow")
        return made

    def git(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run git, without a person's own settings and hooks; raises `SojournError` if it fails and `check` is set."""
        settings = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "core.fsmonitor=false")
        done = _git(self.top, (*settings, *words), _working())
        if check and done.returncode != 0:
            message = f"git {words[0]} failed in {self.top}: {_gist(done)}"
            raise SojournError(message)
        return done

    def check_out(self, commit: str) -> None:
        """Give the folder the files of a commit; one that is the same in both is not touched."""
        self.git("checkout", "--quiet", "--force", "--detach", commit)

    def tree_of(self, commit: str) -> str:
        """Return git's name of all files of a commit, which other commits may have too."""
        return self.git("rev-parse", "--verify", f"{commit}^{{tree}}").stdout.strip()

    def subject(self, commit: str) -> str:
        """Return the first line of what a commit says of itself."""
        return printable(self.git("log", "-1", "--format=%s", commit).stdout.strip())

    def said(self, commit: str) -> dict[str, str]:
        """Return author, date and subject of a commit."""
        found = self.git("log", "-1", "--format=%an <%ae>%n%as%n%s", commit).stdout
        lines = [printable(line) for line in found.split("\n")]
        return dict(zip(("author", "date", "subject"), [*lines, "", "", ""], strict=False))

    def is_ancestor(self, one: str, other: str) -> bool:
        """Return whether a commit is another one or comes before it."""
        return self.git("merge-base", "--is-ancestor", one, other, check=False).returncode == 0

    def between(self, good: str, bad: str, paths: Sequence[str]) -> list[str]:
        """Return the commits that `bad` has and `good` has not, the oldest first."""
        words = ("rev-list", "--topo-order", "--reverse", bad, f"^{good}", "--", *paths)
        return self.git(*words).stdout.split()

    def size_bytes(self, commit: str) -> int:
        """Return the bytes of all files of a commit."""
        lines = self.git("ls-tree", "-r", "-l", commit).stdout.splitlines()
        sizes = (line.split(None, 4)[3] for line in lines)
        return sum(int(size) for size in sizes if size.isdigit())

    def untracked(self) -> list[str]:
        """Return the paths of all files of the folder that are not of the commit, ignored ones too."""
        listed = self.git("ls-files", "-z", "--others").stdout
        return [name for name in listed.split("\0") if name]

    def begin(self, good: str, bad: str, paths: Sequence[str]) -> Next:
        """Begin a search in a repository that `borrow` returned."""
        # `git bisect start` wants some HEAD.
        self.git("update-ref", "--no-deref", "HEAD", good)
        return self._bisect("start", "--no-checkout", bad, good, "--", *paths)

    def tell(self, word: str, commit: str) -> Next:
        """Tell git that a commit is `good` or `bad`, or that it is to be skipped (`skip`)."""
        return self._bisect(word, commit)

    def next(self) -> str:
        """Return the commit that git asks about."""
        return self.git("rev-parse", "--verify", "BISECT_HEAD").stdout.strip()

    def log(self) -> str:
        """Return what git was told, as `git bisect replay` takes it."""
        found = self.git("bisect", "log").stdout
        return "".join(f"{printable(line)}\n" for line in found.rstrip("\n").split("\n"))

    def _bisect(self, *words: str) -> Next:
        done = self.git("bisect", *words, check=False)
        first_bad = _FIRST_BAD.search(done.stdout)
        if first_bad is not None:
            return Next(first_bad=first_bad[1])
        if done.returncode == _ONLY_SKIPPED and "could be any of" in done.stdout:
            return Next(candidates=tuple(re.findall(r"^([0-9a-f]{40,64})$", done.stdout, re.MULTILINE)))
        if done.returncode != 0:
            message = f"git bisect {words[0]} failed: {_gist(done)}"
            raise SojournError(message)
        left = _LEFT.search(done.stdout)
        return Next() if left is None else Next(left=int(left[1]), steps=int(left[2]))


def _reading() -> dict[str, str]:
    """Return the environment for reading a person's repository: theirs, but for what names another repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {"LC_ALL": "C"}


def _working() -> dict[str, str]:
    """Return the environment for our own repository, without a person's settings."""
    return _reading() | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        # `git bisect log` and notes of refs need somebody.
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "sojourn"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "sojourn@localhost"),
    }


def _git(top: Path, words: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    with os_errors_as(f"git cannot be started in {top}"):
        return subprocess.run(
            ["git", *words],
            cwd=top,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
        )


def printable(line: str) -> str:
    """Return a line that somebody else wrote, with `?` for what would steer a terminal."""
    return "".join(one if one.isprintable() else "?" for one in line)


def _gist(done: subprocess.CompletedProcess[str]) -> str:
    """Return what git said, as one line."""
    said = " ".join((done.stderr.strip() or done.stdout.strip()).split())
    return said.removeprefix("fatal: ").removeprefix("error: ")[:300] or f"it ended with status {done.returncode}"
