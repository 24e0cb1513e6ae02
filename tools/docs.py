"""docs [--stage | --install]: builds the documentation's site in out/site; `make docs` sets up first.

The sources of the site are gathered in out/docs: the folder docs/, pages of the repository's root (README.md is the
first page), the examples, and the reference of commands, disciplines and Python, which is written from the programs
themselves. A link between two files of the repository becomes one between two pages of the site; a link that leads
nowhere is an error. If `make web` has built the pages for a browser, they are in the site as well, with their first
figure on its first page. MkDocs makes the site of these sources, and takes no warning. With --stage it is not called;
with --install its packages are installed, and nothing is built.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import sojourn
from sojourn.cli.catalogue import catalogue
from sojourn.cli.main import build_parser

ROOT = Path(__file__).resolve().parents[1]
STAGE = "out/docs"
#: Pages of the repository's root, by their names on the site.
PAGES = {"index.md": "README.md"} | {
    f"{name}.md": f"{name}.md" for name in ("DESIGN", "CONTRIBUTING", "PAPERS", "CHANGELOG")
}
#: The built pages for a browser, which are the folder story/ of the site if they are there.
STORY = "out/web"
#: Their first figure, for the first page of the site.
FIGURE = """\
<iframe src="story/embed.html#call/en" title="Why a call breaks up" width="100%" height="400"></iframe>

<p><a href="story/index.html">The whole story, with seven figures</a>, and
<a href="story/lab.html">the laboratory</a>.</p>

"""
#: Files of docs/ that are no part of the site.
LEFT_OUT = {"pages.toml", "data/pages.json"}
_LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )([^)#\s]+)", re.MULTILINE)
#: The name of a page in running text.
_MENTION = re.compile(r"(?<!\]\()(?<![\w/\[])docs/[\w/-]+\.md")
#: An item of a list in a list: MkDocs wants four spaces before it where two or three are enough elsewhere.
_NESTED = re.compile(r"^ {2,3}(?=[-*] )", re.MULTILINE)
_CODE = re.compile(r"(^ *```.*?^ *```|(?<=\n\n)(?: {4}[^\n]*\n|\n(?= {4}))+|`[^`]+`)", re.MULTILINE | re.DOTALL)


def sources(root: Path) -> dict[str, Path]:
    """Return the files of the repository that are files of the site, by their names there."""
    docs, examples = root / "docs", sorted((root / "examples").glob("*.toml"))
    found = {name: root / source for name, source in PAGES.items()}
    found |= {one.relative_to(docs).as_posix(): one for one in sorted(docs.rglob("*")) if one.is_file()}
    found |= {f"examples/{one.name}": one for one in examples}
    return {name: path for name, path in found.items() if name not in LEFT_OUT}


def site(root: Path) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of the site, and a sentence for each link that leads nowhere."""
    found, broken = sources(root), []
    names = {path.relative_to(root).as_posix(): name for name, path in found.items()}
    files = {name: path.read_bytes() for name, path in found.items()}
    titles = {
        name: data.partition(b"\n")[0].decode().removeprefix("# ") for name, data in files.items() if name[-3:] == ".md"
    }
    files |= {f"reference/{name}.md": text.encode() for name, text in reference().items()}
    for name in files:
        if not name.endswith(".md"):
            continue
        text, here = files[name].decode(), name
        if name in found:
            here = found[name].relative_to(root).as_posix()
            text = _for_the_site(text, here, name, names, titles)
            files[name] = text.encode()
        for target in links(text):
            if posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) not in files:
                broken.append(f"{here} has a link to {target}, which is no page")
    return files, broken


