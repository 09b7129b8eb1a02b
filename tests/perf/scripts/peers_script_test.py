#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perf/peers.sh with programs that only say how they were called: the records of all problems in one file, none where nothing ran,
and one sentence for root, whom Open MPI refuses.

usage: peers_script_test.py
"""

import os
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../perf/peers.sh")
# The call ends with --json FILE.
MPIRUN = """#!/bin/bash
[[ $1 == --version ]] && { echo "mpirun (Open MPI) 4.1.4"; exit; }
[[ -z $REFUSES ]] || exit 1
echo "$4 $5" >"${!#}"
"""
PEERS = """#!/bin/bash
echo "(this build has: petsc hypre)"
"""


class PeersScriptTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.output = os.path.join(self.folder, "peers.jsonl")
        for name, text in (("mpirun", MPIRUN), ("ainvil-peers", PEERS)):
            self.program(name, text)

    def program(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def run_as(self, user, *options, **environment):
        self.program("id", f"#!/bin/bash\necho {user}\n")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_ALLOW")}
        return subprocess.run([SCRIPT, os.path.join(self.folder, "ainvil-peers"), self.output, "smoke", "1", *options], capture_output=True,
                              text=True, check=False,
                              env={**kept, "PATH": f"{self.folder}:{os.environ['PATH']}", **environment})

    def test_all_problems(self):
        for user, environment in ((1000, {}), (0, {"OMPI_ALLOW_RUN_AS_ROOT": "1"})):
            done = self.run_as(user, **environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.output, encoding="utf-8") as file:
                self.assertEqual(len(file.readlines()), 5)

    def test_ours_over_ranks(self):
        """A run more of each problem, and another in blocks, if it has them, without fsai; GMRES twice."""
        done = self.run_as(1000, AINVIL_SOLVE_MPI=os.path.join(self.folder, "ainvil-solve-mpi"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.output, encoding="utf-8") as file:
            programs = [os.path.basename(line.split()[1]) for line in file]
        self.assertEqual(programs, [name for peers, ranks in ((2, 2), (2, 4), (1, 2))
                                    for name in peers * ["ainvil-peers"] + ranks * ["ainvil-solve-mpi"]])
        with open(self.output.replace(".jsonl", ".commands"), encoding="utf-8") as file:
            text = file.read()
        runs = [line for line in text.splitlines() if "ainvil-solve-mpi --problem" in line]
        for word, where in (("--format blocks", (4, 5, 7)), ("--basis float", (1, 3, 5)), ("--precond=fsai", (6,))):
            self.assertEqual(tuple(k for k, run in enumerate(runs) if word in run), where, word)
        self.assertIn("--precond=fsai:power=1,filter=0", text)

    def test_one_clock_for_all(self):
        """ainvil-solve-mpi has that of the wall only."""
        for options in (["--clock", "cpu"], ["--clock=cpu"]):
            done = self.run_as(1000, *options, AINVIL_SOLVE_MPI="ainvil-solve-mpi")
            self.assertEqual(done.returncode, 2)
            self.assertIn("peers.sh: ainvil-solve-mpi has no --clock cpu", done.stderr)
            self.assertFalse(os.path.exists(self.output))
            self.assertEqual(self.run_as(1000, *options).returncode, 0)
            os.remove(self.output)

    def test_nothing_is_left_where_nothing_ran(self):
        self.assertNotEqual(self.run_as(1000, REFUSES="1").returncode, 0)
        self.assertFalse(os.path.exists(self.output))

    def test_root_is_told_what_to_set(self):
        done = self.run_as(0)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("peers.sh: Open MPI runs nothing for root unless OMPI_ALLOW_RUN_AS_ROOT=1", done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("peers.")], [])


if __name__ == "__main__":
    unittest.main()
