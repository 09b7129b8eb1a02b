#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ainvil-solve-mpi: the answers of ainvil-solve on any number of ranks, messages, exit codes.

usage: solve_mpi_test.py PATH/TO/ainvil-solve-mpi PATH/TO/ainvil-solve MPIEXEC NUMPROC_FLAG
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

MPI_EXECUTABLE = ""
EXECUTABLE = ""
MPIEXEC = []

SHIFTED = """%%MatrixMarket matrix coordinate real general
4 4 6
1 1 2
1 2 1
2 2 0
3 3 2
4 4 2
4 1 1
"""


class SolveMpiTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_mpi(self, ranks, *arguments, code=0):
        result = subprocess.run([*MPIEXEC, str(ranks), MPI_EXECUTABLE, *arguments],
                                cwd=self.folder, capture_output=True, text=True, timeout=300,
                                check=False)
        self.assertEqual(result.returncode, code, result)
        return result

    def records(self, ranks, *arguments, code=0):
        result = self.run_mpi(ranks, *arguments, "--json", "-", "--quiet", code=code)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def serial(self, *arguments):
        result = subprocess.run([EXECUTABLE, *arguments, "--json", "-", "--quiet"],
                                cwd=self.folder, capture_output=True, text=True, timeout=300,
                                check=True)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def refused(self, *arguments, says):
        """Exit code 2 and one line of ours, on two ranks."""
        result = self.run_mpi(2, *arguments, code=2)
        ours = [line for line in result.stderr.splitlines() if "ainvil-solve-mpi:" in line]
        self.assertEqual(len(ours), 1, result.stderr)
        self.assertIn(says, ours[0])

    def test_one_rank_is_the_serial_executable(self):
        arguments = ["--problem", "cavity:30", "--tol", "1e-6", "--precond", "jacobi", "--precond",
                     "ilu", "--precond", "ilu:solve=isai,power=2", "--precond",
                     "ilu:solve=isai,relax=1"]
        for form in ("points", "blocks"):
            mpi = self.records(1, *[word.replace("ilu", "ILU") for word in arguments],
                               "--format", form)
            for ours, theirs in zip(mpi, self.serial(*arguments), strict=True):
                self.assertEqual(ours["iterations"], theirs["iterations"], ours["precond"])
                self.assertEqual(ours["factor_entries"], theirs["factor_entries"])
                self.assertEqual(ours["status"], "converged")
                self.assertEqual(ours["ranks"], 1)
                self.assertEqual(theirs["ranks"], 1)

    def test_one_rank_is_the_serial_executable_for_spd_matrices(self):
        arguments = ["--problem", "laplace7:12", "--solver", "cg", "--precond", "fsai",
                     "--precond", "ainv", "--precond", "ilu"]
        for ours, theirs in zip(self.records(1, *arguments), self.serial(*arguments), strict=True):
            self.assertEqual(ours["iterations"], theirs["iterations"], ours["precond"])
            self.assertEqual(ours["factor_entries"], theirs["factor_entries"])

    def test_any_number_of_ranks(self):
        for ranks in (2, 3, 4):
            for partition in ("rows", "metis"):
                runs = self.records(ranks, "--problem", "cavity:20", "--partition", partition,
                                    "--precond", "ilu", "--precond", "ilu:solve=isai,power=3",
                                    "--precond", "ainv:symmetric=no,drop=0.05", "--precond",
                                    "RILUK", "--precond", "none")
                for run in runs:
                    self.assertEqual(run["status"], "converged", run)
                    self.assertLessEqual(run["rel_residual"], 1.1e-8, run)
                    self.assertEqual(run["ranks"], ranks)
                    self.assertEqual(run["partition"], partition)
                    self.assertTrue(run["setup_seconds"] or run["precond"] == "none", run)

    def test_solvers_with_one_reduction(self):
        for solver, belos in (("gmres", "TPETRA GMRES SINGLE REDUCE"),
                              ("cg", "TPETRA CG SINGLE REDUCE")):
            arguments = ["--problem", "laplace7:12", "--solver", solver, "--precond", "jacobi",
                         "--precond", "none"]
            one = self.records(2, *arguments, "--belos", belos)
            usual = self.records(2, *arguments)
            for ours, theirs in zip(one, usual, strict=True):
                self.assertEqual(ours["belos"], belos)
                self.assertLessEqual(ours["rel_residual"], 1.1e-8)
                self.assertLessEqual(abs(ours["iterations"] - theirs["iterations"]), 1)

    def test_more_ranks_than_rows(self):
        with open(os.path.join(self.folder, "two.mtx"), "w", encoding="utf-8") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n2 2 3\n"
                       "1 1 4\n1 2 1\n2 2 2\n")
        for form in ("points", "blocks"):
            for run in self.records(4, "--matrix", "two.mtx", "--format", form, "--precond", "ilu",
                                    "--precond", "jacobi"):
                self.assertEqual(run["status"], "converged", run)

    def test_distributed_fsai_does_not_see_ranks(self):
        iterations = set()
        entries = set()
        for ranks in (1, 2, 3, 4):
            for partition in ("rows", "metis"):
                run, = self.records(ranks, "--problem", "laplace7:12", "--solver", "cg",
                                    "--partition", partition, "--precond", "fsai:power=3")
                iterations.add(run["iterations"])
                entries.add(run["factor_entries"])
        self.assertLessEqual(max(iterations) - min(iterations), 1, iterations)
        self.assertEqual(len(entries), 1, entries)

    def test_overlap_saves_iterations(self):
        arguments = ["--problem", "laplace7:14", "--precond", "ilu:solve=isai,power=2"]
        without, = self.records(4, *arguments)
        overlapping, = self.records(4, *arguments, "--overlap", "1")
        self.assertLess(overlapping["iterations"], without["iterations"])

    def test_newton(self):
        entries = ["--problem", "cavity-newton:20", "--tol", "1e-6", "--precond", "ilu",
                   "--precond", "ilu:solve=isai,power=3"]
        for ranks, extra in ((1, []), (3, ["--partition", "metis"]), (2, ["--format", "blocks"])):
            for run in self.records(ranks, *entries, *extra):
                self.assertEqual(run["status"], "converged")
                steps = run["steps"]
                self.assertEqual(len(steps), 3, steps)
                self.assertLessEqual(steps[-1]["rel_newton_residual"], 1e-8)
                self.assertGreater(steps[0]["initialize_seconds"], 0)
                for step in steps:
                    self.assertEqual(step["initializations"], 1)
                    self.assertGreater(step["iterations"], 0)

    def test_newton_with_rows_that_ranks_share(self):
        without, = self.records(2, "--problem", "cavity-newton:20", "--precond", "ilu")
        run, = self.records(2, "--problem", "cavity-newton:20", "--precond", "ilu", "--overlap",
                            "1")
        self.assertEqual([step["initializations"] for step in run["steps"]], [1, 2, 3])
        for ours, theirs in zip(run["steps"], without["steps"], strict=True):
            self.assertLess(ours["iterations"], theirs["iterations"])

    def test_newton_breakdown_is_told(self):
        first, second = self.records(2, "--problem", "cavity-newton:30", "--precond",
                                     "ilu:solve=jacobi,divergence-limit=1e-6", "--precond", "ilu",
                                     code=3)
        self.assertEqual(first["status"], "breakdown")
        self.assertNotEqual(first["message"], "")
        self.assertEqual(second["status"], "converged")

    def test_newton_that_is_stopped(self):
        result = self.run_mpi(2, "--problem", "cavity-newton:10", "--newton-steps", "1", "--precond",
                              "ilu", code=3)
        self.assertIn("NOT converged", result.stdout)

    def test_breakdown_is_part_of_the_table(self):
        path = os.path.join(self.folder, "shifted.mtx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SHIFTED.replace("2 2 0", "2 2 0.5").replace("4 1 1", "2 1 1"))
        run, = self.records(2, "--matrix", "shifted.mtx", "--precond", "ilu", code=3)
        self.assertEqual(run["status"], "breakdown", run)
        self.assertIn("rank 0 of 2", run["message"])
        # On one rank only, inside of AdditiveSchwarz.
        run, = self.records(2, "--matrix", "shifted.mtx", "--precond", "ilu", "--overlap", "1",
                            code=3)
        self.assertEqual(run["status"], "breakdown", run)

    def test_solution(self):
        self.run_mpi(3, "--problem", "laplace7:5", "--rhs", "rowsum", "--precond", "ilu", "--tol",
                     "1e-12", "--solution", "x.mtx")
        with open(os.path.join(self.folder, "x.mtx"), encoding="utf-8") as file:
            values = [float(line) for line in file if line[0] not in "%"
                      and len(line.split()) == 1]
        self.assertEqual(len(values), 125)
        for value in values:
            self.assertAlmostEqual(value, 1, delta=1e-9)

    def test_not_converged(self):
        run, = self.records(2, "--problem", "cavity:20", "--precond", "none", "--max-iters", "3",
                            code=3)
        self.assertEqual(run["iterations"], 3)

    def test_bad_input(self):
        small = ["--problem", "laplace7:4"]
        self.refused(*small, "--precond", "nosuch", says="neither one of Ainvil's")
        self.refused(*small, "--precond", "ilu:power=-2", says="'power' has no effect")
        self.refused(*small, "--precond", "RILUK:level", says="NAME=VALUE")
        self.refused(*small, "--overlap", "1", "--format", "blocks", says="--format points")
        self.refused(*small, "--overlap", "-1", says="--overlap")
        self.refused(*small, "--partition", "blocks", says="rows|metis")
        self.refused(*small, "--belos", "nosuch", says="TPETRA GMRES")
        self.refused(*small, "--history", "h.csv", says="--history")
        self.refused(*small, "--block-size", "5", says="does not divide")
        self.refused("--matrix", "absent.mtx", says="absent.mtx")
        self.refused("--problem", "cavity-newton:2", says="from 3")
        self.refused("--problem", "cavity-newton:9", "--scale", "norm", says="--scale")
        with open(os.path.join(self.folder, "zero.mtx"), "w", encoding="utf-8") as file:
            file.write(SHIFTED.replace("4 1 1", "2 3 1"))
        self.refused("--matrix", "zero.mtx", "--precond", "ilu", says="zero diagonal entry in row 2")

    def test_help(self):
        text = self.run_mpi(2, "--help").stdout
        self.assertEqual(text.count("--partition"), 1) # one rank writes
        for word in ("--overlap", "--format", "cavity-newton:N", "local-fsai", "Ifpack2"):
            self.assertIn(word, text)
        for word in ("--history", "--precision", "--exec "):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    MPI_EXECUTABLE, EXECUTABLE = map(os.path.abspath, sys.argv[1:3])
    MPIEXEC = sys.argv[3:5]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
