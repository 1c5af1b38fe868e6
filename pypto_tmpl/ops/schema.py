"""The JSON schema of family files, for completion and hover text in editors."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from pypto_tmpl.generated import json_in, write_generated
from pypto_tmpl.ops.model import FamilyFile
from pypto_tmpl.resources import template_root


def schema_path() -> Path:
    """Where the committed schema lies; family files name it in their first line."""
    return template_root() / "op_table.schema.json"


def schema_text() -> str:
    """The schema as the model classes have it now."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(FamilyFile)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _is_schema(data: bytes) -> bool:
    found = json_in(data)
    return isinstance(found, dict) and found.get("$ref") == f"#/$defs/{FamilyFile.__name__}"


def write_schema() -> Path:
    """Bring the committed schema up to date."""
    path = schema_path()
    write_generated(path, schema_text(), _is_schema)
    return path
