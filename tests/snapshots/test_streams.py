"""Snapshots of the texts of a device build: their cases, files and errors."""

import shutil
from pathlib import Path

import pytest

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.snapshots.cases import find_cases
from pypto_tmpl.snapshots.config import read_config
from pypto_tmpl.snapshots.results import SnapshotState, compare, stale_scripts, update
from pypto_tmpl.snapshots.toml_file import ConfigError
from pypto_tmpl.streams import pto_texts

DUMPS = Path(__file__).parents[1] / "corpus" / "dumps"
PROGRAMS = ("softmax_rows", "swiglu_scope")


@pytest.fixture
def repository(tmp_path):
    for program in PROGRAMS:
        shutil.copytree(DUMPS / program / "Ascend910B", tmp_path / "dumps" / program / "Ascend910B")
    return tmp_path


def configured(folder, lines='streams = ["pto"]\ndumps = "dumps/{program}/{backend}"'):
    file = folder / "pypto-tmpl.toml"
    file.write_text(f'[snapshots]\ngolden = "golden"\n\n[[snapshots.streams]]\n{lines}\n')
    return read_config(file)


def test_a_case_has_all_texts_of_a_program(repository):
    config = configured(repository)
    cases = find_cases(config)
    assert [case.name for case in cases] == [f"{name}/Ascend910B/kernels.pto" for name in PROGRAMS]
    last = repository / "dumps/swiglu_scope/Ascend910B/47_after_ClassifyIterArgCarry.msgpack"
    texts = pto_texts(ir.deserialize_from_file(str(last)), BackendType.Ascend910B)
    expected = "// Emitted by pypto_tmpl: change the IR or a template, not this text.\n"
    for number in range(4):
        path = f"ptoas/scope_incore_{number}.pto"
        expected += f"\n// {path}\n{texts[path]}".rstrip() + "\n"
    result = compare(cases[1])
    assert result.text == expected
    assert (result.state, result.case.script) == (
        SnapshotState.MISSING, repository / "golden/swiglu_scope/Ascend910B/kernels.pto"
    )  # fmt: skip


def test_what_is_accepted_is_the_same_until_it_changes(repository):
    (case,) = find_cases(configured(repository, CHOSEN))
    assert case.name == "softmax_rows/kernels.pto"
    update([compare(case)])
    assert compare(case).state is SnapshotState.SAME
    text = case.script.read_text()
    case.script.write_text(text.replace("pto.texp", "pto.tlog"))
    assert compare(case).state is SnapshotState.DIFFERS
    update([compare(case)])
    assert case.script.read_text() == text


CHOSEN = """\
streams = ["pto"]
dumps = "dumps/{program}/{backend}"
backends = ["Ascend910B"]
programs = ["softmax_rows"]"""


def test_texts_of_no_case_are_told_of_and_files_of_others_are_not(repository):
    config = configured(repository)
    cases = find_cases(config)
    update([compare(case) for case in cases])
    (repository / "golden/mine.pto").write_text("module {}\n")
    fewer = configured(repository, CHOSEN + '\nname = "{program}/{backend}/{stream}"')
    assert stale_scripts(fewer, find_cases(fewer)) == [cases[1].script]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ('streams = ["pto", "pta"]\ndumps = "dumps/{program}/{backend}"', "there is no stream 'pta'"),
        ('streams = ["pto"]\ndumps = "dumps/{program}/*"', "does not tell by {backend} what its dumps are"),
        (CHOSEN.replace("softmax_rows", "softmax"), "no dumps are of 'softmax'"),
        (CHOSEN.replace("910B", "777"), "no dumps of the backend 'Ascend777'"),
        (CHOSEN + '\nstages = ["last"]', "unknown key 'stages'"),
    ],
)
def test_what_a_table_cannot_say(repository, lines, what):
    with pytest.raises(ConfigError, match=what) as caught:
        find_cases(configured(repository, lines))
    file, _, line = caught.value.where.rpartition(":")
    assert file.endswith("pypto-tmpl.toml") and int(line) >= 4


def test_the_texts_of_the_host_are_streams_too(repository):
    config = configured(repository, CHOSEN.replace('["pto"]', '["orchestration", "config"]'))
    code, listed = find_cases(config)
    assert [code.name, listed.name] == ["softmax_rows/orchestration.cpp", "softmax_rows/kernel_config.py"]
    update([compare(case) for case in (code, listed)])
    mark, path = code.script.read_text().splitlines()[:3:2]
    assert (mark[:11], path) == ("// Emitted ", "// orchestration/main.cpp")
    assert '"name": "main_incore_0"' in listed.script.read_text()
    assert stale_scripts(config, [code]) == [listed.script]


def test_the_driver_of_several_chips_is_a_stream(tmp_path):
    recorded = Path(__file__).parents[1] / "streams"
    folder = tmp_path / "dumps/ring_shift_put/Ascend910B"
    folder.mkdir(parents=True)
    shutil.copy(
        recorded / "recorded/ring_shift_put/Ascend910B/last.msgpack", folder / "49_after_Last.msgpack"
    )
    (case,) = find_cases(configured(tmp_path, 'streams = ["driver"]\ndumps = "dumps/{program}/{backend}"'))
    assert case.name == "ring_shift_put/Ascend910B/host_orch.py"
    text = compare(case).text
    mark = '"""Emitted by pypto_tmpl: change the IR or a template, not this text."""\n\n'
    driver = (recorded / "drivers/ring_shift_put.py.txt").read_text()
    assert text == f"{mark}# orchestration/host_orch.py\n{driver}"
