"""The JSON schema that editors read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from pypto_tmpl.ops.schema import schema_path, schema_text
from pypto_tmpl.resources import template_root

FAMILIES = sorted((template_root() / "ops").glob("*.yaml"))


def test_the_committed_schema_is_fresh() -> None:
    assert schema_path().read_bytes().decode() == schema_text(), "update: pypto-tmpl ops schema --write"


def test_every_key_is_documented() -> None:
    for struct in json.loads(schema_text())["$defs"].values():
        for name, key in struct["properties"].items():
            assert key.get("description"), f"{struct['title']}.{name}"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads(schema_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_schema_takes_what_the_loader_takes(
    validator: Draft202012Validator, table_dir: Callable[..., Path]
) -> None:
    data = yaml.safe_load((table_dir() / "ops/reduce.yaml").read_text())
    validator.validate(data)
    data["ops"][0]["emitt"] = "x"
    assert [error.message for error in validator.iter_errors(data)] == [
        "Additional properties are not allowed ('emitt' was unexpected)"
    ]


@pytest.mark.parametrize("path", FAMILIES, ids=lambda path: path.stem)
def test_family_files_are_valid(validator: Draft202012Validator, path: Path) -> None:
    validator.validate(yaml.load(path.read_text(), Loader=yaml.CSafeLoader))
