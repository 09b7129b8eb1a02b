#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What ainvil-solve says of its runs: residuals of the system as given, statuses, exit codes.

usage: solve_truth_test.py PATH/TO/ainvil-solve [unittest options]
"""

import json
import math
import os
import unittest

import solve_cli
from solve_cli import ARRAY, GENERAL, JSON_KEYS, heavy_row, tridiagonal


class TruthTest(solve_cli.SolveTest):

    def judged(self, entries, b, *arguments, code=None):
        """Runs on the matrix with these (row, column): value and checks every line of JSON against
        the residual of the solution, computed here. Returns the runs."""
        n = len(b)
        text = GENERAL + f"{n} {n} {len(entries)}\n"
        text += "".join(f"{i + 1} {j + 1} {value!r}\n" for (i, j), value in entries.items())
        matrix = self.write("a.mtx", text)
        rhs = self.write("b.mtx", ARRAY + f"{n} 1\n" + "".join(f"{value!r}\n" for value in b))
        runs = []
        for precond in ("none", "jacobi", "ilu"):
            result = self.run_solve("--matrix", matrix, "--rhs", rhs, *arguments, "--precond", precond,
                                    "--json", "-", "--solution", "x.mtx", "--quiet")
            run = json.loads(result.stdout)
            self.assertEqual(result.returncode, 0 if run["status"] == "converged" else 3, result)
            if code is not None:
                self.assertEqual(result.returncode, code, run)
            runs.append(run)
            if not os.path.exists(self.path("x.mtx")):
                self.assertIsNone(run["rel_residual"])
                continue
            lines = [line for line in self.read("x.mtx").splitlines() if not line.startswith("%")]
            x = [float(line) for line in lines[1:]]
            os.remove(self.path("x.mtx"))
            r = list(b)
            for (i, j), value in entries.items():
                r[i] -= value * x[j]
            scale = max(map(abs, b))
            norm = math.hypot(*(value / scale for value in r))
            norm /= math.hypot(*(value / scale for value in b))
            self.assertAlmostEqual(run["rel_residual"], norm, delta=1e-3 * norm + 1e-15)
            if run["decisive_residual"] == "original":
                reference = 1
                if run.get("relative_to") == "initial":
                    reference = run["guess_rel_residual"]
                self.assertEqual(run["status"] == "converged",
                                 run["rel_residual"] <= run["tolerance"] * reference, run)
            if run["status"] != "converged":
                self.assertNotEqual(run["message"], "")
        return runs

    def guess(self, x):
        return "--guess", self.write("x0.mtx", ARRAY + f"{len(x)} 1\n" +
                                     "".join(f"{value!r}\n" for value in x))

    def left(self, entries, b, x):
        """||b - A x|| / ||b||"""
        r = list(b)
        for (i, j), value in entries.items():
            r[i] -= value * x[j]
        return math.hypot(*r) / math.hypot(*b)

    def test_a_guess_that_solves_the_system_as_given_needs_no_iteration(self):
        n = 24
        x = [(5 * k) % 7 - 2.5 for k in range(n)]
        scaled = self.badly_scaled(n, 2)
        exchanged = {((i + 1) % n, j): value for (i, j), value in scaled.items()}
        for entries, cases in (
                (scaled, ([], ["--scale", "norm"], ["--scale", "diagonal", "--reorder", "rcm"],
                          ["--scale", "ruiz", "--reorder", "nd", "--block-size", "4"],
                          ["--scale", "ruiz", "--residual", "scaled"], ["--solver", "bicgstab"],
                          ["--precision", "float", "--scale", "ruiz", "--tol", "1e-3"])),
                (exchanged, (["--match", "product"], ["--match", "product", "--reorder", "colour"]))):
            b = [0] * n
            for (i, j), value in entries.items():
                b[i] += value * x[j]
            for options in cases:
                with self.subTest(options=options):
                    for run in self.judged(entries, b, *self.guess(x), *options):
                        self.assertEqual((run["status"], run["iterations"]), ("converged", 0))
                        self.assertLess(run["guess_rel_residual"], 1e-12)
                        self.assertEqual(run["guess_scaled_rel_residual"] is None,
                                         run["scaled_rel_residual"] is None)

    def test_a_guess_is_judged_in_the_system_as_given(self):
        """Its residual is 1e-8 of b there, and 1e-5 in the scaled system."""
        entries, b = {(0, 0): 1e6, (1, 1): 1.0}, [1e6, 1.0]
        arguments = (*self.guess([1.0, 0.99]), "--scale", "diagonal", "--tol", "1e-6",
                     "--json-history")
        for run in self.judged(entries, b, *arguments, code=0):
            self.assertEqual((run["iterations"], len(run["history"])), (0, 1))
            self.assertAlmostEqual(run["rel_residual"], 1e-8, delta=1e-12)
            self.assertAlmostEqual(run["history"][0], 1e-5, delta=1e-9)
        for run in self.judged(entries, b, *arguments, "--residual", "scaled", code=0):
            self.assertGreater(run["iterations"], 0)

    def test_the_residual_of_the_guess_may_be_what_counts(self):
        n = 40
        entries = self.badly_scaled(n, 1)
        x = [1.0 + k % 3 for k in range(n)]
        b = [0] * n
        for (i, j), value in entries.items():
            b[i] += value * x[j]
        for relative_to in ("rhs", "initial"):
            for size in (1e-4, 1e4):
                guess = [value * (1 + size * (-1) ** k) for k, value in enumerate(x)]
                left = self.left(entries, b, guess)
                for options in ([], ["--scale", "ruiz"], ["--scale", "norm", "--reorder", "rcm"],
                                ["--solver", "fgmres", "--repeat", "2"]):
                    runs = self.judged(entries, b, *self.guess(guess), "--relative-to", relative_to,
                                       "--tol", "1e-2", *options, code=0)
                    for run in runs:
                        self.assertEqual(run["relative_to"], relative_to)
                        self.assertAlmostEqual(run["guess_rel_residual"], left, delta=1e-9 * left)
                        # Of b the good guess is enough, and the bad one far away.
                        is_enough = size < 1 and relative_to == "rhs"
                        self.assertEqual(run["iterations"] == 0, is_enough, run)
                        if size > 1 and relative_to == "rhs":
                            self.assertLessEqual(run["rel_residual"], 1e-2)
                        if size < 1 and relative_to == "initial":
                            self.assertLessEqual(run["rel_residual"], 1e-2 * left)

    def badly_scaled(self, n, decades):
        """Rows and columns of a tridiagonal matrix scaled by powers of ten."""
        size = [10.0 ** ((7 * k) % (2 * decades + 1) - decades) for k in range(n)]
        return {(i, j): size[i] * size[j] * (4.0 if i == j else -1.0)
                for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n}

    def test_scaled_runs_are_judged_by_the_system_as_given(self):
        entries = self.badly_scaled(60, 4)
        b = [1.0 + k % 3 for k in range(60)]
        for scale in ("diagonal", "norm"):
            for solver in ("gmres", "cg", "bicgstab"):
                with self.subTest(scale=scale, solver=solver):
                    runs = self.judged(entries, b, "--scale", scale, "--solver", solver)
                    for run in runs:
                        self.assertIsNotNone(run["scaled_rel_residual"])
                    self.assertIn("converged", [run["status"] for run in runs])
                    scaled = self.judged(entries, b, "--scale", scale, "--solver", solver,
                                         "--residual", "scaled")
                    for run in scaled:
                        self.assertEqual(run["status"] == "converged",
                                         run["scaled_rel_residual"] <= 1e-8, run)
                        self.assertEqual(run["decisive_residual"], "scaled")
        self.assertIsNone(self.judged(entries, b)[0]["scaled_rel_residual"])
        self.refuse_input(["--residual scaled", "--scale"], "--problem", "poisson5:4", "--residual",
                          "scaled")

    def test_float_is_judged_by_the_system_in_double(self):
        # In float the second row is the first.
        entries = {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 1.0 + 1e-9}
        self.judged(entries, [1.0, 2.0], "--precision", "float", "--tol", "1e-5", code=3)
        # A tolerance that float does not reach.
        entries = {(i, j): 1.0 / (1.0 + i + j) + (i == j) for i in range(20) for j in range(20)}
        b = [1.0 / 3.0 + k for k in range(20)]
        for solver in ("gmres", "cg", "bicgstab"):
            self.judged(entries, b, "--precision", "float", "--tol", "1e-10", "--solver", solver,
                        code=3)
            self.judged(entries, b, "--precision", "float", "--tol", "1e-4", "--solver", solver,
                        code=0)

    def test_right_hand_sides_may_be_of_any_size(self):
        entries = {(i, i): 2.0 for i in range(4)}
        for size in (1e-300, 1e-200, 1e-165, 1e-100, 1e-50, 1e-38, 1e38, 1e100, 1e200, 1e300):
            with self.subTest(size=size):
                self.judged(entries, [size, 0.0, -2 * size, size], code=0)
                self.judged(entries, [size, 0.0, -2 * size, size], "--scale", "diagonal",
                            "--reorder", "rcm", code=0)
                self.judged(entries, [size, 0.0, -2 * size, size], "--precision", "float", "--tol", "1e-6",
                            code=0)

    def test_a_tolerance_beyond_float_is_not_the_fault_of_the_matrix(self):
        laplacian = {(i, j): 2.0 if i == j else -1.0 for i in range(20) for j in (i - 1, i, i + 1) if 0 <= j < 20}
        runs = self.judged(laplacian, [1.0] * 20, "--precision", "float")
        self.assertIn("stagnated", [run["status"] for run in runs])
        for run in runs:
            if run["status"] == "stagnated":
                self.assertRegex(run["message"], "precision of the vectors|float resolves no more")
        runs = self.judged(laplacian, [1.0 / (3.0 + k) for k in range(20)], "--tol", "1e-18", code=3)
        for run in runs:  # which are in double
            self.assertIn("larger", run["message"])
            self.assertNotIn("double", run["message"])

    def test_a_last_step_far_within_the_tolerance_is_not_the_end(self):
        for exponent in (9, 10, 11):
            for solver in ("gmres", "cg", "bicgstab"):
                self.judged(*heavy_row(exponent), "--scale", "ruiz", "--solver", solver, code=0)

    def test_ends_where_a_scaled_system_has_no_residual_left(self):
        # Of a diagonal matrix; rounding keeps that of the system as given above the tolerance.
        entries = {(i, i): 4.0 ** (i % 3) * (1.0 + i / 7.0) for i in range(20)}
        b = [1.0 / (3.0 + k) for k in range(20)]
        for solver in ("gmres", "cg", "bicgstab"):
            for run in self.judged(entries, b, "--scale", "diagonal", "--solver", solver, "--tol",
                                   "1e-18", code=3):
                self.assertEqual(run["status"], "stagnated", run)
                self.assertLess(run["iterations"], 50, run)

    def test_singular_matrices_do_not_converge(self):
        entries = {(i, j): 4.0 if i == j else -1.0
                   for i in range(8) for j in (i - 1, i, i + 1) if 0 <= j < 8 and j != 5}
        for solver in ("gmres", "fgmres", "bicgstab", "cg"):
            self.judged(entries, [float(k % 4 + 1) for k in range(8)], "--solver", solver, code=3)

    # ---- nothing is lost

    def test_a_refused_run_is_a_row(self):
        text = self.succeed("--problem", "cavity:8", "--solver", "bicgstab", "--tol", "1e-6",
                            "--precond", "ilu", "--precond", "fsai", "--precond", "jacobi",
                            "--precond", "ainv", "--json", "a.json", "--history", "h.csv",
                            "--solution", "x.mtx", code=3)
        runs = [json.loads(line) for line in self.read("a.json").splitlines()]
        self.assertEqual([run["precond"] for run in runs], ["ilu", "fsai", "jacobi", "ainv"])
        self.assertEqual([run["status"] for run in runs],
                         ["converged", "refused", "converged", "refused"])
        self.assertIn("symmetric", runs[1]["message"])
        self.assertIn("fsai: " + runs[1]["message"], text)
        self.assertIsNone(runs[1]["solve_seconds"])
        self.assertTrue(os.path.exists(self.path("x.mtx")))
        self.assertIn("Fastest in total", text)

    def test_diverging_sweeps_stop_the_solver(self):
        lines = self.succeed("--problem", "chain:800", "--precond", "ilu", "--precond",
                             "ilu:solve=jacobi", code=3).splitlines()
        exact = next(line for line in lines if line.startswith("ilu  "))
        sweeps = next(line for line in lines if line.startswith("ilu:solve=jacobi  "))
        self.assertIn(" converged ", exact)
        self.assertIn(" diverged ", sweeps)
        self.assertTrue(any("sweeps on the lower factor diverge" in line for line in lines), lines)

    def test_asynchronous_sweeps_need_a_flexible_solver(self):
        arguments = ("--problem", "poisson5:20", "--precond", "ilu:solve=async,sweeps=3")
        for solver in ("gmres", "cg"):
            self.refuse(["fgmres", "allow_varying"], *arguments, "--solver", solver)
        self.succeed(*arguments, "--solver", "gmres", "--allow-varying", "--tol", "1e-3")
        self.succeed(*arguments, "--solver", "fgmres")

    def test_not_converged_is_exit_code_3_with_the_table(self):
        text = self.succeed("--problem", "cavity:20", "--max-iters", "3", "--precond", "jacobi",
                            "--json", "a.json", code=3)
        self.assertIn("max_iterations", text)
        self.assertIn("No run converged.", text)
        self.assertEqual(json.loads(self.read("a.json"))["iterations"], 3)

    def test_breakdown_does_not_stop_the_other_runs(self):
        # The second pivot of the scalar factorisation is 4 - 2 * 2 = 0.
        text = GENERAL + "3 3 7\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n2 3 1\n3 2 1\n3 3 3\n"
        table = self.succeed("--matrix", self.write("a.mtx", text), "--precond", "ilu", "--precond",
                             "jacobi", "--precond", "ilu:breakdown=replace", "--json", "a.json",
                             code=3)
        runs = [json.loads(line) for line in self.read("a.json").splitlines()]
        self.assertEqual([run["status"] for run in runs], ["breakdown", "converged", "converged"])
        self.assertIn("policy", runs[0]["message"])
        self.assertIsNone(runs[0]["rel_residual"])
        self.assertLessEqual(JSON_KEYS, runs[0].keys())
        self.assertEqual([run["breakdowns"] for run in runs], [0, 0, 1])
        self.assertIn("ilu: 1 pivot", table)
        self.assertIn("Fastest in total", table)
        self.assertNotIn("--reorder", runs[0]["message"])
        # Row 1 of the reordered matrix breaks down; its number in the message is none of the file.
        self.succeed("--matrix", self.write("a.mtx", text), "--precond", "ilu", "--reorder", "rcm",
                     "--json", "a.json", "--quiet", code=3)
        self.assertIn("--reorder rcm", json.loads(self.read("a.json"))["message"])

    # ---- bad input


if __name__ == "__main__":
    solve_cli.main(__doc__)
