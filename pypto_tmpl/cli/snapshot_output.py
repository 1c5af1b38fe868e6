"""What ``pypto-tmpl snapshot`` prints: for people, for programs, for GitHub, for ``git apply``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from pypto_tmpl.cli.colours import unified_diff, verdict
from pypto_tmpl.snapshots.annotations import annotation_lines, stale_annotation
from pypto_tmpl.snapshots.config import Config
from pypto_tmpl.snapshots.patch import Change, FilePatch, grouped, hunk_text, patch_name
from pypto_tmpl.snapshots.results import SnapshotResult
from pypto_tmpl.snapshots.toml_file import shown_from_here

NAMES = 5  # of the scripts that share a change, as many are named


class Output:
    """The output of one call, in one style."""

    def __init__(self, config: Config, action: str, style: str) -> None:
        self._config = config
        self._action = action
        self._style = style

    def patch(self, result: SnapshotResult) -> FilePatch:
        """The difference of a script, with bytes that are no UTF-8 as surrogates."""
        old = None if result.committed is None else result.committed.decode("utf-8", "surrogateescape")
        return FilePatch(patch_name(result.case.script, self._config.folder), old, result.text)

    def results(self, differing: Sequence[SnapshotResult]) -> None:
        """What differs, or was updated."""
        if self._style == "json":
            for result in differing:
                click.echo(json.dumps(self._row(result)))
        elif self._style == "patch":
            text = "".join(self.patch(result).text() for result in differing)
            click.echo(text.encode("utf-8", "surrogateescape"), nl=False)
        elif self._style == "github" and self._action != "update":
            for line in annotation_lines([(result, self.patch(result)) for result in differing]):
                click.echo(line)
        elif self._action == "diff":
            self._differences(differing)
        else:
            for result in differing:
                is_good = self._action == "update"
                click.echo(
                    f"{verdict('updated' if is_good else result.state.value, is_good)}: {result.case.name}"
                )

    def _row(self, result: SnapshotResult) -> dict[str, str]:
        state = "updated" if self._action == "update" else result.state.value
        row = {"case": result.case.name, "script": shown_from_here(result.case.script), "state": state}
        if self._action == "diff":
            row["diff"] = "\n".join([*result.notes(), _shown(self.patch(result).text())])
        return row

    def _differences(self, differing: Sequence[SnapshotResult]) -> None:
        """Changes that several scripts share, once; then each script with what is its own."""
        patches = [self.patch(result) for result in differing]
        changes = grouped(patches)
        shared = [change for change in changes if change.file_count > 1]
        for change in shared:
            patch, hunk = change.first
            click.echo(
                click.style(f"# the same change in {change.file_count} scripts: {_names(change)}", bold=True)
            )
            _echo_patch(patch.head(), hunk_text(hunk))
        for result, patch in zip(differing, patches, strict=True):
            own = [c.first[1] for c in changes if c.file_count == 1 and c.first[0] is patch]
            for note in result.notes():
                click.echo(f"# {patch.name}: {note}")
            if own:
                _echo_patch(patch.head(), *map(hunk_text, sorted(own, key=lambda hunk: hunk.old)))
        if shared:
            click.echo("# for `git apply`, everything: pypto-tmpl snapshot --diff --format patch")

    def stale(self, paths: Sequence[Path], prune: bool) -> None:
        """Scripts that belong to no case: found, or about to be removed."""
        state = "removed" if prune else "stale"
        for path in paths:
            shown = shown_from_here(path)
            if self._style == "json":
                click.echo(json.dumps({"script": shown, "state": state}))
            elif self._style == "github" and not prune:
                click.echo(stale_annotation(shown))
            else:
                click.echo(f"{state}: {shown}", err=self._style == "patch")

    def summary(self, total: int, changed: int, broken: int, stale: int) -> None:
        """The last lines for people, with what they can do."""
        if self._style != "text":
            return
        what = "updated" if self._action == "update" else "differ"
        broken_text = f", {broken} cannot be emitted" if broken else ""
        click.echo(f"{total} golden scripts, {changed} {what}{broken_text}")
        if changed and self._action == "check":
            click.echo("see how: pypto-tmpl snapshot --diff      accept: pypto-tmpl snapshot --update")
        if stale:
            click.echo(f"{stale} without a case; remove them: pypto-tmpl snapshot --update --prune")


def _names(change: Change) -> str:
    names = list(dict.fromkeys(patch.name for patch, _ in change.places))
    more = len(names) - NAMES
    return ", ".join(names[:NAMES]) + (f" and {more} more" if more > 0 else "")


def _echo_patch(head: Sequence[str], *hunks: str) -> None:
    click.echo(unified_diff(_shown("\n".join([*head, *hunks])).split("\n")))


def _shown(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
