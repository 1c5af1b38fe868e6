"""Hunks, what is the same in several scripts, the page, and which lines are the program."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_tmpl.codegen.layout import program_lines, program_part
from pypto_tmpl.snapshots.page import sections
from pypto_tmpl.snapshots.patch import FilePatch, grouped, patch_name

OLD = "".join(f"{number}\n" for number in range(1, 21))


def test_the_text_of_a_patch():
    new = OLD.replace("10\n", "ten\n")
    assert FilePatch("a/b.py", OLD, new).text() == (
        "diff --git a/a/b.py b/a/b.py\n--- a/a/b.py\n+++ b/a/b.py\n"
        "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )


def test_new_and_deleted_files():
    assert FilePatch("a.py", None, "x").text() == (
        "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n"
        "@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n"
    )
    assert FilePatch("a.py", "x\n", None).text() == (
        "diff --git a/a.py b/a.py\ndeleted file mode 100644\n--- a/a.py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"
    )


LINES = st.lists(st.sampled_from(["", "a", "b", "c\r", "é", "--- a", "+x", "@@"]), max_size=12)


@settings(max_examples=15)
@given(LINES, LINES, st.sampled_from(["", "\n"]), st.sampled_from(["plain.py", "with blank.py"]))
def test_git_applies_every_patch(tmp_path_factory, old, new, end, name):
    texts = ["\n".join([*old, "x"]) + "\n", "\n".join([*new, "x"]) + end]
    if texts[0] == texts[1]:
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / name).write_bytes(texts[0].encode())
    patch = FilePatch(name, *texts).text().encode()
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=patch, cwd=folder, check=True)
    assert (folder / name).read_bytes() == texts[1].encode()


def test_the_same_change_is_found_whatever_stands_around_it():
    patches = [
        FilePatch("one.py", f"a\n{OLD}", f"a\n{OLD}".replace("10\n", "ten\n")),
        FilePatch("two.py", OLD, OLD.replace("10\n", "ten\n").replace("20\n", "end\n")),
        FilePatch(
            "three.py", OLD.replace("9\n", "nine\n"), OLD.replace("9\n", "nine\n").replace("10\n", "ten\n")
        ),
    ]
    changes = [
        (change.file_count, change.first[0].name, change.first[1].first_line) for change in grouped(patches)
    ]
    assert changes == [(3, "one.py", 11), (1, "two.py", 20)]


def test_names_are_seen_from_where_the_patch_is_applied(tmp_path, monkeypatch):
    project = tmp_path / "project"
    (project / "deep").mkdir(parents=True)
    for here, name in ((project, "g/x.py"), (project / "deep", "g/x.py"), (tmp_path, "project/g/x.py")):
        monkeypatch.chdir(here)
        assert patch_name(project / "g/x.py", project) == name


SCRIPT = """import torch


def main(x):
    y = x
    z = y
    return z


# Run-time helpers follow.


def _helper(x):
    y = x
    pass
"""


def test_the_program_part():
    assert program_part(SCRIPT) == "def main(x):\n    y = x\n    z = y\n    return z\n"
    assert (
        program_part('"""doc"""\nimport torch\n\n\ndef main(x):\n    return x\n')
        == "def main(x):\n    return x\n"
    )
    assert program_lines([]) == range(0)


def test_the_program_part_ends_where_namespaces_are_checked():
    check = "\n\nif globals() is not locals():\n    raise NameError()\n"
    assert (
        program_part("import torch\n\n\ndef main(x):\n    return x\n" + check)
        == "def main(x):\n    return x\n"
    )


def test_sections_of_the_page():
    new = SCRIPT.replace("return z", "return z + 1").replace("    pass\n", "")
    (section,) = sections([FilePatch("a.py", SCRIPT, new)])
    assert (section.names, section.state) == (["a.py"], "changed")
    assert [hunk.in_program for hunk in section.hunks] == [True, False]
    rows = [row for hunk in section.hunks for row in hunk.rows if row.is_changed]
    assert [(row.old_number, row.old, row.new_number, row.new) for row in rows] == [
        (7, [("    return z", False)], 7, [("    return z", False), (" + 1", True)]),
        (15, [("    pass", False)], None, None),
    ]


@pytest.mark.parametrize(("old", "state"), [(None, "new"), (SCRIPT, "gone")])
def test_sections_of_scripts_that_come_and_go(old, state):
    (section,) = sections([FilePatch("a.py", old, None if old else SCRIPT)])
    assert section.state == state
    assert len(section.hunks[0].rows) == SCRIPT.count("\n")
