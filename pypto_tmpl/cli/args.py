"""``pypto-tmpl args``: look at the arguments of tasks that a run dumped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pypto_tmpl.runtime.records.dump_reader import ArgsDump, DumpedArg

_STAGES = {"before_dispatch": "before", "after_completion": "after"}


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--task", help="Only this task: r1t3.")
@click.option("--rank", type=click.IntRange(0), help="Only this rank, of a run on several.")
@click.option("--arg", "name", help="Only arguments of this name, or at this position.")
@click.option("--stage", type=click.Choice(["before", "after"]), help="Only before or after the task ran.")
@click.option("--values", is_flag=True, help="Print the cells too.")
@click.option(
    "--save", type=click.Path(path_type=Path), help="Save the one tensor that is left as a .pt file."
)
@click.option("--force", is_flag=True, help="Let --save replace a file that holds something else.")
def args(
    path: Path,
    task: str | None,
    rank: int | None,
    name: str | None,
    stage: str | None,
    values: bool,
    save: Path | None,
    force: bool,
) -> None:
    """List the arguments of tasks that a run dumped (enable_dump_args, enable_dump_tensor).

    PATH is a build directory, its dfx_outputs/, or the index of a dump.
    """
    from pypto_tmpl.runtime.records.dump_reader import DumpError, read_dump

    dump = read_dump(path)
    chosen = [arg for arg in dump.args if _is_chosen(arg, task, rank, name, stage)]
    if not chosen:
        tasks = list(dict.fromkeys(arg.place for arg in dump.args))
        raise DumpError("no dumped argument is like that", notes=[f"tasks: {', '.join(tasks) or 'none'}"])
    if save is not None:
        _save(dump, chosen, save, force)
        return
    for arg in chosen:
        click.echo(_line(arg))
        if values and arg.shape is not None:
            click.echo("    " + str(dump.tensor(arg)).replace("\n", "\n    "))


def _is_chosen(
    arg: DumpedArg, task: str | None, rank: int | None, name: str | None, stage: str | None
) -> bool:
    return (
        task in (None, arg.task)
        and rank in (None, arg.rank)
        and name in (None, arg.name, str(arg.index))
        and stage in (None, _STAGES[arg.stage])
    )


def _line(arg: DumpedArg) -> str:
    what = f"{arg.dtype}{list(arg.shape)}" if arg.shape is not None else f"{arg.dtype} {arg.value}"
    return f"{arg.place}  {arg.index}  {arg.name}  {arg.role}, {_STAGES[arg.stage]}: {what}"


def _save(dump: ArgsDump, chosen: list[DumpedArg], path: Path, force: bool) -> None:
    import io

    import torch

    from pypto_tmpl.generated import has_no_mark, write_generated
    from pypto_tmpl.runtime.records.dump_reader import DumpError

    if len(chosen) != 1:
        raise DumpError(
            f"{len(chosen)} arguments are like that, one can be saved", notes=list(map(_line, chosen))
        )
    data = io.BytesIO()
    torch.save(dump.tensor(chosen[0]), data)
    write_generated(path, data.getvalue(), has_no_mark, force=force, make_folders=True)
