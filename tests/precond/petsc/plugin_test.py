#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The plug-in for PETSc loaded by -dll_prepend: into a program compiled without Ainvil, on one and two
ranks, into PETSc's own tutorials, and into Python where petsc4py is there.

usage: plugin_test.py PROGRAM PLUGIN MPIEXEC NUMPROC_FLAG [TUTORIAL...]
"""

import re
import subprocess
import sys
import unittest

PROGRAM = ""
PLUGIN = ""
MPIEXEC = []
TUTORIALS = []

PYTHON = """
import sys
import petsc4py
petsc4py.init(["python", "-dll_prepend", sys.argv[1]] + sys.argv[2:])
from petsc4py import PETSc
n = 40
a = PETSc.Mat().createAIJ((n, n), nnz=3)
for i in range(n):
    for j in range(max(0, i - 1), min(n, i + 2)):
        a[i, j] = 2 if i == j else -1
a.assemble()
b = a.createVecLeft()
b.set(1)
x = b.duplicate()
ksp = PETSc.KSP().create()
ksp.setOperators(a)
ksp.setType("gmres")
ksp.getPC().setType("ainvil")
ksp.setFromOptions()
ksp.solve(b, x)
r = b - a * x
print("iterations", ksp.getIterationNumber(), "residual %.1e" % (r.norm() / b.norm()))
"""


class PluginTest(unittest.TestCase):

    def run_command(self, *command, code=0):
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if code is not None:
            self.assertEqual(result.returncode, code, result)
        return result

    def run_plain(self, *options, ranks=1, code=0, plugin=True):
        load = ["-dll_prepend", PLUGIN] if plugin else []
        return self.run_command(*MPIEXEC, str(ranks), PROGRAM, *load, *options, code=code)

    def iterations(self, *options, **arguments):
        out = self.run_plain("-ksp_rtol", "1e-8", "-ksp_pc_side", "right", *options, **arguments).stdout
        found = re.search(r"iterations (\d+), reason CONVERGED_RTOL, residual (\S+)", out)
        self.assertIsNotNone(found, out)
        self.assertLessEqual(float(found.group(2)), 1.01e-8)
        return int(found.group(1))

    def test_ilu_is_that_of_petsc(self):
        for matrix in ("aij", "baij", "sbaij"):
            ours = self.iterations("-mat_type", matrix, "-pc_type", "ainvil")
            self.assertLessEqual(abs(ours - self.iterations("-pc_type", "ilu", plugin=False)), 1)
        level = ("-pc_ainvil_level", "2")
        ours = self.iterations("-pc_type", "ainvil", *level)
        theirs = self.iterations("-pc_type", "ilu", "-pc_factor_levels", "2", plugin=False)
        self.assertLessEqual(abs(ours - theirs), 1)

    def test_block_jacobi_is_that_of_petsc(self):
        ours = self.iterations("-pc_type", "ainvil", ranks=2)
        theirs = self.iterations("-pc_type", "bjacobi", ranks=2, plugin=False)
        self.assertLessEqual(abs(ours - theirs), 1)

    def run_tutorial(self, name, *options, ranks=1):
        for program in TUTORIALS:
            if program.endswith(name):
                return self.run_command(*MPIEXEC, str(ranks), program, "-dll_prepend", PLUGIN, *options).stdout
        return self.skipTest(f"this PETSc comes without {name}")

    def test_a_tutorial_of_ksp(self):
        """ex2: the 5-point Laplacian, whose solution is known."""
        def iterations(*options, ranks=1):
            out = self.run_tutorial("ex2", "-m", "40", "-n", "40", "-ksp_rtol", "1e-8", "-ksp_view", *options,
                                    ranks=ranks)
            error, count = re.search(r"Norm of error (\S+) iterations (\d+)", out).groups()
            self.assertLess(float(error), 1e-5)
            self.assertEqual("type: ainvil" in out, "ainvil" in options)
            return int(count)
        self.assertEqual(iterations("-pc_type", "ainvil"), iterations("-pc_type", "ilu"))
        ours = iterations("-pc_type", "ainvil", ranks=2)
        self.assertLessEqual(abs(ours - iterations("-pc_type", "bjacobi", ranks=2)), 1)

    def test_a_tutorial_of_snes(self):
        """ex19: the driven cavity in blocks of four, a Newton step the values of a known pattern."""
        out = self.run_tutorial("ex19", "-da_grid_x", "17", "-da_grid_y", "17", "-snes_converged_reason",
                                "-ksp_rtol", "1e-6", "-snes_view", "-pc_type", "ainvil", "-pc_ainvil_spec",
                                "ilu:solve=isai,power=2")
        steps = re.search(r"CONVERGED_FNORM_RELATIVE iterations (\d+)", out)
        self.assertIsNotNone(steps, out)
        self.assertIn("blocks of size 4", out)
        self.assertRegex(out, rf"set-ups: 1 of the pattern, {steps.group(1)} of the values")

    def test_smooths_multigrid(self):
        for ranks in (1, 2):
            count = self.iterations("-n", "60", "-pc_type", "gamg", "-mg_levels_pc_type", "ainvil",
                                    "-mg_levels_pc_ainvil_spec", "fsai", "-ksp_type", "fgmres",
                                    ranks=ranks)
            self.assertLessEqual(count, 15)

    def test_view_and_nothing_on_stderr(self):
        result = self.run_plain("-pc_type", "ainvil", "-pc_ainvil_spec", "ilu:solve=isai,power=2",
                                "-ksp_view", ranks=2)
        for text in ("type: ainvil", "ilu: {level: 0, solve: isai, power: 2",
                     "set-ups: 1 of the pattern, 1 of the values", "ilu_numeric"):
            self.assertIn(text, result.stdout)
        self.assertEqual(result.stderr, "")

    def test_view_tells_the_relaxation_steps_that_the_set_up_chose(self):
        text = self.run_plain("-pc_type", "ainvil", "-pc_ainvil_spec",
                              "ilu:solve=isai,relax=auto", "-ksp_view").stdout
        self.assertRegex(text, r"notes: .*lower_relax=\d+ .*upper_relax=\d+")
        text = self.run_plain("-pc_type", "ainvil", "-pc_ainvil_spec",
                              "ilu:solve=isai,relax=2", "-ksp_view").stdout
        self.assertIn("relax: 2", text)

    def test_help_lists_the_parameters_of_the_method(self):
        text = self.run_plain("-pc_type", "ainvil", "-pc_ainvil_type", "fsai", "-help").stdout
        for option in ("-pc_ainvil_type", "-pc_ainvil_spec", "-pc_ainvil_block_size",
                       "-pc_ainvil_tau", "-pc_ainvil_max_row <now 0"):
            self.assertIn(option, text)
        self.assertNotIn("-pc_ainvil_solve", text)

    def test_bad_options_end_the_program_with_a_sentence(self):
        for options, sentence in (
                (("-pc_ainvil_level", "-1"), "'level' must be"),
                (("-pc_ainvil_lvel", "1"), "unknown option -pc_ainvil_lvel"),
                (("-pc_ainvil_power", "2"), "'power' has no effect")):
            result = self.run_plain("-pc_type", "ainvil", *options, code=None)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(sentence, result.stderr)
            self.assertIn("PCSetFromOptions()", result.stderr)  # the stack of PETSc

    def test_threads_change_nothing(self):
        options = ("-pc_type", "ainvil", "-pc_ainvil_solve", "isai")
        one = self.iterations(*options)
        text = self.run_command("env", "OMP_NUM_THREADS=2", PROGRAM, "-dll_prepend", PLUGIN,
                                "-ksp_rtol", "1e-8", "-ksp_pc_side", "right", *options).stdout
        self.assertIn(f"iterations {one},", text)

    def test_petsc4py(self):
        python = next((python for python in (sys.executable, "/usr/bin/python3")
                       if subprocess.run([python, "-c", "import petsc4py"], capture_output=True,
                                         check=False).returncode == 0), None)
        if python is None:
            self.skipTest("there is no petsc4py (Debian: python3-petsc4py)")
        out = self.run_command(python, "-c", PYTHON, PLUGIN, "-ksp_rtol", "1e-8",
                               "-pc_ainvil_spec", "ilu:solve=isai,power=40").stdout
        found = re.search(r"iterations (\d+) residual (\S+)", out)
        self.assertIsNotNone(found, out)
        self.assertLessEqual(int(found.group(1)), 2)
        self.assertLessEqual(float(found.group(2)), 1e-8)


if __name__ == "__main__":
    PROGRAM, PLUGIN, executable, flag, *TUTORIALS = sys.argv[1:]
    MPIEXEC = [executable, flag]
    unittest.main(argv=sys.argv[:1])
