#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of ainvil-solve: options, tables and output files.

usage: solve_cli_test.py PATH/TO/ainvil-solve [unittest options]
"""

import csv
import gzip
import json
import os
import unittest

import solve_cli
from solve_cli import ARRAY, DEFAULT_PRECONDS, GENERAL, JSON_KEYS, tridiagonal


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
                         ["jacobi", "ic:solve=exact", "ic:solve=isai,power=1",
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
            for order in ("rcm", "nd", "colour", "block-colour"):
                with self.subTest(arguments=arguments, order=order):
                    run, solution = solve(*arguments, "--reorder", order)
                    self.assertEqual(run["reorder"], order)
                    self.assertGreater(run["reorder_seconds"], 0)
                    if "--block-size" not in arguments:  # few blocks may have the same order in colours
                        self.assertNotEqual(run["rel_residual"], natural["rel_residual"])
                    for found, wanted in zip(solution, expected):
                        self.assertAlmostEqual(found, wanted, places=9)

    def rows_in_turn(self, n):
        """The tridiagonal matrix with its rows moved on by three, and factors of 10^-6 to 10^6."""
        entries = []
        for k in range(n):
            for j in (k - 1, k, k + 1):
                if 0 <= j < n:
                    value = (4 if j == k else -1) * 10.0 ** (k % 7 - 3 + j % 5 - 2)
                    entries.append(f"{(k + 3) % n + 1} {j + 1} {value!r}")
        return self.write("a.mtx", GENERAL + f"{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n")

    def test_exchanged_rows_are_undone(self):
        matrix = self.rows_in_turn(60)
        scaled = {}
        for arguments in (["--match", "product"], ["--match", "product", "--reorder", "rcm"],
                          ["--match", "product", "--reorder", "nd", "--block-size", "3"],
                          ["--match", "product", "--residual", "scaled"]):
            with self.subTest(arguments=arguments):
                run = json.loads(self.succeed("--matrix", matrix, *arguments, "--tol", "1e-12", "--precond",
                                              "ilu:level=9,breakdown=shift", "--solution", "x.mtx", "--json", "-",
                                              "--quiet"))
                self.assertEqual(run["match"], "product")
                self.assertLess(run["rel_residual"], 1e-8)
                scaled[tuple(arguments)] = run["scaled_rel_residual"]
                lines = [line for line in self.read("x.mtx").splitlines() if not line.startswith("%")]
                for line in lines[1:]:
                    self.assertAlmostEqual(float(line), 1, places=3)
        self.assertLess(max(scaled.values()), 1e-10)
        lines = self.succeed("--matrix", matrix, "--match", "product", "--precond", "ilu").splitlines()
        self.assertIn("rows exchanged and scaled (product)", lines[0])
        self.assertEqual(lines[1], "diagonal  zero to rounding in 60 rows")
        self.assertIn("of R A C", "".join(lines))

    def test_rows_and_columns_are_scaled_to_ones(self):
        n = 60
        entries = [f"{i + 1} {j + 1} {(4 if i == j else -1) * 10.0 ** (i % 7 - 3 + j % 5 - 2)!r}"
                   for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n]
        matrix = self.write("a.mtx", GENERAL + f"{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n")
        run = json.loads(self.succeed("--matrix", matrix, "--scale", "ruiz", "--precond", "jacobi", "--tol",
                                      "1e-10", "--json", "-", "--quiet"))
        self.assertEqual(run["scale"], "ruiz")
        self.assertLess(run["rel_residual"], 1e-10)

    def test_chooses_the_set_by_the_diagonal_and_takes_the_other_where_none_converges(self):
        matrix = self.rows_in_turn(60)
        runs = [json.loads(line) for line in
                self.run_solve("--matrix", matrix, "--json", "-", "--quiet").stdout.splitlines()]
        self.assertEqual(sum("match=product" in run["precond"] for run in runs), 5)
        self.assertEqual(runs[0]["status"], "converged")
        self.assertEqual(len(runs), 6)
        # Where the diagonal is fine and nothing converges, both are run.
        lines = self.succeed("--problem", "cavity:12", "--max-iters", "1", code=3).splitlines()
        titles = [k for k, line in enumerate(lines) if line.startswith("precond ")]
        self.assertEqual(len(titles), 2)
        self.assertEqual(lines[titles[1] - 2], "None of these has converged, so here is the other set of --help.")
        first = [line.split()[0] for line in lines[titles[0] + 1:lines.index("", titles[0])]]
        second = [line.split()[0] for line in lines[titles[1] + 1:lines.index("", titles[1])]]
        self.assertEqual(first, DEFAULT_PRECONDS)
        self.assertEqual(second, [run["precond"] for run in runs])
        # Not where the user has chosen.
        self.assertNotIn("None of these", self.succeed("--problem", "cavity:12", "--max-iters", "1", "--precond",
                                                       "ilu", code=3))

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

    def test_several_right_hand_sides_are_each_solved_as_alone(self):
        """Columns of a file, and random ones, scaled, with rows exchanged and in another order."""
        def entries(name):
            lines = [line for line in self.read(name).splitlines() if not line.startswith("%")]
            rows, columns = map(int, lines[0].split())
            values = [float(line) for line in lines[1:]]
            return [values[c * rows:(c + 1) * rows] for c in range(columns)]

        def run(*arguments, code=0):
            self.succeed("--problem", "cavity:8", "--precond", "jacobi", "--json", "r.json",
                         "--solution", "x.mtx", *arguments, "--quiet", code=code)
            return json.loads(self.read("r.json")), entries("x.mtx")

        for options in (["--solver", "gmres"], ["--solver", "bicgstab", "--reorder", "rcm"],
                        ["--scale", "ruiz"], ["--match", "product", "--reorder", "rcm"],
                        ["--precision", "float", "--tol", "1e-5"]):
            many, columns = run("--rhs", "random:3", "--rhs-count", "11", *options)
            self.assertEqual((many["status"], len(many["columns"]), len(columns)),
                             ("converged", 11, 11))
            iterations = []
            for c, x in enumerate(columns):
                one, alone = run("--rhs", f"random:{3 + c}", *options)
                self.assertEqual(many["columns"][c]["iterations"], one["iterations"])
                self.assertNotIn("columns", one)
                iterations.append(one["iterations"])
                for a, b in zip(x, alone[0]):
                    self.assertAlmostEqual(a, b, delta=1e-5 * max(map(abs, alone[0])))
            self.assertEqual(many["iterations"], max(iterations))
            self.assertEqual(many["rel_residual"],
                             max(column["rel_residual"] for column in many["columns"]))
        rhs = self.write("b.mtx", ARRAY + "192 3\n" + "0\n" * 192 + "1\n" * 192 + "1e-170\n" * 192)
        many, columns = run("--rhs", rhs)
        one, alone = run("--rhs", "ones")
        self.assertEqual([column["iterations"] for column in many["columns"]],
                         [0, one["iterations"], one["iterations"]])
        self.assertEqual((columns[0], columns[1]), ([0] * 192, alone[0]))
        for a, b in zip(columns[2], alone[0]):
            self.assertAlmostEqual(a * 1e170, b, delta=1e-6 * max(map(abs, alone[0])))
        text = self.succeed("--problem", "cavity:8", "--rhs", rhs, "--precond", "jacobi",
                            "--max-iters", "5", code=3)
        self.assertIn("3 right-hand sides", text)
        self.assertIn("max_iterations", text)
        many, _ = run("--rhs", rhs, "--max-iters", "5", "--json-history", code=3)
        self.assertEqual([column["status"] for column in many["columns"]],
                         ["converged", "max_iterations", "max_iterations"])
        self.assertEqual([len(column["history"]) for column in many["columns"]], [1, 6, 6])

    def test_time_limits_and_reductions(self):
        def run(*arguments, code=0):
            self.succeed("--problem", "laplace7:16", "--precond", "jacobi", "--json", "r.json",
                         "--json-history", *arguments, "--quiet", code=code)
            return json.loads(self.read("r.json"))

        late = run("--time-limit", "1e-9", code=3)
        self.assertEqual(late["status"], "time_limit")
        self.assertLessEqual(late["iterations"], 1)
        self.assertIn("time limit", late["message"])
        self.assertEqual(run("--time-limit", "1000")["status"], "converged")
        for solver in ("cg", "bicgstab", "gmres"):
            usual, fewest = (run("--solver", solver, "--reductions", how)
                             for how in ("usual", "fewest"))
            self.assertEqual(len(usual["history"]), len(fewest["history"]))
            for a, b in zip(usual["history"], fewest["history"]):
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

    def test_initial_guesses(self):
        def run(*arguments, code=0):
            self.succeed("--problem", "convdiff:7", "--precond", "jacobi", "--json", "r.json",
                         "--json-history", *arguments, "--quiet", code=code)
            return json.loads(self.read("r.json"))

        from_zeros = run("--solution", "x.mtx", "--tol", "1e-6")
        self.assertFalse({"guess", "relative_to", "guess_rel_residual"} & set(from_zeros))
        guess = self.path("x.mtx")
        better = run("--guess", guess)
        self.assertLess(better["iterations"], run()["iterations"])
        self.assertEqual((better["guess"], better["relative_to"]), (guess, "rhs"))
        self.assertEqual(better["guess_rel_residual"], from_zeros["rel_residual"])
        self.assertIsNone(better["guess_scaled_rel_residual"])
        self.assertAlmostEqual(better["history"][0], better["guess_rel_residual"], delta=1e-12)
        at_once = run("--guess", guess, "--tol", "1e-6", "--max-iters", "0", "--solution", "y.mtx")
        self.assertEqual((at_once["status"], at_once["iterations"]), ("converged", 0))
        values = [line for line in self.read("x.mtx").splitlines() if not line.startswith("%")]
        self.assertEqual(values,
                         [line for line in self.read("y.mtx").splitlines()
                          if not line.startswith("%")])
        text = self.write("x.txt", "".join(line + "\n" for line in values[1:]))
        self.assertEqual(run("--guess", text)["history"], better["history"])
        # Of b = 0 the solution is 0, whatever the guess.
        zero = self.write("0.mtx", ARRAY + "343 1\n" + "0\n" * 343)
        for options in ((), ("--relative-to", "initial"), ("--scale", "ruiz")):
            none = run("--rhs", zero, "--guess", guess, "--solution", "y.mtx", *options)
            self.assertEqual((none["status"], none["iterations"], none["rel_residual"]),
                             ("converged", 0, 0))
            self.assertGreater(none["guess_rel_residual"], 0)
        # Each column has its own.
        b, x = (self.write(name, ARRAY + "343 2\n" + "".join(f"{value}\n" for value in columns))
                for name, columns in (("b2.mtx", [1] * 686), ("x2.mtx", [0] * 343 + [1] * 343)))
        for options in ((), ("--relative-to", "initial", "--tol", "1e-3"),
                        ("--scale", "ruiz", "--reorder", "rcm", "--precision", "float", "--tol",
                         "1e-4")):
            many = run("--rhs", b, "--guess", x, *options)
            self.assertNotIn("guess_rel_residual", many)
            self.assertEqual(many["columns"][0]["guess_rel_residual"], 1)
            for column, value in enumerate((0, 1)):
                one = run("--rhs", "ones", "--guess",
                          self.write("x1.mtx", ARRAY + "343 1\n" + f"{value}\n" * 343), *options)
                for key in ("guess_rel_residual", "guess_scaled_rel_residual", "status"):
                    self.assertEqual(many["columns"][column][key], one[key])
                if "--relative-to" not in options: # there the tightest of all is the solver's
                    self.assertEqual(many["columns"][column]["iterations"], one["iterations"])
        self.assertIn("tolerance 1e-08 of the initial residual",
                      self.succeed("--problem", "convdiff:7", "--precond", "jacobi", "--guess", guess,
                                   "--relative-to", "initial"))

    def test_initial_guesses_are_refused_by_name(self):
        problem = ("--problem", "convdiff:4", "--precond", "jacobi")
        good = self.write("in.good.mtx", ARRAY + "64 1\n" + "1\n" * 64)
        short = self.write("in.short.mtx", ARRAY + "63 1\n" + "1\n" * 63)
        two = self.write("in.two.mtx", ARRAY + "64 2\n" + "1\n" * 128)
        bad = self.write("in.bad.txt", "1\n" * 62 + "nan\n1\n")
        self.refuse_input(["initial guess", "63 values, but the matrix has 64 rows"], *problem,
                          "--guess", short)
        self.refuse_input(["2 columns, but there is 1 right-hand side"], *problem, "--guess", two)
        self.refuse_input(["1 column, but there are 2 right-hand sides"], *problem, "--rhs", two,
                          "--guess", good)
        self.refuse_input(["in.bad.txt", "line 63"], *problem, "--guess", bad)
        self.refuse_input(["--guess: there is no file 'nowhere'"], *problem, "--guess", "nowhere")
        self.refuse_input(["--relative-to initial needs --guess"], *problem, "--relative-to",
                          "initial")
        self.refuse_input(["--relative-to"], *problem, "--guess", good, "--relative-to", "both")
        for option in (["--guess", good], ["--relative-to", "initial"]):
            self.refuse(["leave out " + option[0]], "--problem", "convdiff:4", "--recommend", *option)
        self.refuse(["--solution would overwrite the input file"], *problem, "--guess", good,
                    "--solution", good)
        tiny = self.write("in.tiny.mtx", ARRAY + "64 1\n" + "1e-300\n" * 64)
        self.refuse(["of the initial guess is too small for --precision float"], *problem, "--guess",
                    tiny, "--precision", "float")

    def test_several_right_hand_sides_are_refused_where_one_is_solved_for(self):
        rhs = self.write("in.b.mtx", ARRAY + "192 2\n" + "1\n" * 384)
        problem = ("--problem", "cavity:8", "--precond", "jacobi")
        self.refuse("--rhs-count needs --rhs random", *problem, "--rhs", "ones", "--rhs-count", "2")
        self.refuse("--rhs-count", *problem, "--rhs", "random", "--rhs-count", "0")
        self.refuse("leave out --rhs-count", "--problem", "cavity:8", "--recommend", "--rhs", "random",
                    "--rhs-count", "2")
        self.refuse("2 columns, but ainvil-solve --recommend solves for one", "--problem",
                    "cavity:8", "--recommend", "--rhs", rhs)

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

    def test_reports_the_memory_it_took(self):
        text = self.succeed("--problem", "laplace7:20", "--solver", "cg", "--precond", "jacobi",
                            "--precond", "fsai", "--json", "-", "--quiet")
        jacobi, fsai = map(json.loads, text.splitlines())
        matrix = 8 * fsai["nnz"]
        self.assertGreater(jacobi["peak_bytes"], matrix)
        self.assertGreater(fsai["peak_bytes"], jacobi["peak_bytes"] + fsai["factor_bytes"])


if __name__ == "__main__":
    solve_cli.main(__doc__)