def _for_the_site(text: str, here: str, name: str, names: dict[str, str], titles: dict[str, str]) -> str:
    """Return a page of the repository as MkDocs wants it: its links, and names of pages in it, lead to the site's."""

    def link(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), found[2]))
        # The generated pages are files of the site alone.
        shown = names.get(path, path.removeprefix("docs/") if path.startswith("docs/reference/") else None)
        if ":" in found[2] or shown is None:
            return found[0]
        return found[1] + posixpath.relpath(shown, posixpath.dirname(name) or ".")

    def mention(found: re.Match[str]) -> str:
        shown = names.get(found[0])
        if shown is None:
            return found[0]
        return f"[{titles[shown]}]({posixpath.relpath(shown, posixpath.dirname(name) or '.')})"

    parts = _CODE.split(_NESTED.sub("    ", text))
    parts[::2] = [_MENTION.sub(mention, _LINK.sub(link, part)) for part in parts[::2]]
    return "".join(parts)


def links(text: str) -> Iterator[str]:
    """Yield the files that a page links to."""
    yield from (found[2] for found in _LINK.finditer(_CODE.sub("", text)) if ":" not in found[2])


def main(words: list[str]) -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(prog="docs", description=__doc__)
    parser.add_argument("--stage", action="store_true", help=f"only gather the sources in {STAGE}")
    parser.add_argument("--install", action="store_true", help="only install the packages that make the site")
    args = parser.parse_args(words)
    if not args.stage and (find_spec("mkdocs") is None or find_spec("mkdocstrings") is None):
        print("docs: installing the packages of the site", file=sys.stderr)
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        packages = project["optional-dependencies"]["docs"]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--constraint", "scripts/constraints.txt", *packages], check=True, cwd=ROOT)
    if args.install:
        return 0
    files, broken = site(ROOT)
    if (ROOT / STORY / "embed.html").is_file():
        title, _, rest = files["index.md"].decode().partition("\n\n")
        files["index.md"] = f"{title}\n\n{FIGURE}{rest}".encode()
    for sentence in broken:
        print(f"docs: {sentence}", file=sys.stderr)
    if broken:
        return 1
    shutil.rmtree(ROOT / STAGE, ignore_errors=True)
    for name, data in files.items():
        path = ROOT / STAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if args.stage:
        return 0
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    status = subprocess.run([sys.executable, "-m", "mkdocs", "build"], cwd=ROOT, env=quiet, check=False).returncode
    if status == 0 and (ROOT / STORY / "embed.html").is_file():
        shutil.copytree(ROOT / STORY, ROOT / "out/site/story", ignore=shutil.ignore_patterns("view*", "report"))
    return status


def reference() -> dict[str, str]:
    """Return the generated pages by name."""
    return {"commands": commands(), "daemon": daemon(), "disciplines": disciplines(), "python": python()}


def commands() -> str:
    """Return the page of all commands, from their parsers."""
    parts = ["# Commands", "This page holds what `sojourn COMMAND --help` prints.", *_help(build_parser())]
    for name, parser in _subparsers(build_parser()).items():
        parts += [f"## sojourn {name}", *_help(parser)]
        for inner, one in _subparsers(parser).items():
            parts += [f"### sojourn {name} {inner}", *_help(one)]
    return "\n\n".join(parts) + "\n"


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    return {name: inner for one in found for name, inner in one.choices.items()}


def _help(parser: argparse.ArgumentParser) -> list[str]:
    """Return the paragraphs of a help text; columns of a table stand as they are, and options in a list."""
    text = [] if parser.description is None else parser.description.strip().split("\n\n")
    parts = [f"```text\n{one}\n```" if re.search(r"^ ", one, re.MULTILINE) else one for one in text]
    for group in parser._action_groups:
        actions = [one for one in group._group_actions if "-h" not in one.option_strings]
        rows = [_option(parser, one) for one in actions if one.help != argparse.SUPPRESS]
        if rows:
            words = group.title or ""
            parts += [f"**{words[:1].upper()}{words[1:]}**", *([group.description] if group.description else [])]
            parts += ["\n".join(rows)]
    return parts


