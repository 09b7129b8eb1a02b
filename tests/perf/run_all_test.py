#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perf/run_all.sh on toys: a file of records a study, valid and drawn; and what it refuses.

usage: run_all_test.py PATH/TO/BUILD
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD = ""
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../perf/run_all.sh")
STUDIES = ["block-isai-tables1-4", "defaults", "fsai-tables1-7", "fsai-tables1-7-cholesky",
           "fsai-tables1-7-settings", "growth", "sweeps-factor", "sweeps-figures2-5-residuals",
           "sweeps-figures2-5-solve", "sweeps-product", "sweeps-table2", "thesis-tables7.2-7.9-compare",
           "thesis-tables7.2-7.9-formats", "thesis-tables7.2-7.9-parts", "thesis-tables7.2-7.9-size"]
FIGURES = ["breakdown-cavity-10", "cholesky", "convergence-cavity-10", "residuals-poisson5-8",
           "scaling-convdiff", "scaling-poisson5", "solve-poisson5-8", "speedup-cavity-10"]


def has(module):
    return importlib.util.find_spec(module) is not None


def run(*arguments):
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=540,
                          check=False)


class RunAllTest(unittest.TestCase):

    def test_toys(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--smoke", "--out", folder, BUILD)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            studies = list(STUDIES)
            if os.path.exists(os.path.join(BUILD, "bin/ainvil-peers")):
                studies.append("peers")
            records = 0
            # Ranks and public matrices are measured where they are there.
            optional = {"block-jacobi-figures3-11", "block-jacobi-figures3-11-newton", "thesis-tables7.2-7.9-sainv"}
            found = {name.removesuffix(".jsonl") for name in os.listdir(folder) if name.endswith(".jsonl")}
            self.assertEqual(found - optional, set(studies))
            for study in found:
                with open(os.path.join(folder, f"{study}.jsonl"), encoding="utf-8") as file:
                    lines = [json.loads(line) for line in file]
                self.assertTrue(lines, study)
                records += len(lines)
            if has("jsonschema"):
                self.assertIn(f"{records} records follow", done.stdout)
            if has("matplotlib"):
                for figure in FIGURES:
                    size = os.path.getsize(os.path.join(folder, f"{figure}.png"))
                    self.assertGreater(size, 5000, figure)

    def test_refused(self):
        for arguments, says in ((["/nowhere"], "has no ainvil-solve"), (["--out"], "needs a folder"),
                                (["--nonsense"], None)):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(says or "perf/run_all.sh", done.stderr if says else done.stdout)
        self.assertEqual(run("--help").returncode, 0)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
