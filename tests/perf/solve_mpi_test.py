#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ainvil-solve-mpi: the answers of ainvil-solve on any number of ranks, messages, exit codes.

usage: solve_mpi_test.py PATH/TO/ainvil-solve-mpi PATH/TO/ainvil-solve MPIEXEC NUMPROC_FLAG
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
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


INDEFINITE = """%%MatrixMarket matrix coordinate real symmetric
3 3 4
1 1 1
2 1 3
2 2 -1
3 3 2
"""

# Of rank 3: the fourth column is empty.
SINGULAR = """%%MatrixMarket matrix coordinate real general
4 4 7
1 1 4
1 2 1
2 2 3
2 3 1
3 3 2
3 1 1
4 1 1
"""

# A matrix whose symmetric parts FSAI takes for granted.
NONSYMMETRIC = """%%MatrixMarket matrix coordinate real general
4 4 7
1 1 4
1 2 1
2 2 3
2 3 1
3 3 2
3 4 1
4 4 5
"""


class SolveMpiTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_job(self, command, code=0):
        """A job that does not end is one that fails."""
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                                timeout=300, check=False)
        self.assertEqual(result.returncode, code, result)
        return result

    def run_mpi(self, ranks, *arguments, code=0):
        return self.run_job([*MPIEXEC, str(ranks), MPI_EXECUTABLE, *arguments], code=code)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read_values(self, name):
        """The numbers of a Matrix Market file, a tuple a line, without the line of sizes."""
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            lines = [line.split() for line in file if not line.startswith("%")]
        return [tuple(map(float, line)) for line in lines[1:]]

    def residual(self, matrix, rhs, solution):
        """||b - A x|| / ||b|| of a general matrix in coordinates, from the files alone."""
        x = [value for value, in self.read_values(solution)]
        r = list(rhs)
        for i, j, value in self.read_values(matrix):
            r[int(i) - 1] -= value * x[int(j) - 1]
        largest = max(map(abs, rhs))
        return (math.hypot(*(value / largest for value in r)) /
                math.hypot(*(value / largest for value in rhs)))

    def records(self, ranks, *arguments, code=0):
        result = self.run_mpi(ranks, *arguments, "--json", "-", "--quiet", code=code)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def serial(self, *arguments):
        result = subprocess.run([EXECUTABLE, *arguments, "--json", "-", "--quiet"],
                                cwd=self.folder, capture_output=True, text=True, timeout=300,
                                check=True)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def refused(self, *arguments, says):
        """Exit code 2 and one line of ours, on two ranks, before anything has been computed."""
        result = self.run_mpi(2, *arguments, code=2)
        self.assertEqual(result.stdout, "")
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
                self.assertEqual((run["problem"], run["rows"], run["nnz"], run["block_size"], run["ranks"]),
                                 ("cavity-newton:20", 1200, 9 * (400 + 4 * 19 * 20), 3, ranks))
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
        first, second = self.records(2, "--problem", "cavity-newton:9", "--format", "blocks",
                                     "--precond", "fsai", "--precond", "ilu", code=3)
        self.assertEqual(first["status"], "refused")
        self.assertIn("use local-fsai", first["message"])
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
        self.write("zero.mtx", SHIFTED.replace("4 1 1", "2 3 1"))
        first, second = self.records(2, "--matrix", "zero.mtx", "--precond", "ilu", "--precond",
                                     "none", code=3)
        self.assertEqual(first["status"], "breakdown")
        self.assertEqual(second["status"], "converged")
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

    def test_files_are_those_of_the_first_rank(self):
        """Ranks that start elsewhere, as on a node with a file system of its own."""
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere)
        self.write("a.mtx", NONSYMMETRIC)
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n2\n3\n4\n")
        first = ["-wdir", self.folder, MPI_EXECUTABLE, "--matrix", "a.mtx", "--rhs", "b.mtx",
                 "--precond", "ilu", "--solution", "x.mtx", "--json", "out.json"]
        # What the other rank was told does not count either.
        other = ["-wdir", elsewhere, MPI_EXECUTABLE, "--problem", "nosuch", "--precond", "nosuch"]
        job = [*MPIEXEC, "1", *first, ":", *MPIEXEC[1:], "1"]
        for arguments in (["-wdir", elsewhere, *first[2:]], other):
            self.run_job([*job, *arguments])
            self.assertLessEqual(self.residual("a.mtx", [1, 2, 3, 4], "x.mtx"), 1e-8)
        self.assertEqual(os.listdir(elsewhere), [])
        # Absent on the first rank alone.
        os.rename(os.path.join(self.folder, "b.mtx"), os.path.join(elsewhere, "b.mtx"))
        result = self.run_job([*job, "-wdir", elsewhere, *first[2:]], code=2)
        self.assertIn("there is no file 'b.mtx'", result.stderr)

    def test_statuses_are_those_of_ainvil_solve(self):
        """What Belos throws, or has no answer to, is a row, and the next preconditioner is tried."""
        self.write("indefinite.mtx", INDEFINITE)
        self.write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n")
        self.write("large.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n"
                   "1 1 1e308\n1 2 1e308\n2 1 1e308\n2 2 -1e308\n")
        self.write("ones.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n")
        two = ["--precond", "none", "--precond", "jacobi"]
        for arguments, statuses, code in (
                (["--matrix", "indefinite.mtx", "--solver", "cg", *two], ["breakdown"] * 2, 3),
                (["--matrix", "large.mtx", "--rhs", "ones.mtx", "--precond", "none"],
                 ["diverged"], 3),
                (["--matrix", "empty.mtx", *two], ["converged"] * 2, 0),
                (["--problem", "laplace7:4", "--restart", "1000000000", *two],
                 ["converged"] * 2, 0),
                (["--problem", "laplace7:4", "--max-iters", "0", *two],
                 ["max_iterations"] * 2, 3),
                (["--problem", "laplace7:4", "--max-iters", "2", *two],
                 ["max_iterations"] * 2, 3)):
            serial = self.run_job([EXECUTABLE, *arguments, "--json", "-", "--quiet"], code=code)
            self.assertEqual([json.loads(line)["status"] for line in serial.stdout.splitlines()],
                             statuses, arguments)
            for ranks in (1, 2):
                runs = self.records(ranks, *arguments, code=code)
                self.assertEqual([run["status"] for run in runs], statuses, arguments)
                for run in runs:
                    self.assertEqual(run["message"] == "", run["status"] == "converged", run)
                    self.assertNotIn("Throw", run["message"])

    def test_converged_is_what_the_residual_says(self):
        """Not what the solver believes: here it is taken from the files."""
        self.write("singular.mtx", SINGULAR)
        rhs = [1, 1, 1, -1]
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n" +
                   "".join(f"{value}\n" for value in rhs))
        for solver in ("gmres", "fgmres", "cg", "bicgstab"):
            run, = self.records(2, "--matrix", "singular.mtx", "--rhs", "b.mtx", "--solver", solver,
                                "--precond", "none", "--solution", "x.mtx", code=3)
            self.assertNotEqual(run["status"], "converged", run)
            if run["rel_residual"] is None: # NaN: nothing to write
                self.assertFalse(os.path.exists(os.path.join(self.folder, "x.mtx")))
                continue
            residual = self.residual("singular.mtx", rhs, "x.mtx")
            self.assertGreater(residual, 1e-3)
            self.assertAlmostEqual(run["rel_residual"] / residual, 1, delta=1e-8)
            os.remove(os.path.join(self.folder, "x.mtx"))

    def test_tiny_and_huge_right_hand_sides(self):
        """Whose squares under- or overflow."""
        self.write("a.mtx", NONSYMMETRIC)
        for exponent in (-300, 300):
            self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n" +
                       "".join(f"{value}e{exponent}\n" for value in (1, 2, 3, 4)))
            for solver in ("gmres", "bicgstab"):
                run, = self.records(2, "--matrix", "a.mtx", "--rhs", "b.mtx", "--solver", solver,
                                    "--precond", "jacobi", "--solution", "x.mtx")
                self.assertEqual(run["status"], "converged", run)
                self.assertGreater(run["iterations"], 0)
                rhs = [float(f"{value}e{exponent}") for value in (1, 2, 3, 4)]
                self.assertLessEqual(self.residual("a.mtx", rhs, "x.mtx"), 1e-8)

    def test_a_refused_preconditioner_is_a_row(self):
        self.write("a.mtx", NONSYMMETRIC)
        arguments = ["--matrix", "a.mtx", "--precond", "jacobi", "--precond", "fsai", "--precond",
                     "local-fsai", "--precond", "ilu", "--solution", "x.mtx"]
        for ranks in (1, 2):
            result = self.run_mpi(ranks, *arguments, "--json", "out.json", code=3)
            with open(os.path.join(self.folder, "out.json"), encoding="utf-8") as file:
                runs = [json.loads(line) for line in file]
            self.assertEqual([run["status"] for run in runs],
                             ["converged", "refused", "refused", "converged"])
            self.assertIn("symmetric", runs[1]["message"])
            self.assertIn(runs[1]["message"], result.stdout)
            self.assertEqual(len(self.read_values("x.mtx")), 4)
        run, = self.records(2, "--problem", "laplace7:4", "--format", "blocks", "--precond", "fsai",
                            code=3)
        self.assertEqual(run["status"], "refused")
        self.assertIn("use local-fsai", run["message"])

    def test_failure_of_trilinos_on_one_rank(self):
        """LAPACK meets a singular block on the second rank only."""
        self.write("a.mtx", NONSYMMETRIC.replace("4 4 5", "4 3 2").replace("3 4 1", "3 4 2")
                   .replace("4 4 7", "4 4 8") + "4 4 2\n")
        dense = "SCHWARZ:inner preconditioner name=DENSE"
        began = time.monotonic()
        runs = self.records(2, "--matrix", "a.mtx", "--precond", dense, "--precond", "none", code=3)
        self.assertLess(time.monotonic() - began, 250)
        self.assertIn(runs[0]["status"], ("failed", "refused"), runs)
        self.assertIn("rank 1 of 2", runs[0]["message"])

    def test_results_are_written_as_runs_end(self):
        """A job that is killed in its second run leaves the first."""
        path = os.path.join(self.folder, "out.json")
        with subprocess.Popen([*MPIEXEC, "2", MPI_EXECUTABLE, "--problem", "laplace7:40",
                               "--precond", "jacobi", "--precond", "ainv:drop=0", "--tol", "1e-2",
                               "--json", "out.json", "--solution", "x.mtx", "--quiet"],
                              cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as job:
            latest = time.monotonic() + 200
            while not os.path.exists(path) and time.monotonic() < latest:
                time.sleep(0.1)
            running = job.poll() is None
            job.terminate()
            job.wait(timeout=60)
        self.assertTrue(running)
        with open(path, encoding="utf-8") as file:
            run, = [json.loads(line) for line in file]
        self.assertEqual(run["precond"], "jacobi")
        self.assertEqual(run["status"], "converged")

    def test_preconditioners_that_vary_need_a_solver_that_takes_them(self):
        small = ["--problem", "laplace7:6", "--precond", "ilu:solve=async"]
        self.refused(*small, says="take --solver fgmres")
        self.refused(*small, "--solver", "cg", says="take --solver fgmres")
        self.refused(*small, "--solver", "fgmres", "--belos", "BLOCK GMRES", says="BLOCK GMRES")
        self.refused("--problem", "cavity-newton:9", "--precond", "ilu:solve=async", says="fgmres")
        for solver in (["fgmres"], ["bicgstab"], ["gmres", "--belos", "Flexible GMRES"]):
            run, = self.records(2, *small, "--solver", *solver)
            self.assertEqual(run["status"], "converged", run)

    def test_not_converged(self):
        for most in (1, 3):
            run, = self.records(2, "--problem", "cavity:20", "--precond", "none", "--max-iters",
                                str(most), code=3)
            self.assertEqual(run["iterations"], most)

    def test_figures_are_those_of_all_ranks(self):
        """Sums of the ranks' entries and breakdowns, and the memory of the largest."""
        for ranks in (1, 2, 3):
            run, = self.records(ranks, "--problem", "laplace7:5", "--precond", "jacobi")
            self.assertEqual((run["factor_entries"], run["factor_bytes"]), (125, 1000))
        self.write("zeros.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 8\n1 1 1\n1 2 2\n"
                   "2 1 2\n2 2 4\n3 3 1\n3 4 2\n4 3 2\n4 4 4\n")
        for ranks in (1, 2):
            run, = self.records(ranks, "--matrix", "zeros.mtx", "--precond", "ilu:breakdown=replace",
                                "--max-iters", "0", code=3)
            self.assertEqual(run["breakdowns"], 2)
        # The second of two ranks has the dense rows.
        n = 300
        entries = [f"{i} {i} {n}" for i in range(1, n + 1)]
        entries += [f"{i} {j} 1" for i in range(n // 2 + 1, n + 1) for j in range(n // 2 + 1, n + 1)
                    if i != j]
        self.write("dense.mtx", "%%MatrixMarket matrix coordinate real general\n"
                   f"{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n")
        run, = self.records(2, "--matrix", "dense.mtx", "--precond", "ilu")
        self.assertGreater(run["factor_bytes"], 8 * (n // 2)**2)
        self.assertGreater(run["peak_bytes"], run["factor_bytes"])

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
        self.run_mpi(1, "--problem", "cavity-newton:3", "--precond", "jacobi", "--quiet")
        self.refused("--problem", "cavity-newton:9", "--scale", "norm", says="--scale")

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
