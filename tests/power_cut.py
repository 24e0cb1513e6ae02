"""What a file system may hold after a power cut, from a trace of what a program really asked of it.

The program runs under strace. Its writes, renames and fsyncs are replayed on a model of a file system that keeps only
what POSIX promises and what every Linux file system with a journal does:

- the bytes of a file are safe when the file was forced to the disk; of later bytes any part may be there;
- the names in a folder are safe when the folder was forced to the disk; of later changes to one folder any first part
  may be there, in their order, whatever became of other folders (as on btrfs, which keeps a log for each folder);
- a rename is in both of its folders or in neither, and a folder that is removed is empty.

`Disk.cuts` draws states from these. Whoever uses the model checks it: after the last call `Disk.tree` must be what is
on the real disk.
"""

from __future__ import annotations

import posixpath
import random
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: A state of files: the bytes of each file, `None` for a folder, by path relative to the root.
Tree = dict[str, bytes | None]

_CALLS = (
    "openat,open,creat,write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
    "unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate,truncate,sendfile,copy_file_range,splice,fallocate,sync,syncfs"
)
_LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<words>.*)\) += (?P<result>\d+)(?:<.*>)?$")
_BEGUN = re.compile(r"(?P<pid>\d+) +(?P<start>\w+\(.*) <unfinished \.\.\.>$")
_RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. \w+ resumed>(?P<rest>.*)$")
_WORD = re.compile(r'"(?P<text>(?:\\x[0-9a-f]{2})*)"|(?:AT_FDCWD|\d+)<(?P<place>(?:\\x[0-9a-f]{2})*)>')


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that succeeded: its name, the paths in it, its flags and what it wrote."""

    name: str
    paths: tuple[str, ...]
    flags: str
    data: bytes
    result: int


@dataclass(eq=False, slots=True)
class File:
    """A file: its bytes now, and those that are on the disk for certain."""

    data: bytes = b""
    forced: bytes = b""


@dataclass(eq=False, slots=True)
class Change:
    """A change of names, which is on the disk as a whole or not at all."""

    #: Folder, name, and what the name is of after the change.
    names: list[tuple[Folder, str, File | Folder | None]]
    #: Changes that are on the disk if this one is.
    after: list[Change]
    #: Whether it is on the disk for certain.
    forced: bool = False


@dataclass(eq=False, slots=True)
class Folder:
    """A folder: its names now, those that are on the disk for certain, and the changes since."""

    names: dict[str, File | Folder] = field(default_factory=dict)
    forced: dict[str, File | Folder] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)


class Disk:
    """The model of a file system below a folder that is there, with everything in it on the disk for certain."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.top = self._load(root)

    def _load(self, path: Path) -> Folder:
        folder = Folder()
        for entry in path.iterdir():
            folder.names[entry.name] = (
                self._load(entry) if entry.is_dir() else File(entry.read_bytes(), entry.read_bytes())
            )
        folder.forced = dict(folder.names)
        return folder

    def _at(self, path: str) -> tuple[Folder, str] | None:
        """Return the folder of a path and its last name, or `None` if it is not below the root."""
        if not path.startswith(self.root + "/"):
            return None
        *way, last = path[len(self.root) + 1 :].split("/")
        folder = self.top
        for name in way:
            below = folder.names[name]
            assert isinstance(below, Folder)
            folder = below
        return folder, last

    def _node(self, path: str) -> File | Folder | None:
        if path == self.root:
            return self.top
        place = self._at(path)
        return None if place is None else place[0].names[place[1]]

    def _change(self, *names: tuple[Folder, str, File | Folder | None]) -> None:
        removed = [folder.names.get(name) for folder, name, node in names if node is None and len(names) == 1]
        change = Change(list(names), [one for node in removed if isinstance(node, Folder) for one in node.changes])
        for folder in {folder: None for folder, _, _ in names}:
            folder.changes.append(change)
        _apply(change, None)

    def do(self, call: Call) -> bool:
        """Do what a call did; return whether that was below the root."""
        places = [self._at(path) for path in call.paths]
        if not any(places) and self.root not in call.paths:
            return False
        match call.name:
            case "openat" | "open" | "creat":
                assert places[-1] is not None or call.paths[-1] == self.root
                if places[-1] is None:
                    return True
                folder, name = places[-1]
                if "O_CREAT" in call.flags and name not in folder.names:
                    self._change((folder, name, File()))
                elif "O_TRUNC" in call.flags:
                    node = folder.names[name]
                    assert isinstance(node, File)
                    node.data = b""
            case "write":
                written = self._node(call.paths[0])
                assert isinstance(written, File)
                written.data += call.data[: call.result]
            case "fsync" | "fdatasync":
                forced = self._node(call.paths[0])
                if isinstance(forced, File):
                    forced.forced = forced.data
                elif forced is not None:
                    for change in forced.changes:
                        change.forced = True
                    forced.forced, forced.changes = dict(forced.names), []
            case "rename" | "renameat" | "renameat2":
                (old, was), (new, becomes) = (place for place in places if place is not None)
                self._change((old, was, None), (new, becomes, old.names[was]))
            case "mkdir" | "mkdirat":
                assert places[-1] is not None
                self._change((*places[-1], Folder()))
            case "unlink" | "unlinkat" | "rmdir":
                assert places[-1] is not None
                self._change((*places[-1], None))
            case _:
                raise NotImplementedError(call)
        return True

    def tree(self) -> Tree:
        """Return what programs see now: what is left when a process is killed and the machine goes on."""
        return _tree(self.top, {}, lambda file: file.data)

    def cuts(self, draw: random.Random, number: int = 3) -> Iterator[Tree]:
        """Return what may be left when the power is cut now: the least, all names without bytes, and some between."""
        folders = list(_folders(self.top))
        yield self._cut(dict.fromkeys(folders, 0), lambda file: file.forced)
        every = {folder: len(folder.changes) for folder in folders}
        yield self._cut(every, lambda file: file.forced)
        for _ in range(number):
            some = {folder: draw.randint(0, count) for folder, count in every.items()}
            yield self._cut(some, lambda file: _part(file, draw))

    def _cut(self, counts: dict[Folder, int], data: Callable[[File], bytes]) -> Tree:
        """Return a state, given how many of the changes of each folder are in it; more are if a rename needs them."""
        while True:
            there = {change for folder, count in counts.items() for change in folder.changes[:count]}
            there |= {needed for change in there for needed in change.after}
            more = {
                folder: max([n + 1 for n, one in enumerate(folder.changes) if one.forced or one in there], default=0)
                for folder in counts
            }
            if all(more[folder] <= counts[folder] for folder in counts):
                break
            counts = {folder: max(counts[folder], more[folder]) for folder in counts}
        names = {}
        for folder, count in counts.items():
            found = dict(folder.forced)
            for change in folder.changes[:count]:
                _apply(change, folder, found)
            names[folder] = found
        return _tree(self.top, names, data)


