#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ainvil-solve-mpi: how runs end that do not converge, and what is left of those before.

usage: solve_mpi_statuses_test.py PATH/TO/ainvil-solve-mpi PATH/TO/ainvil-solve MPIEXEC NUMPROC_FLAG
"""

import json
import os
import signal
import subprocess
import time

import solve_cli
import solve_mpi
from solve_mpi import NONSYMMETRIC, SolveMpiCase

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


def ranks_of(job):
    """The processes of ainvil-solve-mpi that a job has started, itself or its children."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            executable = os.path.realpath(f"/proc/{entry}/exe")
        except OSError:  # it has ended meanwhile, or is another user's
            continue
        if parent == job.pid and executable == os.path.realpath(solve_mpi.MPI_EXECUTABLE):
            found.append(int(entry))
    return found


class SolveMpiStatusesTest(SolveMpiCase):

    def test_a_signal_to_one_rank_ends_all_and_keeps_what_is_done(self):
        # GMRES(30) with jacobi stays where it is.
        endless = ["--problem", "circuit:3000", "--precond", "ilu:level=3", "--precond", "jacobi",
                   "--precond", "none", "--max-iters", "2000000000", "--tol", "1e-5", "--json", "a.json"]
        path = os.path.join(self.folder, "a.json")
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                with subprocess.Popen([*solve_mpi.MPIEXEC, "2", solve_mpi.MPI_EXECUTABLE, *endless],
                                      cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE) as job:
                    while job.poll() is None and not os.path.exists(path):
                        time.sleep(0.02)
                    if job.poll() is not None:
                        self.fail(job.communicate())
                    os.kill(max(ranks_of(job)), number)
                    out, err = job.communicate(timeout=280)
                self.assertEqual(job.returncode, 128 + number, err)
                with open(path, encoding="utf-8") as file:
                    runs = [json.loads(line) for line in file]
                os.remove(path)
                self.assertEqual(runs[0]["status"], "converged")
                for run in runs[1:]:  # none if the signal came between two runs
                    self.assertEqual(run["status"], "interrupted", run)
                    self.assertIn(signal.strsignal(number), run["message"])
                self.assertLess(len(runs), 3)
                self.assertIn("ilu:level=3", out)
                self.assertIn("interrupted", out + err)


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

    def test_chooses_the_set_by_the_diagonal_and_takes_the_other_where_none_converges(self):
        n = 12
        entries = [(i, (i + k) % n + 1, value) for i in range(1, n + 1) for k, value in ((0, 4), (1, 1))]
        self.write("shifted.mtx", f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(entries)}\n" +
                   "".join(f"{i} {j} {value}\n" for i, j, value in entries))
        runs = self.records(1, "--matrix", "shifted.mtx", code=3)
        self.assertEqual(runs[0]["precond"], "ilu:match=product")
        for run in runs:
            self.assertEqual(run["status"] == "converged", "match=product" in run["precond"], run)
        # Blocks of two ranks have a zero column each: no method solves with them, and both sets are tried.
        result = self.run_mpi(2, "--matrix", "shifted.mtx", "--max-iters", "2", "--json", "both.json", code=3)
        self.assertIn("None of these has converged, so here is the other set of --help.", result.stdout)
        with open(os.path.join(self.folder, "both.json"), encoding="utf-8") as file:
            names = [json.loads(line)["precond"] for line in file]
        self.assertEqual(names[:len(runs)], [run["precond"] for run in runs])
        self.assertEqual(names[len(runs):len(runs) + 2], ["jacobi", "ilu"])

    def test_belos_that_ends_with_nan_has_diverged(self):
        self.write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 2 1\n3 1 1\n")
        for solver in ("bicgstab", "gmres"):
            run, = self.records(2, "--matrix", "zero.mtx", "--rhs", "ones", "--solver", solver, "--krylov",
                                "belos", "--precond", "none", "--max-iters", "50", code=3)
            self.assertNotEqual(run["status"], "converged")
            if run["rel_residual"] is None:
                self.assertEqual(run["status"], "diverged", run)

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

    def test_statuses_are_those_of_ainvil_solve(self):
        """What a solver throws, or has no answer to, is a row, and the next preconditioner is tried."""
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
            serial = self.run_job([solve_mpi.EXECUTABLE, *arguments, "--json", "-", "--quiet"], code=code)
            self.assertEqual([json.loads(line)["status"] for line in serial.stdout.splitlines()],
                             statuses, arguments)
            for ranks, krylov in ((1, "ainvil"), (2, "ainvil"), (1, "belos"), (2, "belos")):
                runs = self.records(ranks, *arguments, "--krylov", krylov, code=code)
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
        for solver, krylov in ((solver, krylov) for solver in ("gmres", "fgmres", "cg", "bicgstab")
                               for krylov in ("ainvil", "belos")):
            run, = self.records(2, "--matrix", "singular.mtx", "--rhs", "b.mtx", "--solver", solver,
                                "--krylov", krylov, "--precond", "none", "--solution", "x.mtx", code=3)
            self.assertNotEqual(run["status"], "converged", run)
            if run["rel_residual"] is None: # NaN: nothing to write
                self.assertFalse(os.path.exists(os.path.join(self.folder, "x.mtx")))
                continue
            residual = self.residual("singular.mtx", rhs, "x.mtx")
            self.assertGreater(residual, 1e-3)
            self.assertAlmostEqual(run["rel_residual"] / residual, 1, delta=1e-8)
            os.remove(os.path.join(self.folder, "x.mtx"))

    def test_a_last_step_far_within_the_tolerance_is_not_the_end(self):
        entries, b = solve_cli.heavy_row(11)
        self.write("heavy.mtx", f"{solve_cli.GENERAL}{len(b)} {len(b)} {len(entries)}\n" +
                   "".join(f"{i + 1} {j + 1} {value!r}\n" for (i, j), value in entries.items()))
        self.write("b.mtx", f"{solve_cli.ARRAY}{len(b)} 1\n" + "".join(f"{value!r}\n" for value in b))
        for ranks in (1, 2):
            run, = self.records(ranks, "--matrix", "heavy.mtx", "--rhs", "b.mtx", "--scale", "ruiz", "--solver",
                                "bicgstab", "--precond", "none")
            self.assertEqual(run["status"], "converged", run)
            self.assertLessEqual(run["rel_residual"], 1e-8)

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
        # GMRES(30) with jacobi stays where it is.
        endless = ["--problem", "circuit:3000", "--precond", "ilu:level=3", "--precond", "jacobi",
                   "--max-iters", "2000000000", "--tol", "1e-5"]
        path = os.path.join(self.folder, "out.json")
        with subprocess.Popen([*solve_mpi.MPIEXEC, "2", solve_mpi.MPI_EXECUTABLE, *endless,
                               "--json", "out.json", "--solution", "x.mtx", "--quiet"],
                              cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as job:
            latest = time.monotonic() + 200
            while not os.path.exists(path) and time.monotonic() < latest:
                time.sleep(0.02)
            running = job.poll() is None
            for rank in ranks_of(job):
                os.kill(rank, signal.SIGKILL)
            job.wait(timeout=60)
        self.assertTrue(running)
        with open(path, encoding="utf-8") as file:
            run, = [json.loads(line) for line in file]
        self.assertEqual(run["precond"], "ilu:level=3")
        self.assertEqual(run["status"], "converged")

    def test_not_converged(self):
        for most in (1, 3):
            run, = self.records(2, "--problem", "cavity:20", "--precond", "none", "--max-iters",
                                str(most), code=3)
            self.assertEqual(run["iterations"], most)


if __name__ == "__main__":
    solve_mpi.main()
