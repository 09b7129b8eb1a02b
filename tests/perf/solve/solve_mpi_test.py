#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ainvil-solve-mpi: the answers of ainvil-solve on any number of ranks, messages, exit codes.

usage: solve_mpi_test.py PATH/TO/ainvil-solve-mpi PATH/TO/ainvil-solve MPIEXEC NUMPROC_FLAG
"""

import os

import solve_mpi
from solve_mpi import NONSYMMETRIC, SolveMpiCase


class SolveMpiTest(SolveMpiCase):

    def test_one_rank_is_the_serial_executable(self):
        arguments = ["--problem", "cavity:30", "--tol", "1e-6", "--precond", "jacobi", "--precond",
                     "ilu", "--precond", "ilu:solve=isai,power=2", "--precond",
                     "ilu:solve=isai,relax=1"]
        for form, krylov in (("points", "ainvil"), ("blocks", "ainvil"), ("points", "belos"),
                             ("blocks", "belos")):
            mpi = self.records(1, *[word.replace("ilu", "ILU") for word in arguments],
                               "--format", form, "--krylov", krylov)
            for ours, theirs in zip(mpi, self.serial(*arguments), strict=True):
                self.assertEqual(ours["iterations"], theirs["iterations"], ours["precond"])
                self.assertEqual(ours["factor_entries"], theirs["factor_entries"])
                self.assertEqual(ours["status"], "converged")
                self.assertEqual(ours["ranks"], 1)
                self.assertEqual(theirs["ranks"], 1)
                self.assertEqual(ours["krylov"], krylov)
                if krylov == "ainvil": # the same numbers in the same order
                    self.assertEqual(ours["rel_residual"], theirs["rel_residual"], ours["precond"])

    def test_one_rank_is_the_serial_executable_for_spd_matrices(self):
        arguments = ["--problem", "laplace7:12", "--solver", "cg", "--precond", "fsai",
                     "--precond", "ainv", "--precond", "ilu"]
        for ours, theirs in zip(self.records(1, *arguments), self.serial(*arguments), strict=True):
            self.assertEqual(ours["iterations"], theirs["iterations"], ours["precond"])
            self.assertEqual(ours["factor_entries"], theirs["factor_entries"])

    def test_one_rank_is_the_serial_executable_for_all_solvers(self):
        for solver, problem in (("fgmres", "cavity:20"), ("bicgstab", "convdiff:9x8x7"),
                                ("cg", "laplace7:12"), ("gmres", "convdiff:9x8x7")):
            arguments = ["--problem", problem, "--solver", solver, "--restart", "12", "--precond",
                         "ilu", "--precond", "jacobi", "--tol", "1e-7"]
            for scale in ([], ["--scale", "norm"]):
                for ours, theirs in zip(self.records(1, *arguments, *scale),
                                        self.serial(*arguments, *scale), strict=True):
                    self.assertEqual(ours["iterations"], theirs["iterations"], ours)
                    self.assertEqual(ours["rel_residual"], theirs["rel_residual"], ours)

    def test_counts_do_not_depend_on_ranks(self):
        """Jacobi and no preconditioner see none."""
        for solver, problem in (("gmres", "convdiff:9x8x7"), ("fgmres", "convdiff:9x8x7"),
                                ("cg", "laplace7:12")):
            arguments = ["--problem", problem, "--solver", solver, "--precond", "jacobi", "--precond",
                         "none"]
            serial = self.serial(*arguments)
            for ranks in (2, 3, 4):
                for ours, theirs in zip(self.records(ranks, *arguments), serial, strict=True):
                    self.assertLessEqual(abs(ours["iterations"] - theirs["iterations"]), 1, ours)

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

    def test_pipelined_reductions(self):
        for ranks in (1, 2, 3):
            usual, ours = (self.records(ranks, "--problem", "laplace7:12", "--solver", "cg",
                                        "--precond", "jacobi", "--reductions", how)[0]
                           for how in ("usual", "pipelined"))
            self.assertEqual((ours["status"], ours["reductions"]), ("converged", "pipelined"))
            self.assertNotIn("reductions", usual)
            self.assertLessEqual(abs(ours["iterations"] - usual["iterations"]), 1)
        self.refused("--problem", "laplace7:4", "--reductions", "pipeline",
                     says="usual|fewest|pipelined")

    def test_basis_in_float(self):
        arguments = ["--problem", "convdiff:8", "--precond", "ilu:poly=3"]
        double = self.records(2, *arguments)[0]
        short = self.records(2, *arguments, "--basis", "float")[0]
        self.assertEqual((double["basis"], short["basis"]), ("double", "float"))
        self.assertEqual(short["status"], "converged")
        self.assertNotEqual(short["rel_residual"], double["rel_residual"])
        self.assertLessEqual(abs(short["iterations"] - double["iterations"]), 1)
        self.refused(*arguments, "--basis", "float", "--krylov", "belos", says="for Ainvil's solvers")

    def test_solvers_with_one_reduction(self):
        for solver, belos in (("gmres", "TPETRA GMRES SINGLE REDUCE"),
                              ("cg", "TPETRA CG SINGLE REDUCE")):
            arguments = ["--problem", "laplace7:12", "--solver", solver, "--precond", "jacobi",
                         "--precond", "none"]
            one = self.records(2, *arguments, "--belos", belos)
            for usual in (self.records(2, *arguments, "--krylov", "belos"),
                          self.records(2, *arguments, "--belos", "Ainvil " + solver),
                          self.records(2, *arguments)):
                for ours, theirs in zip(one, usual, strict=True):
                    self.assertEqual(ours["belos"], belos)
                    self.assertEqual(ours["krylov"], "belos")
                    self.assertLessEqual(ours["rel_residual"], 1.1e-8)
                    self.assertLessEqual(abs(ours["iterations"] - theirs["iterations"]), 1)

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

    def test_several_right_hand_sides(self):
        """Random ones and columns of a file, each as alone and as ainvil-solve has it."""
        array = "%%MatrixMarket matrix array real general\n"
        problem = ["--problem", "cavity:8", "--precond", "jacobi", "--precond", "none"]
        for options in ([], ["--scale", "ruiz", "--reorder", "rcm"]):
            serial = self.serial(*problem, "--rhs", "random:3", "--rhs-count", "11", *options)
            for ranks, krylov in ((1, "ainvil"), (2, "ainvil"), (3, "ainvil"), (2, "belos")):
                runs = self.records(ranks, *problem, "--rhs", "random:3", "--rhs-count", "11",
                                    *options, "--krylov", krylov)
                for run, theirs in zip(runs, serial, strict=True):
                    self.assertEqual((run["status"], len(run["columns"])), ("converged", 11), run)
                    for ours, alone in zip(run["columns"], theirs["columns"], strict=True):
                        self.assertEqual(ours["status"], "converged")
                        self.assertLessEqual(ours["rel_residual"], 1e-8)
                        if ranks == 1:
                            self.assertEqual(ours["iterations"], alone["iterations"])
                            self.assertEqual(ours["rel_residual"], alone["rel_residual"])
                        elif krylov == "ainvil":
                            self.assertLessEqual(abs(ours["iterations"] - alone["iterations"]), 2)
                    for key in ("iterations", "rel_residual"):
                        self.assertEqual(run[key], max(column[key] for column in run["columns"]))
        self.write("b.mtx", array + "192 3\n" + "0\n" * 192 + "1\n" * 192 + "1e-170\n" * 192)
        for krylov in ("ainvil", "belos"):
            many, _ = self.records(2, *problem, "--rhs", "b.mtx", "--krylov", krylov, "--solution",
                                   "x.mtx")
            one, _ = self.records(2, *problem, "--rhs", "ones", "--krylov", krylov, "--solution",
                                  "x1.mtx")
            self.assertNotIn("columns", one)
            self.assertEqual([column["iterations"] for column in many["columns"]],
                             [0, one["iterations"], one["iterations"]])
            x = [value for value, in self.read_values("x.mtx")]
            alone = [value for value, in self.read_values("x1.mtx")]
            largest = max(map(abs, alone))
            self.assertEqual(x[:192], [0] * 192)
            for i, value in enumerate(alone):
                self.assertAlmostEqual(x[192 + i], value, delta=1e-6 * largest)
                self.assertAlmostEqual(x[384 + i] * 1e170, value, delta=1e-6 * largest)
        result = self.run_mpi(2, *problem, "--rhs", "b.mtx", "--max-iters", "5", code=3)
        self.assertIn("3 right-hand sides", result.stdout)
        run = self.records(2, *problem, "--rhs", "b.mtx", "--max-iters", "5", code=3)[0]
        self.assertEqual(run["status"], "max_iterations")
        self.assertEqual([column["status"] for column in run["columns"]],
                         ["converged", "max_iterations", "max_iterations"])
        # A guess for each: the solution, and zeros.
        self.write("guess.mtx", array + "192 2\n" +
                   "".join(f"{value!r}\n" for value in alone) + "0\n" * 192)
        self.write("ones.mtx", array + "192 2\n" + "1\n" * 384)
        run = self.records(2, *problem, "--rhs", "ones.mtx", "--guess", "guess.mtx", "--tol",
                           "1e-7")[0]
        self.assertEqual(run["columns"][0]["iterations"], 0)
        self.assertGreater(run["columns"][1]["iterations"], 5)
        self.assertLess(run["columns"][0]["guess_rel_residual"], 1e-7)
        self.assertEqual(run["columns"][1]["guess_rel_residual"], 1)
        self.refused(*problem, "--rhs", "b.mtx", "--guess", "guess.mtx",
                     says="2 columns, but there are 3 right-hand sides")
        self.refused(*problem, "--rhs", "ones", "--rhs-count", "2",
                     says="--rhs-count needs --rhs random")
        self.refused("--problem", "cavity-newton:9", "--rhs", "random", "--rhs-count", "2",
                     says="have no effect with Newton's method")

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

    def test_lists_of_trilinos(self):
        """Sublists behind a slash: multigrid, with an Ainvil smoother too, and overlap."""
        schwarz = "SCHWARZ:schwarz: inner preconditioner name=ilu,schwarz: overlap level=1"
        ainvil = "muelu:coarse: max size=50,smoother: type=AINVIL,smoother: params/Prec Type="
        runs = self.records(2, "--problem", "laplace7:12", "--repeat", "2", "--precond", "ilu",
                            "--precond", schwarz, "--precond", "muelu:coarse: max size=50",
                            "--precond", ainvil + "ic")
        for run in runs:
            self.assertEqual(run["status"], "converged", run)
        alone, overlapping, theirs, ours = [run["iterations"] for run in runs]
        self.assertLess(overlapping, alone)
        self.assertLess(2 * theirs, alone)
        self.assertLess(2 * ours, alone)
        bad = self.run_mpi(1, "--problem", "laplace7:12", "--precond", ainvil + "nosuch", code=3)
        self.assertIn('Invalid preconditioner type "nosuch"', bad.stdout)

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
        first = ["-wdir", self.folder, solve_mpi.MPI_EXECUTABLE, "--matrix", "a.mtx", "--rhs",
                 "b.mtx", "--precond", "ilu", "--solution", "x.mtx", "--json", "out.json"]
        # What the other rank was told does not count either.
        other = ["-wdir", elsewhere, solve_mpi.MPI_EXECUTABLE, "--problem", "nosuch", "--precond",
                 "nosuch"]
        job = [*solve_mpi.MPIEXEC, "1", *first, ":", *solve_mpi.MPIEXEC[1:], "1"]
        for arguments in (["-wdir", elsewhere, *first[2:]], other):
            self.run_job([*job, *arguments])
            self.assertLessEqual(self.residual("a.mtx", [1, 2, 3, 4], "x.mtx"), 1e-8)
        self.assertEqual(os.listdir(elsewhere), [])
        # Absent on the first rank alone.
        os.rename(os.path.join(self.folder, "b.mtx"), os.path.join(elsewhere, "b.mtx"))
        result = self.run_job([*job, "-wdir", elsewhere, *first[2:]], code=2)
        self.assertIn("there is no file 'b.mtx'", result.stderr)

    def test_tiny_and_huge_right_hand_sides(self):
        """Whose squares under- or overflow."""
        self.write("a.mtx", NONSYMMETRIC)
        for exponent in (-300, 300):
            self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n" +
                       "".join(f"{value}e{exponent}\n" for value in (1, 2, 3, 4)))
            for solver, krylov in (("gmres", "ainvil"), ("bicgstab", "ainvil"), ("gmres", "belos"),
                                   ("bicgstab", "belos")):
                run, = self.records(2, "--matrix", "a.mtx", "--rhs", "b.mtx", "--solver", solver,
                                    "--krylov", krylov, "--precond", "jacobi", "--solution", "x.mtx")
                self.assertEqual(run["status"], "converged", run)
                self.assertGreater(run["iterations"], 0)
                rhs = [float(f"{value}e{exponent}") for value in (1, 2, 3, 4)]
                self.assertLessEqual(self.residual("a.mtx", rhs, "x.mtx"), 1e-8)

    def test_preconditioners_that_vary_need_a_solver_that_takes_them(self):
        small = ["--problem", "laplace7:6", "--precond", "ilu:solve=async"]
        self.refused(*small, says="take --solver fgmres")
        self.refused(*small, "--solver", "cg", says="take --solver fgmres")
        self.refused(*small, "--solver", "fgmres", "--belos", "BLOCK GMRES", says="BLOCK GMRES")
        self.refused("--problem", "cavity-newton:9", "--precond", "ilu:solve=async", says="fgmres")
        self.refused(*small, "--belos", "AINVIL CG", says="take --solver fgmres")
        for solver in (["fgmres"], ["bicgstab"], ["gmres", "--belos", "Flexible GMRES"],
                       ["fgmres", "--krylov", "belos"], ["gmres", "--belos", "Ainvil FGMRES"]):
            run, = self.records(2, *small, "--solver", *solver)
            self.assertEqual(run["status"], "converged", run)

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
        self.refused(*small, "--krylov", "ainvil", "--belos", "GMRES", says="leave out --krylov ainvil")
        self.refused(*small, "--krylov", "petsc", says="ainvil|belos")
        self.refused(*small, "--history", "h.csv", says="--history")
        self.refused(*small, "--block-size", "5", says="does not divide")
        self.refused("--matrix", "absent.mtx", says="absent.mtx")
        self.refused("--problem", "cavity-newton:2", says="from 3")
        self.run_mpi(1, "--problem", "cavity-newton:3", "--precond", "jacobi", "--quiet")
        self.refused("--problem", "cavity-newton:9", "--scale", "norm", says="--scale")

    def test_help(self):
        text = self.run_mpi(2, "--help").stdout
        self.assertEqual(text.count("--partition"), 1) # one rank writes
        for word in ("--krylov", "--overlap", "--format", "cavity-newton:N", "local-fsai", "Ifpack2",
                     "muelu"):
            self.assertIn(word, text)
        for word in ("--history", "--precision", "--exec "):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    solve_mpi.main()
