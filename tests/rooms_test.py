#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The plan of the house: which folder may include which.

usage: rooms_test.py SOURCE_FOLDER [unittest options]

A room is a folder below core, partition, precond, solvers or recommend; what a user includes lies
above the rooms, at the top of these five. A file may reach through its includes: its own room, the rooms below
it in ROOMS, and headers at the top, which themselves reach no room that it may not reach.
"""

import glob
import os
import re
import subprocess
import sys
import unittest

SOURCE = ""
ROOTS = ["core", "core/tpetra", "partition", "precond/tpetra", "precond", "recommend",
         "solvers/tpetra", "solvers"]

# Each room with those it may include; every room may include itself.
BELOW = {
    "core/backend": [],
    "core/dense": ["core/backend"],
    "core/graph": ["core/dense", "core/backend"],
    "core/product": ["core/graph", "core/dense", "core/backend"],
}
CORE = ["core", "core/product", "core/graph", "core/dense", "core/backend"]
PARTITION = CORE + ["partition", "partition/metis"]
METHOD = PARTITION + ["precond/breakdown", "precond/parameters"]
BELOW.update({
    "core": CORE,
    "core/io": CORE,
    "core/gallery": CORE,
    "core/tpetra": CORE,
    "partition/metis": CORE,
    "partition": PARTITION,
    "precond/parameters": PARTITION,
    "precond/breakdown": PARTITION,
    "precond/polynomial": METHOD,
    "precond/triangular": METHOD,
    "precond/ilu": METHOD + ["precond/triangular"],
    "precond/ic": METHOD + ["precond/triangular", "precond/ilu"],  # by the registry
    "solvers/krylov": CORE,
    "solvers": CORE + ["solvers/krylov"],
    "solvers/tpetra": CORE + ["core/tpetra", "solvers", "solvers/krylov"],
})
TOP = {"core", "partition", "precond", "solvers", "recommend"}


def files():
    """Sources and headers of the library, relative to the source folder."""
    return sorted(os.path.relpath(path, SOURCE) for root in TOP for path in
                  glob.glob(os.path.join(SOURCE, root, "**", "*.[hc]*"), recursive=True))


def room_of(header):
    """The room of precond/Ainvil_Jacobi.hpp is precond/jacobi."""
    return "precond/" + os.path.basename(header)[len("Ainvil_"):-len(".hpp")].lower()


def add_methods():
    """A new method needs no line here."""
    for path in glob.glob(os.path.join(SOURCE, "precond", "Ainvil_*.hpp")):
        room = room_of(path)
        if os.path.isdir(os.path.join(SOURCE, room)):
            BELOW.setdefault(room, METHOD)
    BELOW["precond"] = PARTITION + [room for room in BELOW if room.startswith("precond/")]
    # The race stands on all methods and all solvers, none of which knows it.
    BELOW["recommend/race"] = BELOW["precond"] + ["precond", "solvers", "solvers/krylov", "recommend"]
    BELOW["recommend"] = BELOW["recommend/race"] + ["recommend/race"]
    # Adapters stand on all methods.
    for adapter, below in (("tpetra", ["core/tpetra"]), ("kokkoskernels", []), ("ranks", []),
                           ("petsc", ["precond/ranks"]), ("hypre", ["precond/ranks"])):
        BELOW["precond/" + adapter] = BELOW["precond"] + ["precond"] + below


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def quoted(name):
    return re.findall(r'^ *# *include "([^"]+)"', read(name), re.M)


def found(include):
    """The file that an include means, None if there is none."""
    return next((os.path.join(root, include) for root in ROOTS
                 if os.path.exists(os.path.join(SOURCE, root, include))), None)


class Rooms(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        add_methods()
        cls.files = files()
        cls.includes = {name: [found(include) for include in quoted(name)] for name in cls.files}

    def reached(self, name, seen):
        for include in self.includes[name]:
            if include not in seen:
                seen.add(include)
                self.reached(include, seen)
        return seen

    def test_there_are_files(self):
        self.assertGreater(len(self.files), 100)

    def test_every_folder_is_in_the_plan(self):
        self.assertLessEqual({os.path.dirname(name) for name in self.files}, set(BELOW))

    def test_includes_name_their_room(self):
        for name in self.files:
            for include in quoted(name):
                with self.subTest(file=name, include=include):
                    self.assertIsNotNone(found(include))

    def test_includes_point_downwards(self):
        for name in self.files:
            room = os.path.dirname(name)
            allowed = set(BELOW[room]) | TOP | {room}
            for reached in self.reached(name, set()):
                with self.subTest(file=name, reaches=reached):
                    self.assertIn(os.path.dirname(reached), allowed)

    def test_folders_point_downwards(self):
        for name in self.files:
            folder = name.split("/")[0]
            allowed = {"core": {"core"}, "partition": {"core", "partition"},
                       "precond": {"core", "partition", "precond"},
                       "solvers": {"core", "solvers"},
                       "recommend": TOP}[folder]
            for reached in self.reached(name, set()):
                with self.subTest(file=name, reaches=reached):
                    self.assertIn(reached.split("/")[0], allowed)

    def test_public_headers_are_few(self):
        public = [name for name in self.files
                  if os.path.dirname(name) in TOP and name.endswith(".hpp")]
        self.assertLessEqual(len(public), 25, public)

    def test_public_headers_pull_in_no_kernel(self):
        launches = re.compile(r"parallel_(for|reduce|scan)|Team\w*Range|ThreadVectorRange|"
                              r"team_scratch|team_rank|KOKKOS_(CLASS_)?LAMBDA")
        kernels = {name for name in self.files if launches.search(read(name))}
        self.assertGreater(len(kernels), 20)
        for name in self.files:
            if os.path.dirname(name) in TOP and name.endswith(".hpp"):
                with self.subTest(file=name):
                    self.assertEqual(kernels & (self.reached(name, set()) | {name}), set())

    def test_the_umbrella_has_every_public_header(self):
        umbrella = read("cmake/Ainvil.hpp.in")
        included = set()
        for include in re.findall(r'^#include "([^"]+)"', umbrella, re.M):
            included |= self.reached(found(include), {found(include)})
        self.assertEqual([name for name in self.files if os.path.dirname(name) in TOP and
                          name.endswith(".hpp") and name not in included], [])

    def test_versions_and_backends_differ_in_the_backend(self):
        """What Kokkos, Tpetra, hypre and the solvers of Kokkos Kernels are is asked for nowhere else."""
        elsewhere = {"core/tpetra/Ainvil_TpetraCompat.hpp", "precond/hypre/Ainvil_Hypre.h",
                     "precond/kokkoskernels/Ainvil_KokkosKernelsPreconditioner.hpp"}
        for name in self.files:
            if os.path.dirname(name) != "core/backend" and name not in elsewhere:
                with self.subTest(file=name):
                    self.assertEqual(re.findall(r"^ *# *(?:if|elif).*", read(name), re.M), [])

    def test_backend_knows_no_matrix(self):
        for name in self.files:
            if os.path.dirname(name) == "core/backend":
                with self.subTest(file=name):
                    self.assertLessEqual({reached for reached in self.reached(name, set())
                                          if os.path.dirname(reached) != "core/backend"},
                                         {"core/Ainvil_Error.hpp", "core/Ainvil_Types.hpp"})

    def test_files_are_short(self):
        """A file has one reason to change; the longest are lists."""
        kept = re.compile(r"\.(cpp|hpp|h|c|py|sh|cmake)(\.in)?$|(^|/)CMakeLists\.txt$")
        tracked = subprocess.run(["git", "-C", SOURCE, "-c", "safe.directory=*", "ls-files"],
                                 capture_output=True, text=True, check=False).stdout.splitlines()
        names = [name for name in tracked or self.files
                 if kept.search(name) and os.path.exists(os.path.join(SOURCE, name))]
        self.assertGreater(len(names), 100)
        for name in names:
            with self.subTest(file=name):
                self.assertLess(read(name).count("\n"), 450)

    def test_no_include_comes_back(self):
        for name in self.files:
            with self.subTest(file=name):
                self.assertNotIn(name, self.reached(name, set()))


if __name__ == "__main__":
    SOURCE = sys.argv.pop(1)
    unittest.main()
