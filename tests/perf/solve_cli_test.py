#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of ainvil-solve: exit codes, messages, output files.

usage: solve_cli_test.py PATH/TO/ainvil-solve [unittest options]
"""

import csv
import fcntl
import gzip
import json
import math
import os
import pty
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

EXECUTABLE = ""

GENERAL = "%%MatrixMarket matrix coordinate real general\n"
ARRAY = "%%MatrixMarket matrix array real general\n"

JSON_KEYS = {
    "problem", "rows", "nnz", "block_size", "reorder", "reorder_seconds", "precond", "solver",
    "exec_space", "device", "threads", "setup_seconds", "setup_total_seconds", "factor_entries",
    "factor_bytes", "breakdowns", "iterations", "status", "rel_residual", "solve_seconds",
    "apply30_seconds", "total_seconds", "kokkos_version", "git"
}

DEFAULT_PRECONDS = [
    "jacobi", "ilu:solve=exact", "ilu:solve=isai,power=1", "ilu:solve=isai,power=2",
    "ilu:solve=isai,power=3", "ilu:solve=isai,power=2,storage=bfloat16",
    "ilu:solve=isai,power=1,relax=auto", "ilu:solve=jacobi,sweeps=3"
]


def tridiagonal(n, diagonal=4.0):
    """Matrix Market text of the matrix with -1 beside a constant diagonal."""
    entries = []
    for i in range(1, n + 1):
        for j in (i - 1, i, i + 1):
            if 1 <= j <= n:
                entries.append(f"{i} {j} {diagonal if i == j else -1}")
    return GENERAL + f"{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n"


class CommandLineTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_solve(self, *arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("KOKKOS_")}
        return subprocess.run([EXECUTABLE, *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=300, check=False)

    def succeed(self, *arguments, code=0, stderr=""):
        result = self.run_solve(*arguments)
        self.assertEqual(result.returncode, code, result)
        self.assertEqual(result.stderr, stderr)
        return result.stdout

    def contents(self):
        names = sorted(os.listdir(self.folder))
        return {name: self.read(name) if name.startswith("in.") else None for name in names}

    def refuse(self, words, *arguments):
        """Exit code 2, one sentence on stderr that contains the words, nothing else anywhere."""
        before = self.contents()
        with self.subTest(arguments=arguments):
            result = self.run_solve(*arguments)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("ainvil-solve: "), result.stderr)
            for word in words:
                self.assertIn(word, result.stderr)
            self.assertEqual(self.contents(), before)

    def refuse_input(self, words, *arguments):
        """The same with all outputs asked for."""
        self.refuse(words, *arguments, "--json", "o.json", "--history", "o.csv", "--solution",
                    "o.mtx")

    def refuse_matrix(self, words, text, *arguments):
        self.refuse_input(words, "--matrix", self.write("bad.mtx", text), *arguments)

    # ---- good command lines

    def test_help_lists_what_the_library_offers(self):
        text = self.succeed("--help")
        for word in ("cavity:N", "laplace27:", "jacobi", "power=1", "relax=0|n|auto",
                     "breakdown=fail|shift|replace", "Exit codes", "--restart", "rowsum",
                     "cg|gmres|fgmres|bicgstab", "--allow-varying", "--basis"):
            self.assertIn(word, text)
        self.assertLess(max(map(len, text.splitlines())), 121)

    def test_compares_the_default_set_and_names_the_fastest(self):
        lines = self.succeed("--problem", "cavity:12", "--tol", "1e-6").splitlines()
        self.assertTrue(lines[0].startswith("problem   cavity:12: 432 rows, "), lines[0])
        self.assertIn("blocks of size 3", lines[0])
        self.assertLess(max(map(len, lines)), 121)
        header = next(k for k, line in enumerate(lines) if line.startswith("precond "))
        rows = [line.split() for line in lines[header + 1:lines.index("", header)]]
        self.assertEqual([row[0] for row in rows], DEFAULT_PRECONDS)
        for row in rows:
            self.assertEqual(row[4], "converged")
            self.assertLessEqual(float(row[5]), 1.01e-6)
        self.assertTrue(lines[-1].startswith("Fastest in total: "), lines[-1])

    def test_cg_compares_symmetric_preconditioners(self):
        lines = self.succeed("--problem", "poisson5:20", "--solver", "cg", "--json", "-", "--quiet")
        runs = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual([run["precond"] for run in runs],
                         ["jacobi", "ilu:solve=exact", "fsai:power=1", "fsai:power=2",
                          "fsai:power=3"])
        self.assertEqual({run["solver"] for run in runs}, {"cg"})

    def test_all_solvers_solve_the_same_system(self):
        solutions, iterations = [], []
        for solver in ("cg", "gmres", "fgmres", "bicgstab"):
            text = self.succeed("--problem", "poisson5:12", "--rhs", "random", "--solver", solver,
                                "--allow-varying", "--restart", "7", "--precond", "jacobi", "--tol",
                                "1e-11", "--json", "a.json", "--solution", "x.mtx")
            restarts = solver in ("gmres", "fgmres")
            self.assertIn(f"solver    {solver}{'(7)' if restarts else ''}, tolerance", text)
            run = json.loads(self.read("a.json"))
            self.assertEqual((run["solver"], run["status"]), (solver, "converged"))
            self.assertIs(run["allow_varying"], True)
            iterations.append(run["iterations"])
            lines = [line for line in self.read("x.mtx").splitlines() if not line.startswith("%")]
            solutions.append([float(line) for line in lines[1:]])
        for solution in solutions[1:]:
            for expected, value in zip(solutions[0], solution):
                self.assertAlmostEqual(value, expected, places=8)
        # GMRES and FGMRES are the same here; one step of BiCGStab is worth about two of CG.
        self.assertEqual(iterations[1], iterations[2])
        self.assertLess(iterations[3], iterations[0])
        self.assertLess(iterations[0], iterations[1])

    def test_cg_with_jacobi_sweeps(self):
        """They are symmetric and positive definite, however few; the inverses by rows of both factors are not."""
        result = self.run_solve("--problem", "elasticity:16x8x8", "--solver", "cg", "--json", "-", "--quiet",
                                "--precond", "ilu", *(word for sweeps in (1, 2, 3, 4) for word in (
                                    "--precond", f"ilu:solve=jacobi,sweeps={sweeps}")), "--precond", "ilu:solve=isai")
        exact, *sweeps, inverses = [json.loads(line) for line in result.stdout.splitlines()]
        iterations = [run["iterations"] for run in sweeps]
        self.assertEqual([run["status"] for run in (exact, *sweeps)], 5 * ["converged"])
        self.assertEqual(iterations, sorted(iterations, reverse=True))
        self.assertLessEqual(exact["iterations"], iterations[-1])
        self.assertEqual(inverses["status"], "breakdown")

    def test_json_has_the_agreed_keys(self):
        self.succeed("--problem", "cavity:10", "--precond", "jacobi", "--precond",
                     "ilu:solve=isai,power=2", "--json", "a.json", "--quiet", "--repeat", "2")
        runs = [json.loads(line) for line in self.read("a.json").splitlines()]
        self.assertEqual(len(runs), 2)
        for run in runs:
            self.assertLessEqual(JSON_KEYS, run.keys())
            self.assertEqual((run["problem"], run["rows"], run["block_size"]), ("cavity:10", 300, 3))
            self.assertEqual(run["nnz"], (10 * 10 + 4 * 9 * 10) * 9)
            self.assertEqual(run["status"], "converged")
            self.assertLessEqual(run["rel_residual"], 1.01e-8)
            self.assertGreater(run["iterations"], 0)
            self.assertGreaterEqual(run["setup_total_seconds"], sum(run["setup_seconds"].values()))
            self.assertAlmostEqual(run["total_seconds"],
                                   run["setup_total_seconds"] + run["solve_seconds"])
            self.assertLessEqual(run["setup_total_seconds"], run["first_setup_seconds"])
            self.assertGreater(run["recompute_seconds"], 0)
            self.assertGreater(run["apply30_seconds"], 0)
        self.assertEqual(runs[0]["factor_entries"], 900)
        self.assertEqual(runs[0]["factor_bytes"], 7200)

    def test_json_to_stdout_is_pure(self):
        result = self.run_solve("--problem", "poisson5:10", "--json", "-")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len([json.loads(line) for line in result.stdout.splitlines()]),
                         len(DEFAULT_PRECONDS))
        self.assertIn("Fastest in total", result.stderr)

    def test_history_and_solution(self):
        matrix = self.write("a.mtx", tridiagonal(30))
        # Where the scaled solution is all ones, the solution is S.
        self.succeed("--matrix", matrix, "--scale", "diagonal", "--rhs", "scaled-rowsum", "--tol",
                     "1e-12", "--precond", "jacobi", "--precond", "none", "--history", "h.csv",
                     "--solution", "x.mtx", "--quiet")
        rows = list(csv.DictReader(self.read("h.csv").splitlines()))
        self.assertEqual({row["precond"] for row in rows}, {"jacobi", "none"})
        jacobi = [row for row in rows if row["precond"] == "jacobi"]
        self.assertEqual([int(row["iteration"]) for row in jacobi], list(range(len(jacobi))))
        self.assertEqual(float(jacobi[0]["rel_residual"]), 1)
        self.assertLessEqual(float(jacobi[-1]["rel_residual"]), 1e-12)
        lines = [line for line in self.read("x.mtx").splitlines() if not line.startswith("%")]
        self.assertEqual(lines[0], "30 1")
        for line in lines[1:]:
            self.assertAlmostEqual(float(line), 0.5, places=10)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.mtx", "h.csv", "x.mtx"])

    def test_compares_with_cusparse_where_there_is_one(self):
        """Its exact solves need the iterations of ours."""
        problems = (("convdiff:8x8x6", "4"), ("cavity:20", "3"), ("laplace7:12", "1"))
        for problem, block_size in problems:
            arguments = ["--problem", problem, "--block-size", block_size, "--precond", "ilu",
                         "--precond", "cusparse-ilu", "--precond", "cusparse-ilu:policy=no-level",
                         "--json", "-", "--quiet"]
            result = self.run_solve(*arguments)
            if result.returncode == 2:
                self.refuse_input(["cuSPARSE"], *arguments[:-3])
                continue
            self.assertEqual(result.returncode, 0, result)
            runs = [json.loads(line) for line in result.stdout.splitlines()]
            self.assertEqual(len(runs), 3)
            for run in runs[1:]:
                self.assertLessEqual(abs(run["iterations"] - runs[0]["iterations"]), 1, problem)
                self.assertLess(run["rel_residual"], 1.01e-8)
        for precond in ("cusparse-ilu:policy=x", "cusparse-ilu:level=1"):
            self.refuse_input(["cusparse"], "--problem", "laplace7:5", "--precond", precond)
        self.refuse_input(["cusparse"], "--problem", "laplace7:5", "--precond", "cusparse-ilu",
                          "--precision", "float")

    def test_compares_with_kokkos_kernels(self):
        for problem in ("laplace7:12", "poisson5:20"):
            result = self.run_solve("--problem", problem, "--precond", "ilu", "--precond",
                                    "kokkos-kernels-ilu", "--json", "-", "--quiet")
            self.assertEqual(result.returncode, 0, result)
            ours, theirs = (json.loads(line) for line in result.stdout.splitlines())
            self.assertLessEqual(abs(theirs["iterations"] - ours["iterations"]), 1, problem)
            self.assertLess(theirs["rel_residual"], 1.01e-8)
        peer = ["--precond", "kokkos-kernels-ilu"]
        run = json.loads(self.succeed("--problem", "cavity:6", *peer, "--json", "-", "--quiet",
                                      code=3))
        self.assertEqual(run["status"], "refused")
        self.assertIn("needs block size 1, but that of the matrix is 3", run["message"])
        self.refuse_input(["double"], "--problem", "laplace7:5", *peer, "--precision", "float")

    def test_reordering_changes_the_way_not_the_solution(self):
        # A grid in an order that is far from its own, and from the two found.
        n, edges = 12, []
        number = {}
        for k in range(n * n):
            number[(k * 7) % (n * n)] = k + 1
        for k in range(n * n):
            for other in (k - n, k + n, k - 1 if k % n else -1, k + 1 if (k + 1) % n else -1):
                if 0 <= other < n * n:  # not symmetric, and with a different scale in every row
                    edges.append(f"{number[k]} {number[other]} {-1 - 0.1 * (k % 7)}")
            edges.append(f"{number[k]} {number[k]} {8 + k % 5}")
        matrix = self.write("a.mtx", GENERAL + f"{n * n} {n * n} {len(edges)}\n" +
                            "\n".join(edges) + "\n")
        rhs = self.write("b.mtx", ARRAY + f"{n * n} 1\n" +
                         "\n".join(str(1 + k % 11) for k in range(n * n)) + "\n")

        def solve(*arguments):
            run = json.loads(self.succeed("--matrix", matrix, *arguments, "--tol", "1e-12",
                                          "--precond", "ilu", "--solution", "x.mtx", "--json", "-",
                                          "--quiet"))
            lines = [line for line in self.read("x.mtx").splitlines() if not line.startswith("%")]
            self.assertEqual(len(lines), 1 + n * n)
            return run, [float(line) for line in lines[1:]]

        for arguments in (["--rhs", rhs], ["--rhs", "random:5"], ["--rhs", rhs, "--scale", "norm"],
                          ["--rhs", "scaled-rowsum", "--scale", "diagonal"],
                          ["--rhs", rhs, "--block-size", "3", "--scale", "diagonal"]):
            natural, expected = solve(*arguments)
            self.assertEqual((natural["reorder"], natural["reorder_seconds"]), ("none", 0))
            self.assertGreater(max(expected) - min(expected), 0.05)
            for order in ("rcm", "nd"):
                with self.subTest(arguments=arguments, order=order):
                    run, solution = solve(*arguments, "--reorder", order)
                    self.assertEqual(run["reorder"], order)
                    self.assertGreater(run["reorder_seconds"], 0)
                    self.assertNotEqual(run["rel_residual"], natural["rel_residual"])
                    for found, wanted in zip(solution, expected):
                        self.assertAlmostEqual(found, wanted, places=9)

    def test_reordering_has_a_line_of_its_own(self):
        for order in ("rcm", "nd"):
            lines = self.succeed("--problem", "cavity:10", "--reorder", order, "--precond", "ilu",
                                 "--precond", "ilu:solve=isai").splitlines()
            self.assertRegex(lines[1], rf"^reorder   {order}, [0-9.]+ s$")
        self.assertNotIn("reorder", self.succeed("--problem", "cavity:10", "--precond", "ilu"))

    def test_right_hand_sides(self):
        matrix = self.write("a.mtx", tridiagonal(6))
        rhs = self.write("b.mtx", ARRAY + "6 1\n3\n2\n2\n2\n2\n3\n")  # A times ones

        def solution(*arguments):
            self.succeed("--matrix", matrix, *arguments, "--tol", "1e-13", "--precond", "jacobi",
                         "--solution", "x.mtx", "--quiet")
            lines = [line for line in self.read("x.mtx").splitlines() if not line.startswith("%")]
            return [round(float(line), 9) for line in lines[1:]]

        ones = [1.0] * 6
        self.assertEqual(solution(), ones)
        self.assertEqual(solution("--rhs", "rowsum"), ones)
        self.assertEqual(solution("--rhs", "scaled-rowsum"), ones)
        self.assertEqual(solution("--rhs", "rowsum", "--scale", "diagonal"), ones)
        scaled = solution("--rhs", "scaled-rowsum", "--scale", "diagonal")
        self.assertNotEqual(scaled, ones)
        self.assertEqual(len(set(scaled)), 1)  # equal diagonals: S is a multiple of I
        for scale in ("none", "diagonal", "norm"):
            self.assertEqual(solution("--rhs", rhs, "--scale", scale), ones)
        self.assertEqual(solution("--rhs", "ones"), solution("--rhs", "ones", "--scale", "norm"))
        self.assertNotEqual(solution("--rhs", "ones"), ones)
        self.assertEqual(solution("--rhs", "random"), solution("--rhs", "random:1"))
        self.assertNotEqual(solution("--rhs", "random:1"), solution("--rhs", "random:2"))

    def test_block_sizes_precisions_and_spaces(self):
        matrix = self.write("a.mtx.gz", gzip.compress(tridiagonal(12).encode()))
        for arguments, block_size in ((["--block-size", "4"], 4), (["--exec", "host"], 1),
                                      (["--precision", "float", "--tol", "1e-5"], 1)):
            run = json.loads(self.succeed("--matrix", matrix, "--precond", "ilu", "--json", "-",
                                          "--quiet", *arguments))
            self.assertEqual(run["block_size"], block_size)
            self.assertEqual(run["rows"], 12)

    def test_basis_in_float_needs_less_memory(self):
        runs = {}
        for basis in ("double", "float"):
            text = self.succeed("--problem", "laplace7:20", "--precond", "jacobi", "--basis", basis,
                                "--tol", "1e-10", "--json", "a.json")
            self.assertIs("gmres(30), basis in float, " in text, basis == "float")
            runs[basis] = json.loads(self.read("a.json"))
            self.assertEqual(runs[basis]["basis"], basis)
            self.assertEqual(runs[basis]["status"], "converged")
        saved = runs["double"]["peak_bytes"] - runs["float"]["peak_bytes"]
        self.assertAlmostEqual(saved / (30 * 4 * 8000), 1, delta=0.02)

    def test_kokkos_options_pass_through(self):
        self.succeed("--kokkos-disable-warnings", "--problem", "poisson5:4", "--quiet")
        result = self.run_solve("--problem", "poisson5:4", "--kokkos-nonsense")
        self.assertEqual(result.returncode, 2)
        self.assertIn("ainvil-solve: Kokkos", result.stderr)
        self.assertIn("--kokkos-nonsense", result.stderr)

    def test_quiet_says_nothing(self):
        self.assertEqual(self.succeed("--problem", "poisson5:8", "--quiet"), "")

    def test_empty_matrix_is_trivial(self):
        matrix = self.write("empty.mtx", GENERAL + "0 0 0\n")
        for arguments in ([], ["--scale", "norm"], ["--block-size", "3"], ["--solver", "cg"],
                          ["--reorder", "rcm"], ["--reorder", "nd"]):
            for line in self.succeed("--matrix", matrix, "--json", "-", "--quiet",
                                     *arguments).splitlines():
                run = json.loads(line)
                self.assertEqual((run["rows"], run["status"]), (0, "converged"))

    def run_on_terminal(self, *arguments, width=None, only=None):
        """Runs with stdout and stderr on a terminal, or one of them; exit code and what it shows."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(f"no terminal to be had: {error}")
        if width is not None:
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        streams = {name: theirs if only in (None, name) else subprocess.DEVNULL
                   for name in ("stdout", "stderr")}
        with subprocess.Popen([EXECUTABLE, *arguments], cwd=self.folder, **streams) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    chunk = os.read(ours, 4096)
                except OSError:  # the other side is closed
                    break
                if not chunk:
                    break
                shown += chunk
        os.close(ours)
        return process.returncode, shown

    def test_progress_is_for_terminals_only(self):
        arguments = ["--problem", "cavity:40", "--precond", "none", "--tol", "1e-8"]
        self.assertEqual(self.run_solve(*arguments).stderr, "")
        code, shown = self.run_on_terminal(*arguments, only="stderr")
        self.assertIn(code, (0, 3))
        self.assertIn(b"preparing cavity:40", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-80:])

    def test_long_setups_show_their_progress(self):
        code, shown = self.run_on_terminal("--problem", "poisson5:120", "--precond",
                                           "ainv:drop=0.02", "--solver", "cg", only="stderr")
        self.assertEqual(code, 0)
        self.assertRegex(shown.decode(), r"setup, [0-9]+ of 14400 columns")

    # ---- what converged means

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
                self.assertEqual(run["status"] == "converged",
                                 run["rel_residual"] <= run["tolerance"], run)
            if run["status"] != "converged":
                self.assertNotEqual(run["message"], "")
        return runs

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

    def test_right_hand_sides_of_any_size_have_a_residual(self):
        entries = {(i, i): 2.0 for i in range(4)}
        for size in (1e-300, 1e-200, 1e-165, 1e-100, 1e100, 1e200, 1e300):
            with self.subTest(size=size):
                for run in self.judged(entries, [size, 0.0, -2 * size, size]):
                    self.assertTrue(run["status"] == "converged" or run["rel_residual"] == 1 or
                                    run["rel_residual"] is None, run)

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

    def start(self, *arguments, **options):
        return subprocess.Popen([EXECUTABLE, *arguments], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def wait_for_lines(self, process, name, count):
        """Until the file has so many lines, or the process has ended."""
        while process.poll() is None:
            if os.path.exists(self.path(name)) and self.read(name).count("\n") >= count:
                return
            time.sleep(0.02)
        self.fail(process.communicate())

    def test_signals_keep_what_is_done(self):
        # GMRES(30) with jacobi stays where it is.
        endless = ["--problem", "circuit:3000", "--precond", "ilu", "--precond", "jacobi", "--precond",
                   "none", "--max-iters", "2000000000", "--tol", "1e-5", "--json", "a.json",
                   "--history", "h.csv", "--solution", "x.mtx"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                with self.start(*endless) as process:
                    self.wait_for_lines(process, "a.json", 1)
                    process.send_signal(number)
                    out, err = process.communicate(timeout=280)
                self.assertEqual(process.returncode, 128 + number, err)
                runs = [json.loads(line) for line in self.read("a.json").splitlines()]
                self.assertEqual(runs[0]["status"], "converged")
                for run in runs[1:]:  # none if the signal came between two runs
                    self.assertEqual(run["status"], "interrupted")
                    self.assertIn(signal.strsignal(number), run["message"])
                self.assertLess(len(runs), 3)
                self.assertIn("interrupted", err)
                self.assertIn("ilu", out)
                self.assertIn('"ilu",0,', self.read("h.csv"))
                self.assertIn("with ilu: converged", self.read("x.mtx"))
                self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "h.csv", "x.mtx"])
                for name in ("a.json", "h.csv", "x.mtx"):
                    os.remove(self.path(name))

    def test_a_closed_pipe_ends_the_program_with_its_results_kept(self):
        with self.start("--problem", "cavity:10", "--json", "a.json") as process:
            self.assertIn("cavity:10", process.stdout.readline())
            process.stdout.close()
            err = process.stderr.read()
        self.assertEqual(process.returncode, 1, err)
        self.assertEqual(err, "ainvil-solve: cannot write to standard output\n")
        runs = [json.loads(line) for line in self.read("a.json").splitlines()]
        self.assertEqual({run["status"] for run in runs}, {"converged"})

    def test_a_failed_output_does_not_stop_the_others(self):
        os.mkdir(self.path("gone"))
        problem = ["--problem", "circuit:3000", "--precond", "ilu", "--precond", "jacobi", "--max-iters",
                   "20000", "--tol", "1e-5"]
        with self.start(*problem, "--json", "gone/a.json", "--history", "h.csv", "--solution",
                        "x.mtx") as process:
            self.wait_for_lines(process, "gone/a.json", 1)
            os.remove(self.path("gone/a.json"))
            os.rmdir(self.path("gone"))
            _, err = process.communicate(timeout=280)
        self.assertEqual(process.returncode, 2, err)
        self.assertIn("cannot write 'gone/a.json'", err)
        self.assertIn('"jacobi",', self.read("h.csv"))
        self.assertTrue(os.path.exists(self.path("x.mtx")))

    def test_the_table_fits_the_terminal(self):
        for width in (70, 80, 100, 200):
            code, shown = self.run_on_terminal("--problem", "cavity:8", "--tol", "1e-6", "--scale",
                                               "norm", width=width, only="stdout")
            self.assertEqual(code, 0)
            text = shown.decode().replace("\r", "")
            table = text[text.index("\nprecond "):].split("\n\n")[0]
            self.assertLessEqual(max(map(len, table.splitlines())), width)
            for word in ("iters", "status", "residual", "total s", *DEFAULT_PRECONDS):
                self.assertIn(word, table)
            self.assertEqual("MiB" in table, width == 200)

    # ---- runs that do not converge

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

    def test_reports_the_memory_it_took(self):
        text = self.succeed("--problem", "laplace7:20", "--solver", "cg", "--precond", "jacobi",
                            "--precond", "fsai", "--json", "-", "--quiet")
        jacobi, fsai = map(json.loads, text.splitlines())
        matrix = 8 * fsai["nnz"]
        self.assertGreater(jacobi["peak_bytes"], matrix)
        self.assertGreater(fsai["peak_bytes"], jacobi["peak_bytes"] + fsai["factor_bytes"])

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

    def test_refuses_bad_options(self):
        good = ["--problem", "poisson5:4"]
        self.refuse_input(["--matrix", "--problem"])
        self.refuse_input(["--matrix", "--problem"], *good, "--matrix", "a.mtx")
        self.refuse_input(["--nonsense"], *good, "--nonsense")
        self.refuse_input(["word"], *good, "word")
        self.refuse_input(["--tol"], *good, "--tol")
        for option, value in (("--tol", "abc"), ("--tol", "nan"), ("--tol", "-1"),
                              ("--restart", "0"), ("--restart", "2.5"), ("--max-iters", "-1"),
                              ("--max-iters", "99999999999"), ("--repeat", "0"),
                              ("--block-size", "0"), ("--solver", "minres"),
                              ("--scale", "rows"), ("--exec", "gpu"), ("--precision", "half"),
                              ("--basis", "half"),
                              ("--reorder", "amd"), ("--rhs", "random:x"), ("--rhs", "random:-1"),
                              ("--rhs", "twos"), ("--rhs", "")):
            self.refuse_input([option], *good, option, value)
        self.refuse_input(["--tol"], *good, "--tol", "1", "--tol", "2")
        self.refuse_input(["--basis", "--precision"], *good, "--precision", "float", "--basis",
                          "double")

    def test_refuses_bad_problems(self):
        for problem in ("nonsense:3", "cavity", "cavity:", "cavity:1", "cavity:-5", "cavity:3x3",
                        "poisson5:3x", "laplace7:100000", "laplace7:99999999999999999999"):
            self.refuse_input([problem], "--problem", problem)

    def test_refuses_bad_preconditioners_before_the_work(self):
        for precond, words in (("nonsense", ["nonsense", "jacobi", "ilu"]),
                               ("ilu:nonsense=1", ["nonsense", "power"]),
                               ("ilu:solve=isai,power=-1", ["power", "-1"]),
                               ("ilu:solve=isai,power=0", ["power"]),
                               ("ilu:power=2", ["power"]), ("ilu:level=x", ["level"]),
                               ("ilu:", ["ilu"]), ("ilu:level", ["level"]), ("", ["empty"])):
            self.refuse_input(words, "--problem", "laplace7:500", "--precond", precond)

    def run_in_little_memory(self, *arguments):
        if "Cuda" in self.succeed("--problem", "laplace7:2", "--precond", "none"):
            self.skipTest("CUDA reserves more addresses than that")
        limit = 4 << 30
        result = subprocess.run(
            [EXECUTABLE, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if "AddressSanitizer failed to allocate" in result.stderr:
            self.skipTest("so does the address sanitizer")
        return result

    def test_tells_what_gets_no_memory(self):
        result = self.run_in_little_memory("--problem", "laplace7:900")
        self.assertEqual(result.returncode, 1, result)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("ainvil-solve: out of memory: there are no 5832000008 bytes for "
                      "Ainvil::row_map", result.stderr)

    def test_goes_on_where_a_run_gets_no_memory(self):
        # A basis of 1001 vectors of 1e6 numbers.
        result = self.run_in_little_memory("--problem", "laplace7:100", "--restart", "1000",
                                           "--precond", "jacobi", "--precond", "none", "--quiet",
                                           "--json", "-")
        self.assertEqual(result.returncode, 3, result)
        records = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([record["status"] for record in records], ["out_of_memory"] * 2)
        for record in records:
            self.assertIn("bytes for Ainvil::Gmres::basis", record["message"])

    def test_refuses_unreadable_files(self):
        self.refuse_input(["missing.mtx", "No such file"], "--matrix", "missing.mtx")
        self.refuse_input(["directory"], "--matrix", self.folder)
        packed = gzip.compress(tridiagonal(200).encode())
        path = self.write("cut.mtx.gz", packed[:len(packed) // 2])
        self.refuse_input(["cut.mtx.gz", "truncated"], "--matrix", path)

    def test_refuses_malformed_matrices(self):
        for text, words in (("", ["%%MatrixMarket"]), ("hello\n", ["%%MatrixMarket"]),
                            (tridiagonal(5)[:-12], ["end of the file"]),
                            (GENERAL + "2 2 2\n1 1 1\n2 2 x\n", ["line 4", "'x'"]),
                            (GENERAL + "2 2 2\n1 1 1\n2 2 nan\n", ["line 4", "finite", "nan"]),
                            (GENERAL + "2 2 2\n1 1 1\n2 2 inf\n", ["finite", "inf"]),
                            (GENERAL + "2 2 2\n1 1 1\n3 2 1\n", ["row index", "'3'"]),
                            (GENERAL.replace("real", "complex") + "1 1 1\n1 1 1 1\n", ["complex"])):
            self.refuse_matrix(["bad.mtx", *words], text)

    def test_refuses_matrices_that_cannot_be_solved_with(self):
        self.refuse_matrix(["square", "2 rows", "3 columns"], GENERAL + "2 3 2\n1 1 1\n2 2 1\n")
        for second in ("", "2 2 0\n", "2 1 0\n2 2 0\n"):
            count = 2 + second.count("\n")
            self.refuse_matrix(["row 2 (counted from 1)", "no nonzero"],
                               GENERAL + f"3 3 {count}\n1 1 1\n{second}3 3 1\n")
        self.refuse_matrix(["block size 4", "does not divide"], tridiagonal(10),
                           "--block-size", "4")
        self.refuse_input(["block size 7", "does not divide"], "--problem", "cavity:10",
                    "--block-size", "7")

    def test_zero_diagonals_are_judged_by_the_methods(self):
        """Nothing is refused for a zero on the diagonal, but for a method that divides by it."""
        missing = GENERAL + "3 3 4\n1 1 2\n2 3 1\n3 2 1\n3 3 1\n"
        stored = GENERAL + "3 3 5\n1 1 2\n2 2 0\n2 3 1\n3 2 1\n3 3 1\n"
        preconds = ["none", "jacobi", "jacobi:breakdown=replace", "ilu", "ilu:breakdown=shift"]
        for text in (missing, stored):
            matrix = self.write("a.mtx", text)
            for order in ("none", "rcm"):
                arguments = ["--matrix", matrix, "--reorder", order, "--json", "-", "--quiet"]
                for precond in preconds:
                    arguments += ["--precond", precond]
                lines = self.succeed(*arguments, code=3).splitlines()
                runs = {run["precond"]: run for run in map(json.loads, lines)}
                for precond in preconds:
                    gives_up = precond in ("jacobi", "ilu")
                    self.assertEqual(runs[precond]["status"] == "converged", not gives_up, precond)
                    if gives_up:
                        self.assertIn("breakdown policy", runs[precond]["message"])
            self.refuse_matrix(["diagonal entry of row 2 ", "scale"], text, "--scale", "diagonal")
        # Rows of bad input keep their numbers: reordered, row 5 of this is another.
        lines = tridiagonal(8).replace("5 5 4.0", "5 5 0")
        for order in ("rcm", "nd"):
            self.refuse_matrix(["diagonal entry of row 5 "], lines, "--reorder", order, "--scale",
                               "diagonal")
        # In a block that is not zero it does no harm.
        swap = GENERAL + "4 4 4\n1 2 1\n2 1 1\n3 4 1\n4 3 1\n"
        self.succeed("--matrix", self.write("a.mtx", swap), "--block-size", "2", "--quiet")

    def test_right_hand_sides_in_all_formats_are_the_same(self):
        matrix = self.write("a.mtx", tridiagonal(3))
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n".encode()
        npy = (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header +
               struct.pack("<3d", 1, -2.5, 4))
        solutions = set()
        for name, content in (("b.mtx", ARRAY + "3 1\n1\n-2.5\n4\n"), ("b.txt", "# b\n1\n-2.5\n4\n"),
                              ("b.npy", npy), ("b.npy.gz", gzip.compress(npy))):
            self.succeed("--matrix", matrix, "--rhs", self.write(name, content), "--precond",
                         "jacobi", "--solution", "x.mtx", "--quiet")
            solutions.add(self.read("x.mtx"))
        self.assertEqual(len(solutions), 1, solutions)

    def test_refuses_bad_right_hand_sides(self):
        matrix = self.write("a.mtx", tridiagonal(3))
        for text, words in ((ARRAY + "2 1\n1\n1\n", ["2 values", "3 rows"]),
                            (ARRAY + "3 2\n1\n1\n1\n1\n1\n1\n", ["vector"]),
                            (ARRAY + "3 1\n1\nnan\n1\n", ["finite"]), ("1\nx\n", ["line 2", "'x'"]),
                            ("1\n1\n", ["2 values"]), (b"\x93NUMPY\x09", ["NumPy"])):
            self.refuse_input(["b.mtx", *words], "--matrix", matrix, "--rhs", self.write("b.mtx", text))

    def test_refuses_values_beyond_float(self):
        one_row = GENERAL + "1 1 1\n1 1 "
        for value, words in (("1e60", ["matrix", "1e+60", "large"]),
                             ("1e-60", ["matrix", "1e-60", "small"])):
            self.refuse_matrix(["float", *words], one_row + value + "\n", "--precision", "float")
        matrix = self.write("a.mtx", tridiagonal(3))
        rhs = self.write("b.mtx", ARRAY + "3 1\n1e-50\n0\n0\n")
        self.refuse_input(["float", "right-hand side", "1e-50", "small"], "--matrix", matrix, "--rhs",
                          rhs, "--precision", "float")
        # Beside 1 such a value is nothing.
        self.write("b.mtx", ARRAY + "3 1\n1e-50\n0\n1\n")
        self.succeed("--matrix", matrix, "--rhs", rhs, "--precision", "float", "--tol", "1e-5",
                     "--precond", "jacobi", "--quiet")

    def test_refuses_outputs_that_cannot_be_written(self):
        # A problem this large would take its time: the refusal comes first.
        large = ["--problem", "laplace7:400", "--precond", "none"]
        os.mkfifo(self.path("pipe"))
        for option in ("--json", "--history", "--solution"):
            for path, words in (("no/such/o", ["no/such/o", "No such file"]),
                                (".", ["regular file"]), ("pipe", ["pipe", "regular file"])):
                self.refuse(words, *large, option, path)
        self.write("in.o", "old")
        self.refuse(["same file"], *large, "--json", "in.o", "--history", "./in.o")
        os.symlink("link-to", self.path("link"))
        os.link(self.path("in.o"), self.path("hard-link"))
        for one, other in (("o", "o"), ("o", "./o"), ("o", self.path("o")), ("link", "link-to"),
                           ("link", "./link"), ("in.o", "hard-link")):
            self.refuse(["same file"], *large, "--json", one, "--solution", other)
            self.refuse(["same file"], *large, "--json", other, "--history", one)
        matrix = self.write("in.mtx", tridiagonal(3))
        self.refuse(["overwrite"], "--matrix", matrix, "--solution", "./in.mtx")
        self.refuse(["overwrite"], *large, "--rhs", matrix, "--history", matrix)
        os.symlink("in.mtx", self.path("link-to-in"))
        self.refuse(["overwrite"], "--matrix", matrix, "--solution", "link-to-in")
        # A file of the name - is not stdout.
        self.write("-", tridiagonal(3))
        self.succeed("--matrix", "./-", "--json", "-", "--quiet")

    def test_outputs_survive_a_full_disk(self):
        problem = ["--problem", "poisson5:40", "--precond", "jacobi", "--precond", "ilu", "--quiet"]
        for option, name in (("--json", "in.json"), ("--history", "in.csv"),
                             ("--solution", "in.mtx"), ("--solution", "in.mtx.gz")):
            for action in (signal.SIG_IGN, signal.SIG_DFL):

                def limit_files(action=action):
                    """A write beyond 512 bytes fails as on a full disk, whatever is inherited."""
                    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
                    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                    signal.signal(signal.SIGXFSZ, action)

                with self.subTest(option=option, action=action):
                    self.write(name, "old")
                    result = subprocess.run([EXECUTABLE, *problem, option, name], cwd=self.folder,
                                            preexec_fn=limit_files, capture_output=True, text=True,
                                            timeout=300, check=False)
                    self.assertEqual(result.returncode, 2, result)
                    self.assertEqual(self.read(name), "old")
                    # Counters of the preset coverage cannot be written either.
                    told = [line for line in result.stderr.splitlines(keepends=True)
                            if not line.startswith("libgcov profiling error:")]
                    self.assertEqual("".join(told),
                                     f"ainvil-solve: cannot write '{name}': File too large\n")
                    self.assertEqual(os.listdir(self.folder), [name])
                    os.remove(self.path(name))

    def test_results_that_get_lost_on_standard_output_are_an_error(self):
        for arguments in (["--json", "-"], []):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([EXECUTABLE, "--problem", "poisson5:4", *arguments],
                                        stdout=full, stderr=subprocess.PIPE, timeout=300,
                                        check=False)
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr.endswith(
                b"ainvil-solve: cannot write to standard output\n"), result.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    EXECUTABLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
