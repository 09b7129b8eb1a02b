#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ainvil-solve-mpi: absolute tolerances and initial guesses, as the system that was given has them.

usage: solve_mpi_tolerances_test.py PATH/TO/ainvil-solve-mpi PATH/TO/ainvil-solve MPIEXEC NUMPROC_FLAG
"""

import solve_mpi
from solve_mpi import NONSYMMETRIC, SolveMpiCase


class TolerancesTest(SolveMpiCase):

    def test_absolute_tolerances(self):
        """That a system has, recomputed here from files, met by whoever solves."""
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n300\n-200\n100\n50\n")
        self.write("a.mtx", NONSYMMETRIC)
        b = [300, -200, 100, 50]
        system = ["--matrix", "a.mtx", "--rhs", "b.mtx", "--precond", "none", "--solver", "gmres",
                  "--solution", "x.mtx"]
        norm = sum(value * value for value in b) ** 0.5
        for ranks, scaling in ((1, []), (2, ["--scale", "ruiz"]), (3, ["--match", "product"])):
            for krylov in ("ainvil", "belos"):
                arguments = [*system, "--krylov", krylov, *scaling]
                run, = self.records(ranks, *arguments, "--tol", "0", "--abs-tol", "40")
                self.assertEqual((run["status"], run["absolute_tolerance"], run["tolerance"]),
                                 ("converged", 40, 0), run)
                left = self.residual("a.mtx", b, "x.mtx")
                self.assertLessEqual(left * norm, 40 * (1 + 1e-9))
                self.assertAlmostEqual(left, run["rel_residual"], delta=1e-12)
                same, = self.records(ranks, *arguments, "--tol", repr(40 / norm))
                self.assertNotIn("absolute_tolerance", same)
                self.assertEqual(same["iterations"], run["iterations"])
                # The looser one counts.
                tight, = self.records(ranks, *arguments, "--abs-tol", "1e-12")
                self.assertLess(run["iterations"], tight["iterations"])
                self.assertLessEqual(tight["rel_residual"], 1e-8)
                # b itself is small enough.
                run, = self.records(ranks, *system, "--krylov", krylov, "--abs-tol", "1000")
                self.assertEqual((run["status"], run["iterations"], run["rel_residual"]),
                                 ("converged", 0, 1))

    def test_absolute_tolerances_of_larger_systems(self):
        for ranks in (1, 2, 3):
            for krylov in (["--krylov", "ainvil"], ["--krylov", "belos"],
                           ["--belos", "TPETRA CG SINGLE REDUCE"]):
                run, = self.records(ranks, "--problem", "laplace7:8", "--rhs", "ones", "--solver",
                                    "cg", "--precond", "jacobi", "--tol", "0", "--abs-tol", "0.01",
                                    *krylov)
                left = run["rel_residual"] * 512 ** 0.5
                self.assertEqual(run["status"], "converged")
                self.assertTrue(1e-4 < left <= 0.01 * (1 + 1e-9), left)
            table = self.run_mpi(ranks, "--problem", "laplace7:4", "--precond", "none", "--abs-tol",
                                 "0.5").stdout
            self.assertIn("tolerance 1e-08 or 0.5 absolute", table)

    def test_initial_guesses(self):
        """As ainvil-solve, on any number of ranks and whoever solves."""
        n = 30
        entries = [(i, j, (4 + i if i == j else -1 - j % 3) * 10.0 ** (i % 5 - 2))
                   for i in range(1, n + 1) for j in (i - 1, i, i + 1) if 1 <= j <= n]
        self.write("a.mtx", f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(entries)}\n" +
                   "".join(f"{i} {j} {value!r}\n" for i, j, value in entries))
        x = [1.0 + k % 4 for k in range(n)]
        b = [0] * n
        for i, j, value in entries:
            b[i - 1] += value * x[j - 1]
        array = f"%%MatrixMarket matrix array real general\n{n} 1\n"
        for name, values in (("b.mtx", b), ("x.mtx", x), ("0.mtx", [0] * n),
                             ("far.mtx", [1e4 * (-1) ** k for k in range(n)])):
            self.write(name, array + "".join(f"{value!r}\n" for value in values))
        system = ["--matrix", "a.mtx", "--rhs", "b.mtx", "--precond", "jacobi"]
        for ranks, options in ((1, []), (2, ["--scale", "ruiz", "--reorder", "rcm"]),
                               (3, ["--match", "product", "--partition", "metis"])):
            for krylov in ("ainvil", "belos"):
                arguments = [*system, "--krylov", krylov, *options]
                run, = self.records(ranks, *arguments, "--guess", "x.mtx", "--solution", "y.mtx")
                self.assertEqual((run["status"], run["iterations"]), ("converged", 0), run)
                self.assertLess(run["guess_rel_residual"], 1e-12)
                self.assertLess(self.residual("a.mtx", b, "y.mtx"), 1e-12)
                far, = self.records(ranks, *arguments, "--guess", "far.mtx", "--tol", "1e-3",
                                    "--relative-to", "initial", "--solution", "y.mtx", "--repeat", "2")
                serial, = self.serial(*system, *[word for word in options if word not in
                                                 ("--partition", "metis")], "--guess", "far.mtx",
                                      "--tol", "1e-3", "--relative-to", "initial")
                self.assertEqual(far["guess_rel_residual"], serial["guess_rel_residual"])
                self.assertGreater(far["guess_rel_residual"], 100)
                self.assertEqual((far["status"], far["relative_to"]), ("converged", "initial"))
                self.assertLessEqual(abs(far["iterations"] - serial["iterations"]), 1)
                left = self.residual("a.mtx", b, "y.mtx")
                self.assertAlmostEqual(left, far["rel_residual"], delta=1e-9)
                self.assertLessEqual(left, 1e-3 * far["guess_rel_residual"])
                full, = self.records(ranks, *arguments, "--guess", "far.mtx")
                self.assertEqual(full["status"], "converged")
                self.assertLessEqual(full["rel_residual"], 1e-8)
                self.assertGreater(full["iterations"], far["iterations"])
                # Of b = 0 the solution is 0, whatever the guess.
                none, = self.records(ranks, "--matrix", "a.mtx", "--rhs", "0.mtx", "--precond",
                                     "jacobi", "--krylov", krylov, "--guess", "far.mtx", *options)
                self.assertEqual((none["status"], none["iterations"], none["rel_residual"]),
                                 ("converged", 0, 0))

    def test_initial_guesses_are_refused_by_name(self):
        self.write("short.txt", "1\n2\n")
        self.refused("--problem", "laplace7:4", "--guess", "short.txt",
                     says="the initial guess in 'short.txt' has 2 values, but the matrix has 64 rows")
        self.refused("--problem", "laplace7:4", "--guess", "nowhere", says="there is no file")
        self.refused("--problem", "laplace7:4", "--relative-to", "initial", says="needs --guess")
        self.refused("--problem", "cavity-newton:9", "--guess", "short.txt",
                     says="have no effect with Newton's method")

    def test_absolute_tolerances_are_refused_where_they_mean_nothing(self):
        self.refused("--problem", "laplace7:4", "--abs-tol", "-1", says="--abs-tol must be")
        self.refused("--problem", "cavity-newton:9", "--abs-tol", "1", says="leave out --abs-tol")


if __name__ == "__main__":
    solve_mpi.main()
