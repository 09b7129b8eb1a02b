# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of ainvil-solve share: running it in a folder of their own, and looking at what it
wrote."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
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
    "jacobi", "ilu:solve=exact", "ilu:modified=0.95", "ilu:solve=isai,power=1",
    "ilu:solve=isai,power=2", "ilu:solve=isai,power=3", "ilu:solve=isai,power=2,storage=bfloat16",
    "ilu:solve=isai,power=1,relax=auto", "ilu:solve=jacobi,sweeps=3"
]


def heavy_row(exponent):
    """Entries by (row, column) and b of a system with a row of 2^exponent times the size of the others, in which b is zero.
    An iteration takes two digits off the residual of the scaled system; that of the system as given is larger, because
    of this row: the last step may end far within the tolerance of the one and above that of the other."""
    n = 40
    rows = [1.0] * (n - 1) + [2.0 ** exponent]
    entries = {(i, j): rows[i] * (200.0 + i if i == j else -1.0 - j % 3)
               for i in range(n) for j in (i - 2, i - 1, i, i + 1) if 0 <= j < n}
    return entries, [1.0 / (3.0 + k) for k in range(n - 1)] + [0.0]


def tridiagonal(n, diagonal=4.0):
    """Matrix Market text of the matrix with -1 beside a constant diagonal."""
    entries = []
    for i in range(1, n + 1):
        for j in (i - 1, i, i + 1):
            if 1 <= j <= n:
                entries.append(f"{i} {j} {diagonal if i == j else -1}")
    return GENERAL + f"{n} {n} {len(entries)}\n" + "\n".join(entries) + "\n"


class SolveTest(unittest.TestCase):

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


def main(usage):
    """Runs the tests of the calling script on the executable that is its first argument."""
    global EXECUTABLE
    if len(sys.argv) < 2:
        sys.exit(usage)
    EXECUTABLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
