#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Systems that ainvil-solve is given or makes: right-hand sides, guesses, orders, exchanged and scaled rows.

usage: solve_systems_test.py PATH/TO/ainvil-solve [unittest options]
"""

import gzip
import json
import unittest

import solve_cli
from solve_cli import ARRAY, DEFAULT_PRECONDS, GENERAL, tridiagonal


class SystemsTest(solve_cli.SolveTest):

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

    def test_empty_matrix_is_trivial(self):
        matrix = self.write("empty.mtx", GENERAL + "0 0 0\n")
        for arguments in ([], ["--scale", "norm"], ["--block-size", "3"], ["--solver", "cg"],
                          ["--reorder", "rcm"], ["--reorder", "nd"]):
            for line in self.succeed("--matrix", matrix, "--json", "-", "--quiet",
                                     *arguments).splitlines():
                run = json.loads(line)
                self.assertEqual((run["rows"], run["status"]), (0, "converged"))


if __name__ == "__main__":
    solve_cli.main(__doc__)
