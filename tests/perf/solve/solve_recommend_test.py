#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ainvil-solve --recommend: table, records, solution, interruption, exit codes. Nothing depends on which configuration
wins, nor on how long anything takes.

usage: solve_recommend_test.py PATH/TO/ainvil-solve [unittest options]
"""

import json
import os
import shlex
import signal
import subprocess
import time

import solve_cli
from solve_cli import GENERAL, JSON_KEYS, tridiagonal

RACE = JSON_KEYS | {"race_began_seconds", "race_ended_seconds"}


class RecommendTest(solve_cli.SolveTest):

    def runs(self, name="r.jsonl"):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def test_finds_a_configuration_that_can_be_had_again(self):
        matrix = self.write("a b.mtx", tridiagonal(200, 2.5))
        for system in (["--problem", "cavity:10"], ["--problem", "poisson5:15", "--rhs", "ones"],
                       ["--matrix", matrix, "--scale", "diagonal"]):
            with self.subTest(system=system):
                text = self.succeed(*system, "--recommend", "--tol", "1e-9")
                self.assertIn("Fastest in total: ", text)
                line = next(line for line in text.splitlines() if line.startswith("  ainvil-solve "))
                again = self.succeed(*shlex.split(line)[1:])
                row = next(line for line in again.splitlines() if " converged " in line)
                self.assertIn(shlex.split(line)[-1], row)
                for words in ("C++       ", "createPreconditioner", "Trilinos  ", "PETSc     -dll_prepend", "If memory is short: ",
                              "If many right-hand sides follow: ", "If many matrices of this pattern follow: ",
                              "Seen of the matrix:"):
                    self.assertIn(words, text)

    def test_trilinos_takes_what_was_raced(self):
        """FSAI over all ranks, where that stores what was asked for."""
        for precond, there in (("fsai:power=1,poly=3,poly-storage=float", "fsai:power=1,poly=3,poly-storage=float"),
                               ("fsai:power=1,storage=float", "local-fsai:power=1,storage=float"),
                               ("fsai:power=1,poly=auto", "local-fsai:power=1,poly=auto")):
            text = self.succeed("--problem", "laplace7:6", "--recommend", "--solver", "cg", "--precond", precond)
            self.assertIn(f'ainvil::tpetra::create("{there}", matrix)', text)

    def test_the_table_has_the_fastest_first_and_all_of_the_records(self):
        lines = self.succeed("--problem", "cavity:10", "--recommend", "--json", "r.jsonl").splitlines()
        begin = next(k for k, line in enumerate(lines) if line.startswith("configuration "))
        table = lines[begin + 1:lines.index("", begin)]
        runs = self.runs()
        self.assertEqual(len(table), len(runs))
        self.assertGreater(len(runs), 3)
        done = [line for line in table if " converged " in line]
        self.assertEqual(table[:len(done)], done)
        self.assertEqual(len(done), sum(run["status"] == "converged" for run in runs))
        totals = [float(line.split()[-2]) for line in done]
        self.assertEqual(totals, sorted(totals))

    def test_records_are_those_of_the_schema(self):
        self.succeed("--problem", "cavity:8", "--recommend", "--json", "r.jsonl", "--json-history", "--quiet")
        runs = self.runs()
        for run in runs:
            self.assertLessEqual(RACE, run.keys())
            self.assertLessEqual(run["race_began_seconds"], run["race_ended_seconds"])
            self.assertEqual(run["status"] == "converged", run["message"] == "", run)
            if run["status"] == "converged":
                self.assertLessEqual(run["rel_residual"], 1.0000001e-8)
                self.assertAlmostEqual(run["total_seconds"], run["setup_total_seconds"] + run["solve_seconds"])
            if run["solve_seconds"] is not None:
                self.assertGreater(len(run["history"]), 0)
            self.assertEqual(len(run["history"]), len(run["history_seconds"]))
            self.assertEqual(run["history_seconds"], sorted(run["history_seconds"]))
            for seconds in run["history_seconds"][:1]:
                self.assertGreaterEqual(seconds, run["setup_total_seconds"] if run["status"] != "converged" else 0)
        ends = [run["race_ended_seconds"] for run in runs]
        self.assertEqual(ends, sorted(ends))
        self.assertEqual(len({(run["solver"], run["restart"], run["precond"], run["block_size"]) for run in runs}),
                         len(runs))

    def test_the_solution_is_that_of_a_run_that_converged(self):
        n = 100
        self.write("a.mtx", tridiagonal(n))
        self.succeed("--matrix", "a.mtx", "--recommend", "--solution", "x.mtx", "--quiet", "--json", "-")
        lines = self.read("x.mtx").splitlines()
        self.assertIn("converged", "".join(line for line in lines if line.startswith("%")))
        values = [float(line) for line in [line for line in lines if not line.startswith("%")][1:]]
        self.assertEqual(len(values), n)
        for value in values:  # b is A times ones
            self.assertAlmostEqual(value, 1, places=6)

    def test_the_solution_and_the_records_are_those_of_the_answer(self):
        text = self.succeed("--problem", "cavity:24", "--block-size", "3", "--recommend", "--solution", "x.mtx", "--json", "r.jsonl")
        line = next(line for line in text.splitlines() if line.startswith("  ainvil-solve "))
        words = shlex.split(line)
        solver, precond = (words[words.index(option) + 1] for option in ("--solver", "--precond"))
        comment = [line for line in self.read("x.mtx").splitlines() if line.startswith("% by ")]
        self.assertTrue(comment[0].startswith(f"% by {solver} with {precond}: converged"), (comment, line))
        done = [run for run in self.runs() if run["status"] == "converged"]
        best = min(done, key=lambda run: run["total_seconds"])
        self.assertEqual((best["solver"], best["precond"]), (solver, precond))

    def test_json_on_stdout_is_pure(self):
        result = self.run_solve("--problem", "poisson5:9", "--recommend", "--json", "-")
        self.assertEqual(result.returncode, 0, result)
        self.assertGreater(len([json.loads(line) for line in result.stdout.splitlines()]), 2)
        self.assertIn("Fastest in total", result.stderr)

    def test_a_block_size_is_part_of_the_answer(self):
        text = self.succeed("--problem", "cavity:10", "--block-size", "1", "--recommend", "--json", "r.jsonl")
        self.assertIn("entries fill blocks of size 3", text)
        self.assertEqual({run["block_size"] for run in self.runs()}, {1, 3})

    def test_zeros_on_the_diagonal(self):
        n = 50
        entries = [f"{i} {i % n + 1} 3" for i in range(1, n + 1)] + [f"{i} {(i + 6) % n + 1} -1" for i in range(1, n + 1)]
        self.write("z.mtx", GENERAL + f"{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n")
        text = self.succeed("--matrix", "z.mtx", "--recommend")
        self.assertIn(f"the diagonal is zero to rounding in {n} rows", text)

    def test_what_has_no_solution_is_explained(self):
        # A ring of differences is singular, and ones are not in its range.
        n = 40
        entries = []
        for i in range(n):
            entries += [f"{i + 1} {i + 1} 2", f"{i + 1} {(i + 1) % n + 1} -1", f"{i + 1} {(i - 1) % n + 1} -1"]
        self.write("s.mtx", GENERAL + f"{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n")
        text = self.succeed("--matrix", "s.mtx", "--rhs", "ones", "--recommend", "--max-iters", "200", "--json", "r.jsonl",
                            code=3)
        self.assertIn("No run converged.", text)
        self.assertIn("none of ", text)
        self.assertIn("left to try: ", text)
        self.assertNotIn("converged", {run["status"] for run in self.runs()})
        self.assertNotIn("To have it again", text)

    def test_no_budget(self):
        text = self.succeed("--problem", "poisson5:9", "--recommend", "--budget", "0", "--solution", "x.mtx", code=3,
                            stderr="ainvil-solve: no solution is written because no run has a finite residual\n")
        self.assertIn("nothing has been tried", text)
        self.assertIn("Not tried:", text)
        self.assertFalse(os.path.exists(self.path("x.mtx")))

    def test_quiet_prints_nothing(self):
        self.assertEqual(self.succeed("--problem", "poisson5:9", "--recommend", "--quiet"), "")

    def test_a_solver_that_is_given_is_raced_for(self):
        text = self.succeed("--problem", "cavity:8", "--recommend", "--solver", "fgmres", "--restart", "19", "--json", "r.jsonl")
        self.assertIn("a race of preconditioners for fgmres", text)
        self.assertGreater(len(self.runs()), 2)
        self.assertEqual({(run["solver"], run["restart"]) for run in self.runs()}, {("fgmres", 19)})

    def test_preconditioners_that_are_given_are_all_there_is(self):
        given = ["jacobi", "ilu", "ilu:level=1"]
        options = [word for precond in given for word in ("--precond", precond)]
        for problem, solver in (("poisson5:9", "cg"), ("cavity:8", "gmres")):
            self.succeed("--problem", problem, "--recommend", *options, "--json", "r.jsonl")
            self.assertLessEqual({run["precond"] for run in self.runs()}, set(given))
            self.assertEqual({run["solver"] for run in self.runs()}, {solver})
        self.succeed("--problem", "cavity:8", "--recommend", *options, "--solver", "bicgstab", "--json", "r.jsonl")
        self.assertEqual({run["solver"] for run in self.runs()}, {"bicgstab"})
        self.refuse(["unknown method 'jakobi'"], "--problem", "cavity:8", "--recommend", "--precond", "jakobi")

    def test_refuses_what_the_race_chooses(self):
        system = ["--problem", "poisson5:9", "--recommend"]
        for option, value in (("--restart", "20"), ("--repeat", "2"), ("--basis", "float"),
                              ("--history", "h.csv")):
            self.refuse(["--recommend", option], *system, option, value)
        self.refuse(["--allow-varying"], *system, "--allow-varying")
        self.refuse(["--budget"], *system, "--budget", "-1")
        self.refuse(["--budget"], *system, "--budget", "nan")
        self.refuse(["--tol"], *system, "--tol", "0")
        self.refuse(["--max-iters"], *system, "--max-iters", "-1")
        self.refuse(["--budget", "--recommend"], "--problem", "poisson5:9", "--budget", "3")

    def test_signals_leave_table_and_files_whole(self):
        """A tolerance that nothing reaches keeps the race running until the signal comes."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                arguments = ["--problem", "cavity:100", "--rhs", "random", "--recommend", "--tol", "1e-300", "--max-iters", "1000000",
                             "--json", "i.jsonl", "--solution", "i.mtx", "--budget", "200"]
                with subprocess.Popen([solve_cli.EXECUTABLE, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) as process:
                    deadline = time.monotonic() + 200
                    while not (os.path.exists(self.path("i.jsonl")) and self.read("i.jsonl")):
                        self.assertLess(time.monotonic(), deadline)
                        time.sleep(0.01)
                    process.send_signal(number)
                    out, err = process.communicate(timeout=200)
                self.assertEqual(process.returncode, 128 + number, err)
                self.assertIn("interrupted", err)
                self.assertIn("configuration ", out)
                self.assertIn("No run converged.", out)
                runs = self.runs("i.jsonl")
                self.assertGreaterEqual(len(runs), 1)
                self.assertTrue(self.read("i.mtx").startswith("%%MatrixMarket"))
                os.remove(self.path("i.jsonl"))
                os.remove(self.path("i.mtx"))

    def test_interrupted_at_any_time_table_and_files_are_whole(self):
        """In set-ups, samples, slices and the play-off: wherever the race is after so many seconds."""
        for seconds in (0.02, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 1.7):
            with self.subTest(seconds=seconds):
                arguments = ["--problem", "cavity:60", "--recommend", "--json", "j.jsonl", "--json-history", "--solution", "j.mtx"]
                with subprocess.Popen([solve_cli.EXECUTABLE, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) as process:
                    time.sleep(seconds)
                    process.send_signal(signal.SIGINT)
                    out, err = process.communicate(timeout=200)
                # 0: it was through; -SIGINT: it had not begun to listen.
                self.assertIn(process.returncode, (0, 128 + signal.SIGINT, -signal.SIGINT), err)
                runs = self.runs("j.jsonl") if os.path.exists(self.path("j.jsonl")) else []
                done = [run for run in runs if run["status"] == "converged"]
                if process.returncode >= 0 and runs:
                    self.assertIn("configuration ", out)
                    self.assertEqual("Fastest in total" in out, bool(done), out)
                if done:
                    lines = [line for line in self.read("j.mtx").splitlines() if not line.startswith("%")]
                    self.assertEqual(lines[0].split(), [str(done[0]["rows"]), "1"])
                    self.assertEqual(len(lines), done[0]["rows"] + 1)
                for name in ("j.jsonl", "j.mtx"):
                    if os.path.exists(self.path(name)):
                        os.remove(self.path(name))

    def test_the_progress_line_says_who_leads(self):
        code, shown = self.run_on_terminal("--problem", "cavity:30", "--recommend")
        self.assertEqual(code, 0)
        self.assertIn(b"race ", shown)


if __name__ == "__main__":
    solve_cli.main(__doc__)