def _option(parser: argparse.ArgumentParser, one: argparse.Action) -> str:
    """Return an argument or option as an item of a list; a command with what it does."""
    if isinstance(one, argparse._SubParsersAction):
        return "\n".join(f"- `{each.dest}`: {each.help}" for each in one._choices_actions)
    formatter = parser._get_formatter()
    metavar = formatter._format_args(one, one.dest.upper()) if one.nargs != 0 else ""
    name = f"{', '.join(one.option_strings)} {metavar}".strip()
    return f"- `{name}`: {' '.join(formatter._expand_help(one).split())}"


def daemon() -> str:
    """Return the page of the daemon's commands, from its help texts; without the program it says so."""
    parts = ["# The daemon", "This page holds what `sojournd COMMAND --help` prints."]
    program = Path(sys.executable).with_name("sojournd")
    if not program.exists():
        return (
            "\n\n".join([*parts, "The daemon was not built when this page was made: `scripts/setup` builds it."]) + "\n"
        )
    for words in ("bottleneck", "bottleneck set", "bottleneck show", "bottleneck stop", "flush"):
        done = subprocess.run([program, *words.split(), "--help"], capture_output=True, text=True, check=True)
        parts.append(f"{'#' * (2 + words.count(' '))} sojournd {words}")
        for block in done.stdout.strip().split("\n\n"):
            head, _, rest = block.partition("\n")
            if re.match(r"[A-Z]\w+:$", head):
                items = re.sub(r"\n {9,}", " ", rest).splitlines()
                rows = [re.split(r" {2,}", item.strip(), maxsplit=1) for item in items]
                parts += [f"**{head[:-1]}**", "\n".join(f"- `{row[0]}`: {' '.join(row[1:])}" for row in rows)]
            else:
                parts.append(f"```text\n{block}\n```" if head.startswith("Usage:") else block)
    return "\n\n".join(parts) + "\n"


def disciplines() -> str:
    """Return the page of queue disciplines, presets and congestion controls, from what `sojourn list` prints."""
    found = catalogue()
    parts = [
        "# Queue disciplines",
        "A text of a discipline is what follows `tc qdisc add dev DEVICE root`. This page holds what `sojourn list` "
        "prints of disciplines, presets and congestion controls.",
    ]
    for one in found.qdiscs:
        parts += [f"## {one.kind}", _sentence(one.summary)]
        rows = []
        for each in one.parameters:
            default = "" if each.default is None else each.default
            rows.append(f"| `{each.name}` | {each.unit} | {default} | {each.help} |")
        heads = "| parameter | unit | default | meaning |\n| :-- | :-- | :-- | :-- |\n"
        parts += [heads + "\n".join(rows)] if rows else []
        parts += [f"Source: {one.source}."] if one.source else []
    only = found.linux
    parts += [
        "## Only on the linux back end",
        "\n".join(f"- `{one['kind']}`: {one['summary']}" for one in only.qdiscs),
    ]
    parts += ["## Presets", "Each direction is resolved from the rate of its own link."]
    for preset in found.presets:
        rows = [f"| {rate} | `{text}` |" for rate, text in preset.expands.items()]
        parts += [f"### {preset.name}", _sentence(preset.summary)]
        parts += ["| rate | text |\n| --: | :-- |\n" + "\n".join(rows)]
    parts += ["## Congestion controls", f"In the simulator: {', '.join(f'`{name}`' for name in found.cc)}."]
    parts += ["On the linux back end also:", "\n".join(f"- `{one['name']}`: {one['summary']}" for one in only.cc)]
    return "\n\n".join(parts) + "\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def python() -> str:
    """Return the page of Python's names, which mkdocstrings fills."""
    about = "The names that `import sojourn` has. [Sojourn from Python](../guides/python.md) shows how to use them."
    names: list[Any] = [getattr(sojourn, name) for name in sojourn.__all__ if not name.startswith("__")]
    return f"# Python\n\n{about}\n" + "".join(f"\n::: {one.__module__}.{one.__qualname__}\n" for one in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
