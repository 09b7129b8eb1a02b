#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perf/run_all.sh on toys: a file of records a study, valid and drawn; tables and figures of the same without what
may be missing; and what it refuses.

usage: run_all_test.py PATH/TO/BUILD
"""

import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

BUILD = ""
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../perf/run_all.sh")
sys.path.insert(0, os.path.dirname(SCRIPT))

import missing_figures
import peers_table
import plot
import report
import table
import validate
from records import read, write

STUDIES = ["block-isai-tables1-4", "defaults", "fsai-tables1-7", "fsai-tables1-7-cholesky",
           "fsai-tables1-7-settings", "growth", "sweeps-factor", "sweeps-figures2-5-residuals",
           "sweeps-figures2-5-solve", "sweeps-product", "sweeps-table2", "thesis-tables7.2-7.9-compare",
           "thesis-tables7.2-7.9-formats", "thesis-tables7.2-7.9-parts", "thesis-tables7.2-7.9-size"]
FIGURES = ["breakdown-cavity-10", "cholesky", "convergence-cavity-10", "residuals-poisson5-8",
           "scaling-convdiff", "scaling-poisson5", "solve-poisson5-8", "speedup-cavity-10"]


def has(module):
    return importlib.util.find_spec(module) is not None


def run(*arguments):
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)


def printed(script, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as text, mock.patch.object(sys, "argv", ["", *arguments]):
        script.main()
    return text.getvalue()


class RunAllTest(unittest.TestCase):

    def test_toys(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--smoke", "--out", folder, BUILD)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            studies = list(STUDIES)
            if os.path.exists(os.path.join(BUILD, "bin/ainvil-peers")):
                studies.append("peers")
            records = []
            # Ranks and public matrices are measured where they are there.
            optional = {"block-jacobi-figures3-11", "block-jacobi-figures3-11-newton", "thesis-tables7.2-7.9-sainv"}
            found = {name.removesuffix(".jsonl") for name in os.listdir(folder) if name.endswith(".jsonl")}
            self.assertEqual(found - optional, set(studies))
            for study in found:
                lines = read(os.path.join(folder, f"{study}.jsonl"))
                self.assertTrue(lines, study)
                # Figures of the papers' studies are those of others.
                records += [line for line in lines if "precond" not in line or study in ("defaults", "growth", "peers")]
            if has("jsonschema"):
                self.assertRegex(done.stdout, r"\d+ records follow")
            if "plot: skipped" not in done.stdout:
                for figure in FIGURES:
                    size = os.path.getsize(os.path.join(folder, f"{figure}.png"))
                    self.assertGreater(size, 5000, figure)
            pages = os.path.join(folder, "pages")
            self.assertIn(f"pages: perf/report.py {folder} -o {pages}\n", done.stdout)
            written = printed(report, folder, "-o", pages)
            for page in ("defaults", "products", "factorisation"):
                self.assertIn(f"{page}: written\n", written)
            self.assertRegex(written, "(?m)^sweeps(-host)?: written")
            self.bears_missing_figures(folder, records)

    def bears_missing_figures(self, folder, records):
        """Whatever may be missing, there are as many rows and figures, and nothing that is not a number."""
        path = os.path.join(folder, "fewer.jsonl")
        for k, (what, fewer) in enumerate(missing_figures.variants(records)):
            write(path, fewer)
            if has("jsonschema"):
                self.assertEqual(list(validate.problems(fewer)), [], what)
            for script in (table, peers_table):
                text = printed(script, path)
                self.assertNotRegex(text, r"\b(None|nan|inf)\b", what)
            self.assertGreater(len(text.splitlines()), 5, what)
            if has("matplotlib") and k % 7 == 0:
                self.assertGreater(len(printed(plot, "--out", folder, "--format", "svg", path).splitlines()), 10, what)

    def test_refused(self):
        for arguments, says in ((["/nowhere"], "has no ainvil-solve"), (["--out"], "needs a folder"),
                                (["--nonsense"], None)):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(says or "perf/run_all.sh", done.stderr if says else done.stdout)
        self.assertEqual(run("--help").returncode, 0)

    def test_a_build_without_studies_is_refused(self):
        with tempfile.TemporaryDirectory() as build:
            os.mkdir(os.path.join(build, "bin"))
            os.symlink(os.path.join(BUILD, "bin/ainvil-solve"), os.path.join(build, "bin/ainvil-solve"))
            done = run("--smoke", "--out", os.path.join(build, "results"), build)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("has no ainvil-triangular-sweeps; configure with -DAINVIL_ENABLE_STUDIES=ON", done.stderr)
            self.assertFalse(os.path.exists(os.path.join(build, "results")))


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
