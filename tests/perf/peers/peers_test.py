#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ainvil-peers: every library that was built solves the system of Ainvil, by the same iterations where
the method is the same; messages and exit codes.

usage: peers_test.py PATH/TO/ainvil-peers MPIEXEC NUMPROC_FLAG
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

EXECUTABLE = ""
MPIEXEC = []
LIBRARIES = {"petsc": "PETSc", "hypre": "hypre", "ifpack2": "Ifpack2"}


class PeersTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        text = subprocess.run([EXECUTABLE, "--help"], capture_output=True, text=True, check=True)
        words = re.search(r"this build has: ([\w ]+)\)", text.stdout).group(1).split()
        cls.built = [word for word in words if word in LIBRARIES]

    def run_mpi(self, ranks, *arguments, code=0):
        result = subprocess.run([*MPIEXEC, str(ranks), EXECUTABLE, *arguments],
                                capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(result.returncode, code, result)
        return result

    def records(self, ranks, preconds, *arguments):
        for precond in preconds:
            arguments += ("--precond", precond)
        result = self.run_mpi(ranks, *arguments, "--json", "-", "--quiet")
        runs = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([run["precond"] for run in runs], preconds)
        for run in runs:
            self.assertEqual(run["status"], "converged", run)
            self.assertLessEqual(run["rel_residual"], 1.01e-8, run)
            for key in ("setup_total_seconds", "solve_seconds", "apply30_seconds"):
                self.assertGreater(run[key], 0, run)
            self.assertLessEqual(run["setup_total_seconds"], run["first_setup_seconds"], run)
            library = run["precond"].split(":")[0]
            self.assertIn(LIBRARIES.get(library, "Ainvil"), run["library"])
            self.assertEqual((run["ranks"], run["threads"]),
                             (ranks, 1) if library in LIBRARIES else (1, ranks))
        return runs

    def of_built(self, *preconds):
        return [precond for precond in preconds
                if precond.split(":")[0] in self.built or precond.split(":")[0] not in LIBRARIES]

    def same_iterations(self, runs, accept):
        counts = [run["iterations"] for run in runs]
        self.assertLessEqual(max(counts) - min(counts), accept, runs)

    def test_ilu_on_one_rank_is_ours(self):
        preconds = self.of_built("ilu", "petsc:ilu", "petsc:ilu -mat_type baij", "hypre:ilu",
                                 "ifpack2:RILUK")
        for problem in ("cavity:20", "convdiff:8x9x10"):
            self.same_iterations(self.records(1, preconds, "--problem", problem), 1)

    def test_jacobi_is_ours_on_any_ranks(self):
        for solver in ("gmres", "cg"):
            preconds = self.of_built("jacobi", "petsc:jacobi", "hypre:jacobi",
                                     "ifpack2:RELAXATION,relaxation: type=Jacobi")
            for ranks in (1, 2, 3):
                self.same_iterations(
                    self.records(ranks, preconds, "--problem", "laplace7:7x8x9", "--solver", solver,
                                 "--rhs", "random"), 1)

    def test_ilu_and_icc_of_two_ranks(self):
        """The block of a rank is factored alone: more iterations than ours, the same for all."""
        preconds = self.of_built("petsc:icc", "hypre:ilu", "ifpack2:RILUK")
        system = ("--problem", "laplace7:12", "--solver", "cg", "--rhs", "random")
        ours, symmetric = self.records(2, ["ilu", "ic"], *system)
        self.same_iterations([ours, symmetric], 1)
        if preconds:
            runs = self.records(2, preconds, *system)
            self.same_iterations(runs, 1)
            self.assertGreater(runs[0]["iterations"], ours["iterations"])

    def test_other_methods(self):
        symmetric = self.of_built("fsai", "petsc:gamg", "petsc:-pc_type sor", "hypre:parasails",
                                  "hypre:parasails,levels=0,threshold=0.01,filter=0",
                                  "hypre:fsai,steps=3,step-size=2,tolerance=1e-2",
                                  "hypre:boomeramg", "hypre:ainvil ic",
                                  "ifpack2:RILUK,fact: iluk level-of-fill=1",
                                  "ifpack2:RILUK,belos=TPETRA CG SINGLE REDUCE")
        general = self.of_built("ilu:solve=isai", "petsc:asm", "petsc:none", "hypre:parasails",
                                "hypre:ilu,level=1", "hypre:euclid,level=1",
                                "hypre:ainvil ilu:level=1", "hypre:boomeramg",
                                "ifpack2:RILUK,belos=TPETRA GMRES")
        self.records(2, symmetric, "--problem", "laplace7:10", "--solver", "cg", "--repeat", "2")
        self.records(2, general, "--problem", "convdiff:10", "--max-iters", "4000")

    def test_fewest_iterations(self):
        """What does not converge has code 3 and says so."""
        for precond in self.of_built("ilu", "petsc:ilu", "hypre:ilu", "ifpack2:RILUK"):
            result = self.run_mpi(2, "--problem", "cavity:20", "--max-iters", "3", "--precond",
                                  precond, "--json", "-", "--quiet", code=3)
            run = json.loads(result.stdout.splitlines()[0])
            self.assertEqual((run["status"], run["iterations"]), ("max_iterations", 3), run)

    def test_tolerance_is_that_of_the_command(self):
        """A looser one takes fewer iterations, a tighter one is reached; neither is 1e-8."""
        for precond in self.of_built("jacobi", "petsc:jacobi", "hypre:jacobi",
                                     "ifpack2:RELAXATION,relaxation: type=Jacobi"):
            counts = []
            for tolerance in (1e-3, 1e-11):
                result = self.run_mpi(1, "--problem", "laplace7:9", "--rhs", "random", "--tol",
                                      str(tolerance), "--precond", precond, "--json", "-", "--quiet")
                run = json.loads(result.stdout.splitlines()[0])
                self.assertEqual((run["status"], run["tolerance"]), ("converged", tolerance), run)
                self.assertLessEqual(run["rel_residual"], 1.01 * tolerance, run)
                counts.append(run["iterations"])
            self.assertLess(1.5 * counts[0], counts[1], precond)

    def test_processor_time(self):
        for run in self.records(1, self.of_built("ilu", "petsc:ilu", "hypre:ilu"), "--problem",
                                "cavity:20", "--clock", "cpu"):
            self.assertEqual(run["clock"], "cpu")
        self.assertEqual(self.records(1, ["ilu"], "--problem", "cavity:8")[0]["clock"], "wall")
        self.refused("is for one rank", "--clock", "cpu")

    def refused(self, says, *arguments):
        result = self.run_mpi(2, "--problem", "laplace7:4", *arguments, code=2)
        ours = [line for line in result.stderr.splitlines() if "ainvil-peers:" in line]
        self.assertEqual(len(ours), 1, result.stderr)
        self.assertIn(says, ours[0])

    def test_refused(self):
        self.refused("known are none, jacobi", "--precond", "nonsense")
        self.refused("must be one of cg|gmres", "--solver", "bicgstab")
        self.refused("there is no file", "--rhs", "nowhere")
        cases = {"petsc": {"nonsense": "neither"},
                 "hypre": {"nonsense": "is not one of", "fsai": "is for SPD matrices",
                           "ilu,fill=1": "no key 'fill'", "ilu,level=x": "must be a number",
                           "ilu,level": "key=value", "ainvil ilu:lvel=1": "unknown key 'lvel'"},
                 "ifpack2": {"nonsense": "has no 'nonsense'"}}
        for library, methods in cases.items():
            for method, says in methods.items():
                if library not in self.built:
                    says = f"built without {library}"
                self.refused(says, "--precond", f"{library}:{method}")

    def test_an_option_that_petsc_does_not_use(self):
        """PETSc knows that only after its run, which is a refused row like any other."""
        if "petsc" not in self.built:
            self.skipTest("built without petsc")
        result = self.run_mpi(2, "--problem", "laplace7:4", "--precond", "petsc:-pc_nonsense",
                              "--precond", "ilu", code=3)
        self.assertRegex(result.stdout, r"petsc:-pc_nonsense +- .* refused")
        self.assertIn("petsc:-pc_nonsense: PETSc does not use the option -pc_nonsense",
                      result.stdout)
        self.assertRegex(result.stdout, r"ilu .* converged")

    def test_an_error_of_petsc_is_a_row(self):
        """Its ILU has no place for a diagonal that the matrix does not store."""
        if "petsc" not in self.built:
            self.skipTest("built without petsc")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "turned.mtx"
            path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 4\n"
                            "1 2 1\n2 1 1\n2 3 1\n3 3 1\n", encoding="utf-8")
            result = self.run_mpi(1, "--matrix", str(path), "--precond", "petsc:ilu",
                                  "--precond", "petsc:none", code=3)
        self.assertRegex(result.stdout, r"petsc:ilu +- .* failed")
        self.assertIn("missing diagonal entry", result.stdout)
        self.assertRegex(result.stdout, r"petsc:none .* converged")


if __name__ == "__main__":
    EXECUTABLE = sys.argv.pop(1)
    MPIEXEC = [sys.argv.pop(1), sys.argv.pop(1)]
    unittest.main()
