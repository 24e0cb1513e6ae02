"""What is generated from a scenario's keys is what tools/generate.py would write, and the keys are the real ones."""

import dataclasses
import json

import pytest

from sojourn import ParamError, _native, scenario_keys
from tools import generate

SCHEMA = json.loads(_native.scenario_schema())


def test_the_files_are_what_the_script_would_write() -> None:
    assert {path.name for path, text in generate.files().items() if path.read_text() != text} == set()


@pytest.mark.parametrize("name", ["Keys", *SCHEMA["$defs"]])
def test_a_class_has_the_keys_that_the_compiled_part_reads(name: str) -> None:
    shape = SCHEMA if name == "Keys" else SCHEMA["$defs"][name]
    fields = {field.name for field in dataclasses.fields(getattr(scenario_keys, name))}
    assert fields == set(shape["properties"])


@pytest.mark.parametrize("key", ["", "tcp", "flows", "probes", "web", "downloads", "games", "wifi", "flusher"])
def test_a_refusal_of_an_unknown_key_names_the_keys_of_the_schema(key: str) -> None:
    unknown: object = {"?": 1}
    found = SCHEMA
    if key:
        shape = SCHEMA["properties"][key]
        unknown = {key: [unknown] if shape.get("type") == "array" else unknown}
        variant = next(one for one in [shape.get("items", shape), *shape.get("anyOf", [])] if "$ref" in one)
        found = SCHEMA["$defs"][variant["$ref"].rpartition("/")[2]]
    assert isinstance(unknown, dict)
    with pytest.raises(ParamError, match="is unknown, but must be one of ") as refusal:
        _native.normalize(json.dumps({"duration": "5s"} | unknown))
    assert str(refusal.value).partition(" one of ")[2].split(", ") == found["x-order"]
