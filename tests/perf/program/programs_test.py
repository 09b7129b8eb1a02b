#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the command lines of all programs have in common.

usage: programs_test.py PATH/TO/program... [unittest options]
"""

import os
import re
import subprocess
import sys
import unittest

EXECUTABLES = []


class ProgramsTest(unittest.TestCase):

    def run_program(self, path, *arguments, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("KOKKOS_")}
        environment.update(variables)
        return subprocess.run([path, *arguments], env=environment, capture_output=True, text=True,
                              timeout=100, check=False)

    def refuse(self, words, path, *arguments, **variables):
        """Exit code 2 and one sentence on stderr that contains the words."""
        with self.subTest(path=path, arguments=arguments, variables=variables):
            result = self.run_program(path, *arguments, **variables)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertTrue(result.stderr.startswith(os.path.basename(path) + ": "), result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            for word in words:
                self.assertIn(word, result.stderr)

    def test_tell_their_version(self):
        versions = set()
        for path in EXECUTABLES:
            result = self.run_program(path, "--version")
            self.assertEqual((result.returncode, result.stderr), (0, ""), result)
            match = re.fullmatch(r"([\w-]+): (Ainvil \d+\.\d+\.\d+, commit (?:[0-9a-f]{7,}|unknown), "
                                 r"Kokkos \d+\.\d+\.\d+)\n", result.stdout)
            self.assertIsNotNone(match, result.stdout)
            self.assertEqual(match.group(1), os.path.basename(path))
            versions.add(match.group(2))
        self.assertEqual(len(versions), 1, versions)

    def options_of(self, path):
        """[[subcommand, option]] and [[option]] of the options that take a value."""
        text = self.run_program(path, "--help").stdout
        subs = re.findall(r"^  ([a-z]+)  ", text.partition("\nSubcommands:\n")[2].split("\n\n")[0], re.M)
        found = []
        for sub in [[]] + [[name] for name in subs]:
            lines = self.run_program(path, *sub, "--help").stdout.split("\n\nP")[0].splitlines()
            options = [re.match(r"  (--[a-z0-9-]+) [^ ]", line) for line in lines]
            found += [[*sub, option.group(1)] for option in options if option]
        return found

    def test_refuse_values_that_are_empty(self):
        for path in EXECUTABLES:
            options = self.options_of(path)
            self.assertIn(["--repeat"], options)
            for words in options:
                self.refuse([words[-1]], path, *words, "")

    def test_refuse_numbers_of_threads_that_kokkos_crashes_with(self):
        for path in EXECUTABLES:
            name = os.path.basename(path)
            words = {"ainvil-batched-cholesky": ["--sizes", "1", "--count", "1"],
                     "ainvil-triangular-sweeps": ["residuals", "--problem", "poisson5:4"],
                     "ainvil-inverse-factors": ["compare", "--problem", "poisson5:4"]}.get(
                         name, ["--problem", "poisson5:4", "--precond", "none"])
            for value in ("0", "-1", "513", "99999", "99999999999", "x", "2x", ""):
                self.refuse(["--kokkos-threads", f"'{value}'", "512"], path, *words,
                            f"--kokkos-threads={value}")
            if name == "ainvil-peers":
                continue  # starts a thread a rank
            self.refuse(["KOKKOS_NUM_THREADS", "'0'"], path, *words, KOKKOS_NUM_THREADS="0")
            if name == "ainvil-solve" and "OpenMP" in self.run_program(path, *words).stdout:
                for value in ("513", "99999", "99999,2"):
                    self.refuse(["OMP_NUM_THREADS", value[:3]], path, *words, OMP_NUM_THREADS=value)


if __name__ == "__main__":
    while len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.exists(sys.argv[1]):
        EXECUTABLES.append(os.path.abspath(sys.argv.pop(1)))
    if not EXECUTABLES:
        sys.exit(__doc__)
    unittest.main()
