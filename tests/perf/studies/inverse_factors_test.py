#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of ainvil-inverse-factors: what its CSV holds, and bad input.

usage: inverse_factors_test.py PATH/TO/ainvil-inverse-factors [unittest options]
"""

import csv
import io
import os
import subprocess
import sys
import tempfile
import unittest

EXECUTABLE = ""

COLUMNS = ["problem", "reorder", "rows", "entries", "block_size", "method", "drop", "parts",
           "order", "factor_entries", "rounds", "edge_cut", "largest_part", "initialize_seconds",
           "compute_seconds", "setup_seconds", "iterations", "solve_seconds", "total_seconds",
           "status", "rel_residual", "breakdowns", "message", "exec_space", "device", "threads",
           "kokkos_version", "git"]


class InverseFactorsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_program(self, *arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("KOKKOS_")}
        return subprocess.run([EXECUTABLE, *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=300, check=False)

    def measure(self, *arguments):
        """The rows of the CSV, after a look at the header, the table and what holds for all."""
        result = self.run_program(*arguments, "--repeat", "1", "--csv", "-")
        self.assertEqual(result.returncode, 0, result)
        reader = csv.DictReader(io.StringIO(result.stdout))
        rows = list(reader)
        self.assertEqual(reader.fieldnames, COLUMNS)
        self.assertGreaterEqual(len(result.stderr.splitlines()), len(rows) + 2)
        self.assertLess(max(map(len, result.stderr.splitlines())), 121)
        for row in rows:
            self.assertNotIn(None, row.values())
            if row["status"] == "converged":
                self.assertLessEqual(float(row["rel_residual"]), 1.01e-5)
            if row["setup_seconds"] != "":
                self.assertAlmostEqual(float(row["setup_seconds"]),
                                       float(row["initialize_seconds"]) +
                                       float(row["compute_seconds"]))
                self.assertAlmostEqual(float(row["total_seconds"]),
                                       float(row["setup_seconds"]) + float(row["solve_seconds"]))
            solved = row["iterations"] != ""
            bainv = row["method"] == "bainv" and solved
            self.assertEqual(row["edge_cut"] != "" and row["largest_part"] != "", bainv, row)
            self.assertEqual(row["rounds"] != "", row["method"].endswith("ainv") and solved, row)
        return rows

    def refuse(self, words, *arguments, begun=False):
        """Exit code 2, one sentence on stderr that contains the words, and nothing else anywhere,
        unless the table had begun."""
        with self.subTest(arguments=arguments):
            result = self.run_program(*arguments, "--csv", "o.csv")
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout != "", begun)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("ainvil-inverse-factors: "), result.stderr)
            for word in words:
                self.assertIn(word, result.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "o.csv")))

    # ---- the studies

    def test_compare(self):
        rows = self.measure("compare", "--problem", "poisson5:20", "--drop", "0.1", "--drop", "0.3",
                            "--parts", "5")
        self.assertEqual([(row["method"], row["drop"], row["parts"]) for row in rows],
                         [("none", "", ""), ("jacobi", "", ""), ("ainv", "0.1", "1"),
                          ("sainv", "0.1", "1"), ("ainv", "0.3", "1"), ("sainv", "0.3", "1"),
                          ("bainv", "0.1", "5"), ("bainv", "0.3", "5")])
        self.assertEqual({(row["problem"], row["rows"], row["entries"], row["status"])
                          for row in rows}, {("poisson5:20", "400", "1920", "converged")})
        iterations = [int(row["iterations"]) for row in rows]
        entries = [int(row["factor_entries"]) for row in rows]
        self.assertEqual(entries[1], 400)
        self.assertLess(max(iterations[2:4]), iterations[1])     # than Jacobi
        for tight, loose in ((2, 4), (3, 5), (6, 7)):
            self.assertGreater(entries[tight], entries[loose])
            self.assertLessEqual(iterations[tight], iterations[loose])
        self.assertLess(entries[6], entries[3])                  # without the couplings
        self.assertGreaterEqual(int(rows[6]["largest_part"]), 80)
        self.assertGreater(int(rows[6]["edge_cut"]), 40)

    def test_exact_factors_take_one_iteration(self):
        for order in ("natural", "rcm", "nd"):
            rows = self.measure("compare", "--problem", "poisson5:9", "--drop", "0", "--parts", "1",
                                "--order", order, "--tol", "1e-8")
            for row in rows[2:]:
                self.assertEqual((row["iterations"], row["order"]), ("1", order))

    def test_parts(self):
        rows = self.measure("parts", "--problem", "poisson5:16", "--parts", "1", "--parts", "4",
                            "--parts", "64", "--parts", "256")
        self.assertEqual([row["parts"] for row in rows], ["1", "4", "64", "256"])
        cuts = [int(row["edge_cut"]) for row in rows]
        self.assertEqual((cuts[0], cuts[-1]), (0, 2 * 16 * 15))
        self.assertEqual(cuts, sorted(cuts))
        self.assertEqual(rows[-1]["largest_part"], "1")
        self.assertEqual(rows[-1]["factor_entries"], "256")
        self.assertLess(int(rows[0]["iterations"]), int(rows[-1]["iterations"]))

    def test_size(self):
        rows = self.measure("size", "--problem", "poisson5:24", "--drop", "0.05", "--parts", "6")
        self.assertEqual([row["method"] for row in rows], ["bainv", "ainv", "sainv"])
        entries = [int(row["factor_entries"]) for row in rows]
        for other in entries[1:]:
            self.assertLess(abs(other - entries[0]), 0.1 * entries[0])
        for row in rows[1:]:
            self.assertGreater(float(row["drop"]), 0.05)         # as nothing else is left out

    def test_formats(self):
        result = self.run_program("formats", "--problem", "poisson5:24", "--drop", "0.1", "--drop",
                                  "0.02", "--order", "natural", "--repeat", "1", "--csv", "-")
        self.assertEqual(result.returncode, 0, result)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        ours = [row for row in rows if row["format"] == "csr"]
        compare = self.measure("compare", "--problem", "poisson5:24", "--drop", "0.1", "--drop",
                               "0.02", "--order", "natural")
        expected = {(row["method"], row["drop"]): row for row in compare}
        self.assertEqual([(row["method"], row["drop"]) for row in ours],
                         [("none", ""), ("sainv", "0.1"), ("sainv", "0.02")])
        for row in rows:                                         # on a GPU cuSPARSE's, too
            other = expected[row["method"], row["drop"]]
            self.assertEqual(row["status"], "converged")
            self.assertLessEqual(abs(int(row["iterations"]) - int(other["iterations"])), 1)
            self.assertEqual(row["matrix_entries"],
                             other["factor_entries" if row["drop"] else "entries"])
            self.assertGreater(float(row["product_seconds"]), 0)
        self.assertEqual([int(row["longest_row"]) for row in ours][0], 5)

    def test_formats_take_blocks_apart(self):
        result = self.run_program("formats", "--problem", "shell:6", "--drop", "0.1", "--repeat", "1",
                                  "--csv", "-")
        self.assertEqual(result.returncode, 0, result)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertEqual({row["block_size"] for row in rows}, {"1"})
        self.assertEqual({row["status"] for row in rows}, {"converged"})

    # ---- the rest

    def test_breakdown_is_a_row(self):
        with open(os.path.join(self.folder, "a.mtx"), "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n"
                       "1 1 2\n2 1 1\n2 2 -2\n3 3 2\n")
        rows = self.measure("compare", "--matrix", "a.mtx", "--parts", "1")
        for row in rows[2:]:
            self.assertEqual((row["status"], row["iterations"]), ("breakdown", ""))
            self.assertIn("block row", row["message"])

    def test_stops_at_the_given_iterations(self):
        result = self.run_program("compare", "--problem", "poisson5:20", "--parts", "1",
                                  "--max-iters", "2", "--repeat", "1", "--csv", "-")
        self.assertEqual(result.returncode, 0, result)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertGreater(len(rows), 2)
        for row in rows:
            self.assertEqual((row["status"], row["iterations"]), ("max_iterations", "2"))

    def test_files_and_spaces(self):
        for space in ("host", "default", "both"):
            result = self.run_program("--problem", "poisson5:8", "--exec", space, "compare",
                                      "--parts", "2", "--repeat", "1", "--csv", "r.csv")
            self.assertEqual(result.returncode, 0, result)
            self.assertIn("poisson5:8: 64 rows", result.stdout)
            path = os.path.join(self.folder, "r.csv")
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 5 * len({row["exec_space"] for row in rows}))

    def test_help(self):
        for arguments in (["--help"], ["size", "--help"]):
            result = self.run_program(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("poisson5:300", result.stdout)

    def test_refuses_bad_input(self):
        self.refuse(["compare, parts, size"])
        self.refuse(["nonsense"], "nonsense")
        good = ["parts", "--problem", "poisson5:4"]
        for option, value in (("--nonsense", "1"), ("--drop", "-1"), ("--drop", "nan"),
                              ("--drop", "x"), ("--parts", "0"), ("--repeat", "0"),
                              ("--exec", "gpu"), ("--order", "amd"), ("--tol", "nan"),
                              ("--max-iters", "-1")):
            self.refuse([option], *good, option, value)
        self.refuse(["at most 16"], *good, "--parts", "17", begun=True)
        self.refuse(["nowhere:3"], "compare", "--problem", "nowhere:3")
        self.refuse(["missing.mtx"], "compare", "--matrix", "missing.mtx")
        self.refuse(["symmetric"], "compare", "--problem", "convdiff:4", "--parts", "1", begun=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    EXECUTABLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
