#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of ainvil-triangular-sweeps: what its CSVs hold, and bad input.

usage: triangular_sweeps_test.py PATH/TO/ainvil-triangular-sweeps [unittest options]
"""

import csv
import importlib.util
import io
import math
import os
import subprocess
import sys
import tempfile
import unittest

EXECUTABLE = ""
PLOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../perf/plot.py")

SYSTEM = ["problem", "reorder", "rows", "entries", "block_size"]
MACHINE = ["exec_space", "device", "threads", "kokkos_version", "git"]
COLUMNS = {
    "residuals": ["factor", "levels", "method", "sweep", "runs", "residual_mean", "residual_std",
                  "residual_min", "residual_max", "error_mean", "error_std", "error_min",
                  "error_max", "seconds_per_sweep"],
    "cost": ["factor", "levels", "longest_row", "method", "setup_seconds", "seconds",
             "jacobi_sweeps", "even_products", "difference"],
    "product": ["method", "bytes", "seconds", "bytes_per_second", "share_of_copy", "difference"],
    "pattern": ["method", "power", "pattern_entries", "bytes", "seconds", "copy_bytes_per_second"],
    "solve": ["factor_sweeps", "method", "sweeps", "iterations", "iterations_min",
              "iterations_max", "status", "rel_residual", "setup_seconds", "solve_seconds",
              "total_seconds", "message"],
    "factor": ["method", "sweeps", "setup_seconds", "numeric_seconds", "residual",
               "pivot_difference"],
}
ROUNDING = 1e-14


def poisson(n):
    """Rows {column: value} of the five-point Laplacian on an n x n grid."""
    rows = []
    for i in range(n * n):
        row = {i: 4.0}
        for j, inside in ((i - n, i >= n), (i - 1, i % n > 0), (i + 1, i % n < n - 1),
                          (i + n, i < n * n - n)):
            if inside:
                row[j] = -1.0
        rows.append(row)
    return rows


def ilu0(a):
    """A ~ (D + S_L) (I + S_U) on the pattern of A, as rows (L with D, S_U)."""
    lower, upper = [], []
    for i, row in enumerate(a):
        w = dict(row)
        for k in sorted(k for k in w if k < i):
            for j, u in upper[k].items():
                if j in w:
                    w[j] -= w[k] * u
        lower.append({j: value for j, value in w.items() if j <= i})
        upper.append({j: value / w[i] for j, value in w.items() if j > i})
    return lower, upper


def jacobi_residuals(t, unit, sweeps):
    """||b - T x|| / ||b|| for b = 1 after 0, 1, ... sweeps x <- D^-1 (b - S x) from D^-1 b."""
    n = len(t)
    d = [1.0 if unit else t[i][i] for i in range(n)]
    x = [1 / d[i] for i in range(n)]
    residuals = []
    for _ in range(sweeps + 1):
        s_x = [sum(value * x[j] for j, value in t[i].items() if j != i) for i in range(n)]
        residuals.append(math.sqrt(sum((1 - d[i] * x[i] - s_x[i])**2 for i in range(n)) / n))
        x = [(1 - s_x[i]) / d[i] for i in range(n)]
    return residuals


class SweepsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_sweeps(self, *arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("KOKKOS_")}
        return subprocess.run([EXECUTABLE, *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=300, check=False)

    def measure(self, study, *arguments):
        """The rows of the CSV, after a look at the header and at the table."""
        result = self.run_sweeps(study, *arguments, "--repeat", "1", "--csv", "-")
        self.assertEqual(result.returncode, 0, result)
        reader = csv.DictReader(io.StringIO(result.stdout))
        rows = list(reader)
        self.assertEqual(reader.fieldnames, SYSTEM + COLUMNS[study] + MACHINE)
        self.assertGreaterEqual(len(result.stderr.splitlines()), len(rows) + 2)
        self.assertLess(max(map(len, result.stderr.splitlines())), 121)
        for row in rows:
            self.assertNotIn(None, row.values())
        return rows

    def refuse(self, words, *arguments):
        """Exit code 2, one sentence on stderr that contains the words, nothing else anywhere."""
        with self.subTest(arguments=arguments):
            result = self.run_sweeps(*arguments, "--csv", "o.csv")
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("ainvil-triangular-sweeps: "), result.stderr)
            for word in words:
                self.assertIn(word, result.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.folder, "o.csv")))

    # ---- the studies

    def test_jacobi_residuals_are_those_of_the_formula(self):
        rows = self.measure("residuals", "--problem", "poisson5:6", "--sweeps", "12", "--runs", "2")
        self.assertEqual({(row["problem"], row["rows"], row["entries"], row["block_size"])
                          for row in rows}, {("poisson5:6", "36", str(36 + 4 * 30), "1")})
        lower, upper = ilu0(poisson(6))
        for factor, expected in (("lower", jacobi_residuals(lower, False, 12)),
                                 ("upper", jacobi_residuals(upper, True, 12))):
            part = [row for row in rows if (row["factor"], row["method"]) == (factor, "jacobi")]
            self.assertEqual([int(row["sweep"]) for row in part], list(range(13)))
            for row, residual in zip(part, expected):
                self.assertEqual((row["levels"], row["runs"]), ("11", "1"))
                self.assertAlmostEqual(float(row["residual_mean"]), residual,
                                       delta=1e-9 * residual + ROUNDING)
                self.assertEqual(float(row["residual_std"]), 0)
                self.assertEqual(row["residual_min"], row["residual_mean"])

    def test_as_many_sweeps_as_levels_are_exact(self):
        problems = {"poisson5:6": 11, "cavity:8": 15, "laplace27:4": 22, "circuit:60": None}
        arguments = [word for problem in problems for word in ("--problem", problem)]
        rows = self.measure("residuals", *arguments, "--sweeps", "60", "--runs", "3")
        self.assertEqual({row["problem"] for row in rows}, set(problems))
        self.assertEqual({row["method"] for row in rows}, {"jacobi", "async", "async-against"})
        for row in rows:
            levels, sweep = int(row["levels"]), int(row["sweep"])
            if problems[row["problem"]]:
                self.assertEqual(levels, problems[row["problem"]])
            self.assertEqual(int(row["runs"]), 1 if row["method"] == "jacobi" else 3)
            for kind in ("residual", "error"):
                low, mean, high = (float(row[f"{kind}_{what}"]) for what in ("min", "mean", "max"))
                self.assertLessEqual(low, mean * (1 + 1e-9))
                self.assertLessEqual(mean, high * (1 + 1e-9))
                if sweep >= levels - 1:
                    self.assertLess(high, ROUNDING)
            if sweep == 0:
                self.assertGreater(float(row["residual_mean"]), 1e-3)

    def test_cost_agrees_with_exact_solves(self):
        rows = self.measure("cost", "--problem", "poisson5:9", "--problem", "cavity:7")
        for problem, peers in (("poisson5:9", {"kokkos-kernels"}), ("cavity:7", set())):
            for factor in ("lower", "upper"):
                part = {row["method"]: row for row in rows
                        if (row["problem"], row["factor"]) == (problem, factor)}
                self.assertLessEqual({"jacobi", "async", "exact", "spmv", "spmv-even"} | peers,
                                     part.keys())
                # A sweep is a difference of times, which need not be positive.
                self.assertIn(part["jacobi"]["jacobi_sweeps"], {"", "1"})
                self.assertEqual(float(part["spmv-even"]["even_products"]), 1)
                for method, row in part.items():
                    self.assertEqual(int(row["longest_row"]), 2)
                    if method in {"exact", "kokkos-kernels", "cusparse"}:
                        self.assertGreater(float(row["seconds"]), 0)
                        self.assertLess(float(row["difference"]), ROUNDING)

    def test_product_counts_bytes(self):
        rows = self.measure("product", "--problem", "convdiff:4x6x8", "--block-size", "2")
        self.assertEqual({row["block_size"] for row in rows}, {"2"})
        part = {row["method"]: row for row in rows}
        self.assertLessEqual({"copy", "spmv", "spmv-float", "spmv-bfloat16"}, part.keys())
        scalars, n = int(rows[0]["entries"]), 4 * 6 * 8
        index_bytes = scalars // 4 * 4 + (n // 2 + 1) * 8
        self.assertEqual(float(part["spmv"]["bytes"]), 8 * scalars + index_bytes + 16 * n)
        self.assertEqual(float(part["spmv-float"]["bytes"]), 4 * scalars + index_bytes + 16 * n)
        self.assertEqual(float(part["spmv-bfloat16"]["bytes"]), 2 * scalars + index_bytes + 16 * n)
        self.assertEqual(float(part["copy"]["share_of_copy"]), 1)
        for method, row in part.items():
            self.assertAlmostEqual(float(row["bytes_per_second"]) * float(row["seconds"]),
                                   float(row["bytes"]), delta=1e-6 * float(row["bytes"]))
            if method != "copy":
                bound = {"spmv-float": 1e-6, "spmv-bfloat16": 1e-2}.get(method, ROUNDING)
                self.assertLess(float(row["difference"]), bound)

    def test_product_beside_kokkos_kernels(self):
        rows = self.measure("product", "--problem", "laplace27:6")
        part = {row["method"]: row for row in rows}
        self.assertEqual(part["kokkos-kernels"]["bytes"], part["spmv"]["bytes"])
        self.assertLess(float(part["kokkos-kernels"]["difference"]), ROUNDING)

    def test_patterns_are_those_of_kokkos_kernels(self):
        n = 7
        reached = last = [{j for j in row if j <= i} for i, row in enumerate(poisson(n))]
        for power in (2, 3):
            reached = [set().union(*(reached[j] for j in row)) for row in last]
            entries = sum(map(len, reached))
            rows = [row for row in self.measure("pattern", "--problem", f"poisson5:{n}")
                    if int(row["power"]) == power]
            self.assertEqual([row["method"] for row in rows],
                             ["patterns", "kokkos-kernels-symbolic", "kokkos-kernels"])
            floor = 4 * (entries + sum(map(len, last))) + 2 * 8 * (n * n + 1)
            for row in rows:
                self.assertEqual(int(row["pattern_entries"]), entries)
                self.assertEqual(float(row["bytes"]), floor)

    def test_solve_counts_iterations(self):
        rows = self.measure("solve", "--problem", "cavity:10", "--sweeps", "20",
                            "--factor-sweeps", "3")
        settings = [(row["factor_sweeps"], row["method"], int(row["sweeps"])) for row in rows]
        self.assertEqual(settings, [("0", "exact", 0)] +
                         [("0", method, sweeps) for method in ("jacobi", "async")
                          for sweeps in range(1, 21)] + [(str(n), "exact", 0) for n in (1, 2, 3)])
        for row in rows:
            self.assertEqual((row["status"], row["message"]), ("converged", ""))
            self.assertLessEqual(float(row["rel_residual"]), 1.01e-8)
            self.assertLessEqual(float(row["iterations_min"]), float(row["iterations_max"]))
            self.assertAlmostEqual(float(row["total_seconds"]),
                                   float(row["setup_seconds"]) + float(row["solve_seconds"]))
        iterations = [float(row["iterations"]) for row in rows]
        self.assertGreater(iterations[1], iterations[0])    # one Jacobi sweep
        for exact in (20, 40):                              # as many as there are levels
            self.assertEqual(iterations[exact], iterations[0])

    def test_solve_reports_divergence(self):
        rows = self.measure("solve", "--problem", "chain:80", "--sweeps", "7", "--factor-sweeps",
                            "0")
        by_sweeps = {int(row["sweeps"]): row for row in rows if row["method"] != "async"}
        self.assertEqual(by_sweeps[5]["status"], "refused")
        self.assertIn("diverge", by_sweeps[5]["message"])
        self.assertEqual((by_sweeps[5]["iterations"], by_sweeps[5]["solve_seconds"]), ("", ""))
        for sweeps in (0, 7):  # exact solves; past the end of the chains
            self.assertEqual(by_sweeps[sweeps]["status"], "converged")

    def test_factor_reports_residuals(self):
        for problem in ("laplace7:5", "cavity:8"):
            rows = self.measure("factor", "--problem", problem)
            part = [row for row in rows if row["method"] != "cusparse"]
            self.assertEqual([(row["method"], row["sweeps"]) for row in part],
                             [("levels", "0")] + [("sweeps", str(n)) for n in range(1, 6)])
            self.assertEqual((rows[0]["residual"], rows[0]["pivot_difference"]), ("", "0"))
            residuals = [float(row["residual"]) for row in part[1:]]
            self.assertEqual(residuals, sorted(residuals, reverse=True))
            for row in rows:
                self.assertGreater(float(row["numeric_seconds"]), 0)
                if row["method"] == "cusparse":
                    self.assertLess(float(row["pivot_difference"]), 1e-10)

    # ---- the rest

    def test_files_and_spaces(self):
        with open(os.path.join(self.folder, "a.mtx"), "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n3 3 5\n"
                       "1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n")
        result = self.run_sweeps("--matrix", "a.mtx", "--exec", "host", "--reorder", "none",
                                 "residuals", "--sweeps", "2", "--runs", "1", "--csv", "r.csv")
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("a.mtx: 3 rows", result.stdout)
        with open(os.path.join(self.folder, "r.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["problem"] for row in rows}, {"a.mtx"})
        self.assertEqual({row["levels"] for row in rows}, {"1", "3"})

    def test_help(self):
        for arguments in (["--help"], ["residuals", "--help"]):
            result = self.run_sweeps(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("circuit:116835", result.stdout)

    def test_refuses_bad_input(self):
        self.refuse(["subcommand"])
        self.refuse(["nonsense"], "nonsense")
        good = ["residuals", "--problem", "poisson5:4"]
        for option, value in (("--nonsense", "1"), ("--sweeps", "-1"), ("--sweeps", "x"),
                              ("--runs", "0"), ("--repeat", "0"), ("--exec", "gpu"),
                              ("--block-size", "0"), ("--reorder", "nd")):
            self.refuse([option], *good, option, value)
        for option, value in (("--sweeps", "0"), ("--restart", "0"), ("--tol", "nan"),
                              ("--max-iters", "-1"), ("--factor-sweeps", "-1")):
            self.refuse([option], "solve", "--problem", "poisson5:4", option, value)
        self.refuse(["nowhere:3"], "cost", "--problem", "nowhere:3")
        self.refuse(["missing.mtx"], "cost", "--matrix", "missing.mtx")
        result = self.run_sweeps(*good, "--csv", "no/such/file")
        self.assertEqual((result.returncode, result.stdout), (2, ""))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
    def test_plots(self):
        for study in ("residuals", "solve"):
            result = self.run_sweeps(study, "--problem", "poisson5:6", "--repeat", "1", "--json",
                                     f"{study}.jsonl")
            self.assertEqual(result.returncode, 0, result)
        for form in ("png", "svg"):
            subprocess.run([sys.executable, PLOT, "--format", form, "residuals.jsonl",
                            "solve.jsonl"],
                           cwd=self.folder, check=True, capture_output=True, timeout=300)
            for study in ("residuals", "solve"):
                name = os.path.join(self.folder, f"{study}-poisson5-6.{form}")
                self.assertGreater(os.path.getsize(name), 1000)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    EXECUTABLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