def traced(words: Sequence[str], cwd: Path, log: Path) -> list[Call]:
    """Run a command under strace and return the calls that changed files or forced them to the disk, in their order.

    Raises `subprocess.CalledProcessError` if the command fails.
    """
    strace = ["strace", "-f", "-y", "-xx", "-s", str(1 << 24), "-e", f"trace={_CALLS}", "-e", "signal=none"]
    subprocess.run([*strace, "-o", str(log), *words], cwd=cwd, check=True, capture_output=True)
    calls = []
    begun: dict[str, str] = {}
    with log.open() as lines:
        for line in lines:
            if match := _BEGUN.match(line):
                begun[match["pid"]] = match["start"]
                continue
            if match := _RESUMED.match(line):
                line = f"{match['pid']} {begun.pop(match['pid'])}{match['rest']}"  # noqa: PLW2901
            if match := _LINE.match(line):
                calls.append(_call(match["name"], match["words"], int(match["result"]), cwd))
    return calls


def _call(name: str, words: str, result: int, cwd: Path) -> Call:
    found = list(_WORD.finditer(words))
    if name in {"write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fallocate"}:
        data = b"".join(_bytes(match["text"]) for match in found if match["text"] is not None)
        return Call(name, (_bytes(found[0]["place"]).decode(),), "", data, result)
    paths = []
    folder = str(cwd)
    for match in found:
        if match["text"] is None:
            folder = _bytes(match["place"]).decode()
        else:
            paths.append(posixpath.normpath(posixpath.join(folder, _bytes(match["text"]).decode())))
            folder = str(cwd)
    return Call(name, tuple(paths), words, b"", result)


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _apply(change: Change, only: Folder | None, names: dict[str, File | Folder] | None = None) -> None:
    """Do a change to the names of its folders, or to `names`, which are a state of one of them."""
    for folder, name, node in change.names:
        if only is not None and folder is not only:
            continue
        there = folder.names if names is None else names
        if node is None:
            there.pop(name, None)
        else:
            there[name] = node


def _folders(top: Folder) -> list[Folder]:
    """Return all folders that may be there after a cut."""
    found: dict[Folder, None] = {}
    left = [top]
    while left:
        folder = left.pop()
        if folder not in found:
            found[folder] = None
            nodes = [*folder.names.values(), *folder.forced.values()]
            nodes += [node for change in folder.changes for _, _, node in change.names if node is not None]
            left += [node for node in nodes if isinstance(node, Folder)]
            left += [other for change in folder.changes for other, _, _ in change.names]
    return list(found)


def _part(file: File, draw: random.Random) -> bytes:
    """Return the bytes of a file that was not forced to the disk since they changed: any part of them."""
    if file.data == file.forced:
        return file.data
    return draw.choice([file.forced, file.data[: draw.randint(0, len(file.data))], bytes(len(file.data))])


def _tree(top: Folder, names: dict[Folder, dict[str, File | Folder]], data: Callable[[File], bytes]) -> Tree:
    found: Tree = {}
    left: list[tuple[str, Folder]] = [("", top)]
    while left:
        before, folder = left.pop()
        for name, node in names.get(folder, folder.names).items():
            if isinstance(node, Folder):
                found[before + name] = None
                left.append((f"{before}{name}/", node))
            else:
                found[before + name] = data(node)
    return found


def read_tree(root: Path) -> Tree:
    """Return what is below a folder."""
    paths = sorted(root.rglob("*"))
    return {path.relative_to(root).as_posix(): None if path.is_dir() else path.read_bytes() for path in paths}


def write_tree(tree: Tree, root: Path) -> None:
    """Write a state of files into an empty folder."""
    for path in sorted(tree):
        data = tree[path]
        if data is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(data)
