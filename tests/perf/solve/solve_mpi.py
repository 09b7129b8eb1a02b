# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of ainvil-solve-mpi share: jobs in a folder of their own, and looking at what they
wrote."""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

MPI_EXECUTABLE = ""
EXECUTABLE = ""
MPIEXEC = []

# A matrix whose symmetric parts FSAI takes for granted.
NONSYMMETRIC = """%%MatrixMarket matrix coordinate real general
4 4 7
1 1 4
1 2 1
2 2 3
2 3 1
3 3 2
3 4 1
4 4 5
"""


class SolveMpiCase(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_job(self, command, code=0):
        """A job that does not end is one that fails."""
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                                timeout=300, check=False)
        self.assertEqual(result.returncode, code, result)
        return result

    def run_mpi(self, ranks, *arguments, code=0):
        return self.run_job([*MPIEXEC, str(ranks), MPI_EXECUTABLE, *arguments], code=code)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read_values(self, name):
        """The numbers of a Matrix Market file, a tuple a line, without the line of sizes."""
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            lines = [line.split() for line in file if not line.startswith("%")]
        return [tuple(map(float, line)) for line in lines[1:]]

    def residual(self, matrix, rhs, solution):
        """||b - A x|| / ||b|| of a general matrix in coordinates, from the files alone."""
        x = [value for value, in self.read_values(solution)]
        r = list(rhs)
        for i, j, value in self.read_values(matrix):
            r[int(i) - 1] -= value * x[int(j) - 1]
        largest = max(map(abs, rhs))
        return (math.hypot(*(value / largest for value in r)) /
                math.hypot(*(value / largest for value in rhs)))

    def records(self, ranks, *arguments, code=0):
        result = self.run_mpi(ranks, *arguments, "--json", "-", "--quiet", code=code)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def serial(self, *arguments):
        result = subprocess.run([EXECUTABLE, *arguments, "--json", "-", "--quiet"],
                                cwd=self.folder, capture_output=True, text=True, timeout=300,
                                check=True)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def refused(self, *arguments, says):
        """Exit code 2 and one line of ours, on two ranks, before anything has been computed."""
        result = self.run_mpi(2, *arguments, code=2)
        self.assertEqual(result.stdout, "")
        ours = [line for line in result.stderr.splitlines() if "ainvil-solve-mpi:" in line]
        self.assertEqual(len(ours), 1, result.stderr)
        self.assertIn(says, ours[0])


def main():
    """Takes PATH/TO/ainvil-solve-mpi PATH/TO/ainvil-solve MPIEXEC NUMPROC_FLAG, then options of unittest."""
    global MPI_EXECUTABLE, EXECUTABLE, MPIEXEC
    MPI_EXECUTABLE, EXECUTABLE = map(os.path.abspath, sys.argv[1:3])
    MPIEXEC = sys.argv[3:5]
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[5:]])
