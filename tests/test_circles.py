"""`scripts/circles` finds the circles of a made-up repository."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "circles"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("circles_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def found(script: ModuleType, root: Path, files: dict[str, str]) -> list[list[str]]:
    tree(root, files)
    graphs = [script.rust(source, root) for source in sorted(root.glob("crates/*/src"))]
    if (root / "python/sojourn").is_dir():
        graphs.append(script.python(root / "python/sojourn", root))
    return sorted(sorted(Path(name).name for name in circle) for graph in graphs for circle in script.circles(graph))


SRC = "crates/x/src/"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("use crate::b::B;", "use crate::a::A;"),
        ("use super::b::{self, B};", "fn f() -> crate::a::A { todo!() }"),
        ("use crate::{c::C, b::{inner::D, B}};", "use crate::{\n    a::A,\n};"),
        ("pub(crate) use crate::b::B;", "impl super::a::A {}"),
    ],
)
def test_two_rust_files_that_name_each_other_are_a_circle(script: ModuleType, tmp_path: Path, a: str, b: str) -> None:
    files = {SRC + "lib.rs": "mod a;\nmod b;\nmod c;\n", SRC + "a.rs": a, SRC + "b.rs": b, SRC + "c.rs": ""}
    assert found(script, tmp_path, files) == [["a.rs", "b.rs"]]


@pytest.mark.parametrize(
    "b",
    [
        "// use crate::a::A;",
        "/* use crate::a::A; */",
        'const TEXT: &str = "crate::a::A";',
        "use other::a::A;",
        "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
    ],
)
def test_comments_texts_tests_and_other_crates_do_not_count(script: ModuleType, tmp_path: Path, b: str) -> None:
    files = {SRC + "lib.rs": "mod a;\nmod b;\n", SRC + "a.rs": "use crate::b::B;", SRC + "b.rs": b}
    assert found(script, tmp_path, files) == []


def test_a_module_and_its_parts_are_no_circle_but_two_parts_can_be(script: ModuleType, tmp_path: Path) -> None:
    files = {
        SRC + "lib.rs": "mod m;\npub use m::Top;\n",
        SRC + "m.rs": "mod one;\nmod two;\npub use one::One;\nstruct Top;\nfn f() { two::go() }\n",
        SRC + "m/one.rs": "use super::Top;\nuse crate::Top as Same;\n",
        SRC + "m/two.rs": "use super::{Top, one::One};\n",
    }
    assert found(script, tmp_path / "fine", files) == []
    files[SRC + "m/one.rs"] = "use super::two::go;\n"
    assert found(script, tmp_path / "circle", files) == [["one.rs", "two.rs"]]


def test_what_a_module_passes_on_is_looked_up_where_it_is(script: ModuleType, tmp_path: Path) -> None:
    files = {
        SRC + "lib.rs": "mod a;\nmod b;\npub use b::deep::Far as Near;\n",
        SRC + "a.rs": "use crate::Near;\nstruct A;",
        SRC + "b/mod.rs": "pub(crate) mod deep;\npub use deep::Far;\n",
        SRC + "b/deep.rs": "use crate::a::A;\nstruct Far;",
    }
    assert found(script, tmp_path / "renamed", files) == []
    files[SRC + "a.rs"] = "use crate::b::Far;\nstruct A;"
    assert found(script, tmp_path / "passed", files) == [["a.rs", "deep.rs"]]


PY = "python/sojourn/"


def test_python_imports_are_circles_in_functions_too_but_not_for_types(script: ModuleType, tmp_path: Path) -> None:
    files = {
        PY + "__init__.py": "from sojourn.a import A\n",
        PY + "a.py": "from sojourn import b\n",
        PY + "b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sojourn.a import A\n",
    }
    assert found(script, tmp_path / "types", files) == []
    files[PY + "b.py"] = "def f():\n    from sojourn.a import A\n"
    assert found(script, tmp_path / "function", files) == [["a.py", "b.py"]]
    files[PY + "b.py"] = "import sojourn.c.d\n"
    files[PY + "c/__init__.py"] = ""
    files[PY + "c/d.py"] = "from sojourn.a import A\n"
    assert found(script, tmp_path / "three", files) == [["a.py", "b.py", "d.py"]]


def test_the_status_is_1_for_a_circle(tmp_path: Path) -> None:
    files = {SRC + "lib.rs": "mod a;\nmod b;\n", SRC + "a.rs": "use crate::b::B;", SRC + "b.rs": "use crate::a::A;"}
    tree(tmp_path, files)
    run = subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout.splitlines() == [
        "2 files:",
        "    crates/x/src/a.rs -> crates/x/src/b.rs",
        "    crates/x/src/b.rs -> crates/x/src/a.rs",
        "1 circles",
    ]


def test_this_repository_has_no_circle() -> None:
    run = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "0 circles\n")
