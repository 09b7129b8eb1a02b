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
