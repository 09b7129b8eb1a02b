#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of every executable against perf/records.schema.json, and wrong records against it.

usage: records_test.py PATH/TO/EXECUTABLE... [unittest options]
"""

import copy
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

EXECUTABLES = {}
PERF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../perf")
HAVE_JSONSCHEMA = importlib.util.find_spec("jsonschema") is not None

SOLVE = ["--precond", "jacobi", "--precond", "ilu:solve=isai,power=2", "--precond", "none"]
COMMANDS = [
    ("ainvil-solve", ["--problem", "cavity:8", "--reorder", "rcm", *SOLVE]),
    ("ainvil-solve", ["--problem", "laplace7:5", "--solver", "cg", "--precond", "fsai",
                      "--precond", "ainv", "--max-iters", "2", "--scale", "norm"]),
    ("ainvil-solve", ["--problem", "chain:40", "--precond", "ilu:solve=jacobi,sweeps=8"]),
    ("ainvil-solve", ["--problem", "cavity:8", "--precision", "float", "--repeat", "2",
                      "--precond", "ainv:symmetric=no,breakdown=shift"]),
    ("ainvil-solve-mpi", ["--problem", "cavity:8", *SOLVE, "--precond", "RILUK"]),
    ("ainvil-solve-mpi", ["--problem", "cavity-newton:8", "--tol", "1e-5", "--precond", "ilu"]),
    ("ainvil-peers", ["--problem", "cavity:8"]),
    ("ainvil-peers", ["--problem", "laplace7:6", "--solver", "cg", "--max-iters", "3"]),
    *(("ainvil-triangular-sweeps", [study, "--problem", "poisson5:9", "--repeat", "1"])
      for study in ("residuals", "cost", "product", "pattern", "solve", "factor")),
    *(("ainvil-inverse-factors", [study, "--problem", "laplace7:6", "--repeat", "1"])
      for study in ("compare", "parts", "size", "formats")),
    ("ainvil-batched-cholesky", ["--sizes", "8,17", "--count", "20", "--repeat", "1"]),
]


def records_of(program, arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.jsonl")
        done = subprocess.run([EXECUTABLES[program], *arguments, "--json", path],
                              capture_output=True, text=True, timeout=300, check=False)
        if done.returncode not in (0, 3):
            raise AssertionError(f"{program} {' '.join(arguments)}: {done.stderr}")
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]


@unittest.skipUnless(HAVE_JSONSCHEMA or os.environ.get("CI"), "needs python3-jsonschema")
class RecordsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, PERF)
        cls.validate = importlib.import_module("validate")

    def refused(self, record, says):
        found = list(self.validate.problems([record]))
        self.assertEqual(len(found), 1, record)
        self.assertIn(says, found[0])

    def test_records_of_all_programs(self):
        for program, arguments in COMMANDS:
            if program in EXECUTABLES:
                records = records_of(program, arguments)
                self.assertTrue(records, (program, arguments))
                self.assertEqual(list(self.validate.problems(records)), [], (program, arguments))

    def test_records_of_runs_with_a_guess(self):
        for columns in (1, 2):
            with tempfile.NamedTemporaryFile("w", suffix=".mtx") as file:
                file.write(f"%%MatrixMarket matrix array real general\n64 {columns}\n" +
                           "1\n" * (64 * columns))
                file.flush()
                for options in ([], ["--relative-to", "initial", "--abs-tol", "1e-9"],
                                ["--scale", "ruiz", "--json-history"]):
                    record, = records_of("ainvil-solve", [
                        "--problem", "convdiff:4", "--precond", "jacobi", "--guess", file.name, "--rhs",
                        file.name, *options])
                    self.assertEqual(list(self.validate.problems([record])), [], record)
                    for key in ("guess", "relative_to"): # neither without the other
                        self.refused({k: v for k, v in record.items() if k != key}, key)

    def test_every_key_counts(self):
        """A record without one of its keys, with another one, or with a value of another type."""
        seen = set()
        for program, arguments in COMMANDS:
            kind = (program, arguments[0])
            if program not in EXECUTABLES or kind in seen:
                continue
            seen.add(kind)
            record = records_of(program, arguments)[0]
            self.refused({**record, "surprise": 1}, "surprise")
            for key in record:
                if key in ("program", "study", "steps"):
                    continue
                self.refused({k: v for k, v in record.items() if k != key}, key)
                self.refused({**record, key: ["neither text nor number"]}, key)
        self.assertTrue(seen)

    def test_wrong_values(self):
        record = records_of("ainvil-solve", ["--problem", "laplace7:4", "--precond", "jacobi"])[0]
        self.assertEqual(list(self.validate.problems([record])), [])
        for key, value, says in (("status", "perfect", "status"), ("solve_seconds", -1, "minimum"),
                                 ("iterations", 1.5, "integer"), ("rel_residual", None, "None"),
                                 ("git", "", "git"), ("rows", 0, "rows"), ("precond", "", "precond"),
                                 ("setup_seconds", {"phase": "short"}, "phase")):
            self.refused({**record, key: value}, says)
        nested = copy.deepcopy(record)
        nested["setup_seconds"]["invert"] = -1.0
        self.refused(nested, "invert")
        self.refused({}, "no known kind")
        self.refused({"program": "ainvil-inverse-factors", "study": "nonsense"}, "no known kind")
        self.refused([], "no known kind")

    def test_program(self):
        """perf/validate.py: counts, and the exit code."""
        record = records_of("ainvil-solve", ["--problem", "laplace7:4", "--precond", "jacobi"])[0]
        for records, code, says in (([record, record], 0, "2 records, 0 bad"),
                                    ([record, {**record, "rows": -1}], 1, "record 2 (solve): rows"),
                                    ([], 1, "0 records")):
            with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
                file.writelines(json.dumps(r) + "\n" for r in records)
                file.flush()
                done = subprocess.run([sys.executable, os.path.join(PERF, "validate.py"), file.name],
                                      capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code, done)
            self.assertIn(says, done.stdout)


if __name__ == "__main__":
    while len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        path = sys.argv.pop(1)
        EXECUTABLES[os.path.basename(path)] = os.path.abspath(path)
    unittest.main()
