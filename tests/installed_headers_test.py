#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The installed headers: those at the top of core, partition, precond, recommend and solvers, and no
more than these and few others include. That each compiles by itself is for tests/headers.

usage: installed_headers_test.py SOURCE_FOLDER INSTALLED_FOLDER [unittest options]
"""

import glob
import os
import re
import sys
import unittest

SOURCE = INSTALLED = ""
# Neither at the top of a folder nor included by what is.
OTHERS = {"Ainvil.hpp", "gallery/Ainvil_CavityNewton.hpp", "gallery/Ainvil_Gallery.hpp",
          "io/Ainvil_MatrixMarket.hpp", "io/Ainvil_VectorFiles.hpp",
          "kokkoskernels/Ainvil_KokkosKernelsPreconditioner.hpp",
          "polynomial/Ainvil_Polynomial.hpp"}
ADAPTERS = re.compile(r"Ainvil_(Petsc|Hypre|Tpetra|Stratimikos)")  # components of their own


class InstalledHeaders(unittest.TestCase):

    def setUp(self):
        self.headers = {os.path.relpath(path, INSTALLED)
                        for path in glob.glob(os.path.join(INSTALLED, "**", "*.h*"), recursive=True)}

    def includes(self, header):
        with open(os.path.join(INSTALLED, header), encoding="utf-8") as file:
            return re.findall(r'^ *# *include "([^"]+)"', file.read(), re.M)

    def test_public_headers_are_installed(self):
        for root in ("core", "partition", "precond", "recommend", "solvers"):
            tops = {os.path.basename(path) for path in glob.glob(os.path.join(SOURCE, root, "*.hpp"))}
            self.assertGreater(len(tops), 0)
            self.assertLessEqual(tops, self.headers)

    def test_includes_are_installed(self):
        for header in self.headers:
            with self.subTest(header=header):
                self.assertEqual([name for name in self.includes(header) if name not in self.headers], [])

    def test_nothing_else_is_installed(self):
        included = {name for header in self.headers for name in self.includes(header)}
        self.assertEqual([header for header in sorted(self.headers) if os.path.dirname(header) and
                          header not in included | OTHERS and not ADAPTERS.search(header)], [])
        for kernels in ("dense/Ainvil_CholeskyTiles.hpp", "product/Ainvil_SpmvKernels.hpp"):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, "core", kernels)))
            self.assertNotIn(kernels, self.headers)


if __name__ == "__main__":
    SOURCE = sys.argv.pop(1)
    INSTALLED = sys.argv.pop(1)
    unittest.main()
