#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perf/papers.py: its list, toys with the papers' numbers beside ours, the same without the figures that may be
missing, what stands in for a matrix, and what it refuses; the table of a GPU's host and of Newton steps on made-up
records.

usage: papers_test.py PATH/TO/BUILD
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

BUILD = ""
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(ROOT, "perf"))

import missing_figures
import paper_studies
import papers

TOY = """%%MatrixMarket matrix coordinate real symmetric
4 4 6
1 1 4\n2 1 -1\n2 2 4\n3 3 4\n4 3 -1\n4 4 4
"""
# Says on which space it ran, and that the host is slower; takes an option once, as our programs do.
STAND_IN = """#!/usr/bin/env python3
import json, sys
assert sys.argv.count("--max-iters") == 1
space, seconds = ("OpenMP", 6.0) if "host" in sys.argv else ("Cuda", 0.5)
with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
    file.write(json.dumps({"exec_space": space, "setup_seconds": {"columns": seconds}}))
"""


def tables(text):
    """The rows of all Markdown tables, as lists of cells."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()
            if line.startswith("|")]


class PapersTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_papers(self, *arguments, matrices="/nowhere"):
        return subprocess.run([os.path.join(ROOT, "perf/papers.py"), *arguments], capture_output=True,
                              text=True, check=False,
                              env={**os.environ, "AINVIL_MATRIX_DIR": matrices})

    def toys(self, *names, **more):
        done = self.run_papers(*names, "--size", "smoke", "--build", BUILD, "--out", self.folder, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def records(self, name):
        with open(os.path.join(self.folder, f"{name}.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def printed(self, study, results, size="smoke"):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            study.show(papers.Run(BUILD, self.folder, size), results)
        return text.getvalue()

    def test_list(self):
        """Names are unique and documented, with a paper, a source, a line and commands."""
        done = self.run_papers("--list", "--build", BUILD)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = re.findall(r"^(\S+/\S+): \w", done.stdout, re.MULTILINE)
        self.assertEqual(names, list(paper_studies.STUDIES))
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(set(names), {key for key in paper_studies.DATA if "/" in key})
        with open(os.path.join(ROOT, "docs/performance.md"), encoding="utf-8") as file:
            documented = re.findall(r"^\| `(\S+/\S+)` \|", file.read(), re.MULTILINE)
        self.assertEqual(names, documented)
        for name in names:
            self.assertIn(name.split("/")[0], paper_studies.DATA["papers"])
            self.assertTrue(paper_studies.DATA[name]["source"])
        self.assertIn("ainvil-solve --problem cavity:300 --tol 1e-5", done.stdout)

    def test_toys(self):
        names = list(paper_studies.STUDIES)
        # That of a preset beside this one may be an old one.
        with_ranks = os.path.exists(os.path.join(BUILD, "bin/ainvil-solve-mpi"))
        if not with_ranks:
            names.remove("block-jacobi/figures3-11")
        measured = {}
        measure = papers.Run.measure

        def measure_and_keep(run, study):
            measured[study.name] = measure(run, study)
            return measured[study.name]

        arguments = ["papers.py", *names, "--size", "smoke", "--build", BUILD, "--out", self.folder]
        with contextlib.redirect_stdout(io.StringIO()) as out, mock.patch.object(sys, "argv", arguments), \
                mock.patch.object(papers.Run, "measure", measure_and_keep), \
                mock.patch.dict(os.environ, {"AINVIL_MATRIX_DIR": self.folder}):
            self.assertEqual(papers.main(), 0)
        text = out.getvalue()
        self.assertEqual(re.findall("^## (.*)", text, re.MULTILINE), names)
        for row in (["ilu:solve=isai,power=1", "1092"], ["isai,power=2", "242"], ["isai,power=1", "2208"],
                    ["Newton steps", "3"], ["1138_bus", "4865"], ["bcsstk15", "264434 (CPU), 267679 (GPU)"]):
            if row[0] == "Newton steps" and not with_ranks:
                continue
            self.assertTrue(any(set(row) <= set(cells) for cells in tables(text)), row)
        for says in ("atmosmodd: `convdiff:4` stands in", "Not measured, neither in AINVIL_MATRIX_DIR"):
            self.assertIn(says, text)
        for name in ("block-isai-table3", "sweeps-figures2-5-solve", "fsai-tables1-7-cholesky"):
            self.assertTrue(self.records(name), name)
        for name in names:
            with self.subTest(name):
                self.bears_missing_figures(name, measured[name])

    def bears_missing_figures(self, name, results):
        """Whatever may be missing, there are as many rows, and nothing that is not a number."""
        rows = len(tables(self.printed(paper_studies.STUDIES[name], results)))
        keys = [key for key, records in results.items() for _ in records]
        for what, records in missing_figures.variants([r for records in results.values() for r in records]):
            fewer = {key: [r for k, r in zip(keys, records) if k == key] for key in results}
            # What is set up on a GPU is compared with the host.
            fewer.update({(key, "host"): runs for key, runs in list(fewer.items()) if "setup_seconds" in runs[0]
                          and "precond" in runs[0]})
            text = self.printed(paper_studies.STUDIES[name], fewer)
            self.assertEqual(len(tables(text)), rows, f"{what}: {text}")
            self.assertNotRegex(text, r"\b(None|nan|inf)\b", what)

    def test_matrix_of_the_paper(self):
        """Is taken from AINVIL_MATRIX_DIR where it is there."""
        with open(os.path.join(self.folder, "g3_circuit.mtx"), "w", encoding="ascii") as file:
            file.write(TOY)
        rows = tables(self.toys("fsai/tables1-7", matrices=self.folder))
        self.assertTrue(any(row[0] == "G3_circuit" and row[3] == "2054" and row[5] == "390" for row in rows))
        self.assertTrue(self.records("fsai-tables1-7")[0]["problem"].endswith("g3_circuit.mtx"))

    def test_refused(self):
        for arguments, says in ((["sweeps/table99"], "no study 'sweeps/table99'; --list shows block-isai"),
                                ([], "name a study"), (["all", "--build", "/nowhere"], "has no ainvil-solve"),
                                (["all", "--size", "huge"], "invalid choice")):
            done = self.run_papers(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(says, done.stderr)

    def test_failure(self):
        """Does not keep other studies from running."""
        with open(os.path.join(self.folder, "G3_circuit.mtx"), "w", encoding="ascii") as file:
            file.write("nonsense")
        done = self.run_papers("fsai/tables1-7", "block-isai/table3", "--size", "smoke", "--build", BUILD,
                               "--out", self.folder, matrices=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("papers: fsai/tables1-7 failed with code 2 of ", done.stderr)
        self.assertIn("| 1092 |", done.stdout)

    def test_gpu_and_host(self):
        """What is set up on a GPU is set up on the host, too."""
        program = os.path.join(self.folder, "program")
        with open(program, "w", encoding="ascii") as file:
            file.write(STAND_IN)
        os.chmod(program, 0o755)

        class Gpu(paper_studies.Study):
            name = "made/up"

            def calls(self, at):
                yield paper_studies.Call("case", [program, "--max-iters", "9", "--quiet"], host=True)

        results = papers.Run(BUILD, self.folder, "smoke").measure(Gpu())
        self.assertEqual([r["exec_space"] for r in self.records("made-up")], ["Cuda", "OpenMP"])
        self.assertEqual(paper_studies.host_over_device(
            results, lambda run: paper_studies.phases(run, "columns")), "12 to 12 x")

    def test_share_of_isai(self):
        """Pattern and solve in the time to solution, over all powers."""
        run = {"problem": "made-up", "rows": 9, "nnz": 9, "block_size": 1, "tolerance": 1e-8, "factor_bytes": 9,
               "status": "converged", "iterations": 5, "setup_seconds": {"lower_isai_solve": 0.5, "ilu_numeric": 0.5},
               "setup_total_seconds": 1, "recompute_seconds": 1, "apply30_seconds": 1, "solve_seconds": 4,
               "total_seconds": 5}
        runs = [{**run, "precond": "ilu:solve=exact", "total_seconds": 20},
                {**run, "precond": "ilu:solve=isai,power=1"},
                {**run, "precond": "ilu:solve=isai,power=2", "solve_seconds": 9, "total_seconds": 10}]
        study = paper_studies.STUDIES["block-isai/tables1-4"]
        text = self.printed(study, dict.fromkeys(study.numbers()["iterations"], runs))
        self.assertRegex(text, r"atmosmodd \| 5 to 10 % \|")
        self.assertRegex(text, r"exact solves over ISAI \| 2 to 4 x \|")

    def test_newton_steps(self):
        step = {"iterations": 7, "precond_seconds": 0.5, "solve_seconds": 2.0}
        text = self.printed(paper_studies.STUDIES["block-jacobi/figures3-11"],
                            {("newton", "8", "2"): [{"precond": "ilu", "ranks": 2, "steps": 3 * [step]}]})
        self.assertIn("| 8 | ilu | 2 | 7, 7, 7 | 0.5, 0.5, 0.5 | 2, 2, 2 | 6 |", text)
        self.assertIn("| Newton steps | 3 | 3 |", text)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
