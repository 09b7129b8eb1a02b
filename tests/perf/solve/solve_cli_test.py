#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of ainvil-solve: options, tables and output files.

usage: solve_cli_test.py PATH/TO/ainvil-solve [unittest options]
"""

import csv
import json
import os
import unittest

import solve_cli
from solve_cli import ARRAY, DEFAULT_PRECONDS, JSON_KEYS, tridiagonal


class CommandLineTest(solve_cli.SolveTest):

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
                         ["jacobi", "ic:solve=exact", "ic:modified=0.95", "ic:solve=isai,power=1",
                          "ic:solve=jacobi,sweeps=3", "fsai:power=1", "fsai:power=2",
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
        self.refuse_input(["kokkos-kernels-par-ilut"], "--problem", "laplace7:5", "--precond", "kokkos-kernels-par-ilut:level=1")

    def test_time_limits_and_reductions(self):
        def run(*arguments, code=0):
            self.succeed("--problem", "laplace7:16", "--precond", "jacobi", "--json", "r.json",
                         "--json-history", *arguments, "--quiet", code=code)
            return json.loads(self.read("r.json"))

        late = run("--time-limit", "1e-9", code=3)
        self.assertEqual(late["status"], "time_limit")
        on_gpu = late["exec_space"] in ("Cuda", "HIP")  # CG looks at the clock every ten iterations
        self.assertLessEqual(late["iterations"], 10 if on_gpu else 1)
        self.assertIn("time limit", late["message"])
        self.assertEqual(run("--time-limit", "1000")["status"], "converged")
        for solver in ("cg", "bicgstab", "gmres"):
            usual = run("--solver", solver, "--reductions", "usual")
            self.assertNotIn("reductions", usual)
            for how in ("fewest", "pipelined"):
                ours = run("--solver", solver, "--reductions", how)
                self.assertEqual(ours["reductions"], how)
                self.assertEqual(len(usual["history"]), len(ours["history"]))
                for a, b in zip(usual["history"], ours["history"]):
                    self.assertAlmostEqual(a, b, delta=1e-2 * a)
        self.refuse("--time-limit must be", "--problem", "laplace7:4", "--time-limit", "-1")
        self.refuse("leave out --reductions", "--problem", "laplace7:4", "--recommend",
                    "--reductions", "fewest")

    def test_vectors_are_made_orthogonal_twice_by_need_or_always(self):
        def run(*arguments):
            self.succeed("--problem", "cavity:12", "--precond", "ilu", "--solver", "gmres", "--json",
                         "r.json", "--json-history", "--quiet", *arguments)
            return json.loads(self.read("r.json"))

        by_need, always = (run("--reorthogonalize", how) for how in ("if-needed", "always"))
        self.assertNotIn("reorthogonalize", run())
        self.assertEqual(by_need["reorthogonalize"], "if-needed")
        self.assertEqual(always["reorthogonalize"], "always")
        self.assertNotEqual(by_need["history"], always["history"])  # other rounding
        self.assertEqual(len(by_need["history"]), len(always["history"]))
        for a, b in zip(by_need["history"], always["history"]):
            self.assertAlmostEqual(a, b, delta=1e-6 * a)
        self.refuse("leave out --reorthogonalize", "--problem", "laplace7:4", "--recommend",
                    "--reorthogonalize", "always")

    def test_absolute_tolerances(self):
        def run(*arguments, code=0):
            self.succeed("--problem", "convdiff:7", "--precond", "jacobi", "--json", "r.json",
                         "--json-history", *arguments, "--quiet", code=code)
            return json.loads(self.read("r.json"))

        rhs = self.write("b.mtx", ARRAY + "343 1\n" + "2\n" * 343)
        norm = 2 * 343 ** 0.5
        for scaling in ((), ("--scale", "ruiz"), ("--precision", "float")):
            loose = run("--rhs", rhs, "--tol", "0", "--abs-tol", "0.01", *scaling)
            self.assertEqual(loose["status"], "converged")
            self.assertLessEqual(loose["rel_residual"] * norm, 0.01 * (1 + 1e-9))
            self.assertGreater(loose["rel_residual"] * norm, 1e-5)
            self.assertEqual(loose["absolute_tolerance"], 0.01)
            same = run("--rhs", rhs, "--tol", repr(0.01 / norm), *scaling)
            self.assertEqual(same["iterations"], loose["iterations"])
            self.assertNotIn("absolute_tolerance", same)
        # The looser one counts, for each right-hand side by itself.
        self.assertEqual(run("--rhs", rhs, "--tol", "0.1", "--abs-tol", "1e-9")["iterations"],
                         run("--rhs", rhs, "--tol", "0.1")["iterations"])
        two = self.write("two.mtx", ARRAY + "343 2\n" + "2\n" * 343 + "0.02\n" * 343)
        many = run("--rhs", two, "--tol", "0", "--abs-tol", "0.01")
        for column, length in zip(many["columns"], (norm, norm / 100)):
            self.assertEqual(column["status"], "converged")
            self.assertLessEqual(column["rel_residual"] * length, 0.01 * (1 + 1e-9))
        self.assertIn("tolerance 1e-08 or 0.5 absolute",
                      self.succeed("--problem", "laplace7:4", "--precond", "none", "--abs-tol", "0.5"))
        self.refuse("--abs-tol must be", "--problem", "laplace7:4", "--abs-tol", "-1")
        self.refuse("leave out --abs-tol", "--problem", "laplace7:4", "--recommend", "--abs-tol", "1")

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
        code, shown = self.run_on_terminal("--problem", "cavity:30", "--precond",
                                           "ilu:factorization=ilut", only="stderr")
        self.assertIn(code, (0, 3))
        self.assertRegex(shown.decode(), r"setup, [0-9]+ of [0-9]+ rows of the pattern")

    def test_matchings_show_their_progress(self):
        code, shown = self.run_on_terminal("--problem", "cavity:30", "--precond", "none", "--match",
                                           "product", only="stderr")
        self.assertIn(code, (0, 3))
        self.assertRegex(shown.decode(), r"preparing cavity:30: [0-9]+ of [0-9]+ rows matched")

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

    def test_reports_the_memory_it_took(self):
        text = self.succeed("--problem", "laplace7:20", "--solver", "cg", "--precond", "jacobi",
                            "--precond", "fsai", "--json", "-", "--quiet")
        jacobi, fsai = map(json.loads, text.splitlines())
        matrix = 8 * fsai["nnz"]
        self.assertGreater(jacobi["peak_bytes"], matrix)
        self.assertGreater(fsai["peak_bytes"], jacobi["peak_bytes"] + fsai["factor_bytes"])


if __name__ == "__main__":
    solve_cli.main(__doc__)
