#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perf/plot.py: one sentence where Matplotlib or a file is missing; runs that did not converge and curves that
coincide are seen, on made-up records.

usage: plot_test.py
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

PERF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../perf")
PLOT = os.path.join(PERF, "plot.py")
HAVE_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
sys.path.insert(0, PERF)

# A Python without Matplotlib, and where it looks for another one.
WITHOUT = """import sys
sys.modules["matplotlib"] = None
sys.path.insert(0, sys.argv.pop(1))
import plot
plot.DEBIAN = sys.argv.pop(1)
plot.main()
"""


def solve(precond, iterations=10, status="converged", residual=1e-9, **more):
    history = [0.1 ** (k * 8 / iterations) for k in range(iterations + 1)]
    return {"problem": "cavity:9", "precond": precond, "solver": "gmres", "library": "Ainvil", "device": "CPU",
            "exec_space": "Serial", "threads": 1, "ranks": 1, "rows": 243, "tolerance": 1e-8, "status": status,
            "rel_residual": residual, "iterations": iterations, "history": history, "solve_seconds": 0.1,
            "setup_seconds": {"ilu_numeric": 0.01}, "setup_total_seconds": 0.02, "total_seconds": 0.12, **more}


class Errors(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, text, name="a.jsonl"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def refused(self, says, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def test_without_matplotlib(self):
        results = self.file(json.dumps(solve("jacobi")) + "\n")
        self.refused("needs Matplotlib, which", sys.executable, "-c", WITHOUT, PERF, "/nowhere", results)
        self.refused("apt-get install python3-matplotlib", sys.executable, "-c", WITHOUT, PERF, "/bin/false", results)
        self.refused("needs Matplotlib, which", sys.executable, "-c", WITHOUT.replace("import plot", "import figures"), PERF)

    def test_what_it_draws_with_is_no_program(self):
        self.refused("perf/plot.py", sys.executable, os.path.join(PERF, "figures.py"))

    def test_goes_on_in_the_python_of_debian(self):
        results = self.file(json.dumps(solve("jacobi")) + "\n")
        other = self.file('#!/bin/sh\n[ "$1" = -c ] || echo "$@"\n', "python3")
        os.chmod(other, 0o755)
        done = subprocess.run([sys.executable, "-c", WITHOUT, PERF, other, "--format", "svg", results],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, f"{os.path.realpath(PLOT)} --format svg {results}\n"), done)

    def test_files(self):
        self.refused("cannot read nowhere.jsonl: No such file", PLOT, "nowhere.jsonl")
        self.refused("cannot read .: Is a directory", PLOT, ".")
        for text, line in (("{}\n{\n", 2), ("5\n", 1), ("\n", 1), ("\udcff".encode("utf-8", "surrogateescape"), 1)):
            path = os.path.join(self.folder, "bad.jsonl")
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            self.refused(f"line {line} of {path}, counted from 1, is not an object in JSON", PLOT, path)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "needs matplotlib")
    def test_output(self):
        self.refused("nothing to draw in", PLOT, self.file("{}\n"))
        results = self.file(json.dumps(solve("jacobi")) + "\n")
        self.refused(f"cannot write {results}", PLOT, "--out", results, results)


@unittest.skipUnless(HAVE_MATPLOTLIB, "needs matplotlib")
class Figures(unittest.TestCase):

    def draw(self, *records):
        """{name: axes}"""
        import figures
        drawn = {name: figure for name, figure in figures.figures(list(records))}
        for figure in drawn.values():
            self.addCleanup(figures.plt.close, figure)
        return {name: figure.axes for name, figure in drawn.items()}

    def pixels(self, axes, colour):
        """How many of the axes have that colour, given as #rrggbb."""
        axes.figure.canvas.draw()
        picture = axes.figure.canvas.copy_from_bbox(axes.bbox)
        red, green, blue = bytes.fromhex(colour[1:])
        data = bytes(memoryview(picture))
        return sum(data[k:k + 3] == bytes((red, green, blue)) for k in range(0, len(data), 4))

    def labels(self, axes):
        return axes.get_legend_handles_labels()[1]

    def test_runs_that_did_not_converge(self):
        """Are hatched, beside their status and residual."""
        runs = [solve("ilu"), solve("jacobi", status="max_iterations", residual=0.25),
                solve("none", status="breakdown", residual=None, solve_seconds=None, total_seconds=None)]
        peers = [solve("petsc:ilu", library="PETSc 3.18", problem="jump:9", status="diverged", residual=7.0),
                 solve("ilu", problem="jump:9"), solve("ilu", problem="jump:9", partition="rows")]
        drawn = self.draw(*runs, *peers)
        self.assertEqual(self.labels(drawn["convergence-cavity:9"][0])[1:],
                         ["jacobi (max_iterations, residual 2.5e-01), same as ilu",
                          "none (breakdown, residual -), same as ilu"])
        for name, failures in (("breakdown-cavity:9", ["max_iterations, residual 2.5e-01",
                                                       "not measured, breakdown, residual -"]),
                               ("speedup-cavity:9", ["max_iterations, residual 2.5e-01", "breakdown, residual -"]),
                               ("peers-jump:9-1", ["0.12, diverged, residual 7.0e+00"])):
            axes = drawn[name][0]
            texts = [text.get_text() for text in axes.texts]
            self.assertEqual([text for text in texts if "residual" in text], failures, name)
            self.assertEqual(len(axes.get_yticklabels()), len(texts), name)
        names = [text.get_text().split(" (")[0] for text in drawn["peers-jump:9-1"][0].get_yticklabels()]
        self.assertEqual(sorted(names), ["ilu", "ilu, over ranks", "petsc:ilu"])
        hatched = [patch for patch in drawn["breakdown-cavity:9"][0].patches if patch.get_hatch()]
        self.assertEqual({round(patch.get_y() + patch.get_height() / 2) for patch in hatched}, {1, 2})

    def test_a_race(self):
        """All runs are lines, the fastest first in the legend; what was dropped ends in a cross and says so."""
        def runner(precond, seconds, **more):
            run = solve(precond, restart=30, race_began_seconds=0.0, race_ended_seconds=1.0, total_seconds=seconds, **more)
            return run | {"history_seconds": [0.02 + seconds * k / 10 for k in range(11)]}
        runs = [runner("slow", 0.9), runner("fast", 0.1), runner("dropped", 0.2, status="dropped", residual=0.25)]
        runs += [runner(f"other{k}", 0.3, status="dropped", residual=0.5 + k / 10) for k in range(4)]
        drawn = self.draw(*runs)
        self.assertEqual(list(drawn), ["race-cavity:9"])
        axes = drawn["race-cavity:9"][0]
        self.assertEqual(self.labels(axes)[:4], ["gmres(30) fast, 0.1 s", "gmres(30) slow, 0.9 s",
                                                 "gmres(30) dropped (dropped, residual 2.5e-01)",
                                                 "gmres(30) other0 (dropped, residual 5.0e-01)"])
        lines = [line for line in axes.lines if len(line.get_xdata()) == 12]
        self.assertEqual(len(lines), len(runs))
        for line in lines:
            self.assertEqual(line.get_xdata()[0], 0.02)  # behind the set-up
        ends = [line.get_marker() for line in axes.lines if len(line.get_xdata()) == 1]
        self.assertEqual((ends.count("o"), ends.count("x")), (2, 5))

    def test_best_of_several(self):
        """One that converged, however slow; of others the one with the smallest residual."""
        runs = [solve("petsc:ilu", library="PETSc", total_seconds=9.0, solve_seconds=8.98),
                solve("petsc:ilu", library="PETSc", status="diverged", total_seconds=0.1),
                solve("hypre:ilu", library="hypre", status="max_iterations", residual=0.5),
                solve("hypre:ilu", library="hypre", status="max_iterations", residual=0.125)]
        texts = [text.get_text() for text in self.draw(*runs)["peers-cavity:9-1"][0].texts]
        self.assertEqual(texts, ["9", "0.12, max_iterations, residual 1.2e-01"])

    def test_sizes_that_did_not_converge(self):
        runs = [solve("ilu", problem=f"laplace7:{n}", rows=n ** 3, solve_seconds=1e-6 * n ** 3,
                      status="converged" if n < 8 else "max_iterations") for n in (2, 4, 8)]
        for axes in self.draw(*runs)["scaling-laplace7"]:
            failed = next(line for line in axes.lines if line.get_label() == "did not converge")
            self.assertEqual(list(failed.get_xdata()), [512])

    def test_two_sizes_are_no_scaling(self):
        runs = [solve("ilu", problem=f"laplace7:{n}", rows=n ** 3) for n in (2, 4)]
        self.assertNotIn("scaling-laplace7", self.draw(*runs))

    def test_curves_that_coincide(self):
        """Take turns in dashes, so that the colour of each is seen; others stay as they are."""
        runs = [solve(name) for name in "abc"] + [solve("d", iterations=20)]
        half = [*runs[0]["history"][:7], *(1e-6 for _ in range(4))]
        axes = self.draw(*runs, solve("e", history=half))["convergence-cavity:9"][0]
        self.assertEqual(self.labels(axes), ["a", "b, same as a", "c, same as a", "d", "e, partly same as a"])
        dashed = [line for line in axes.lines[:5] if line.is_dashed()]
        self.assertEqual([line.get_label()[0] for line in dashed], ["a", "b", "c", "e"])
        self.assertTrue(all(self.pixels(axes, line.get_color()) > 50 for line in axes.lines[:5]))


if __name__ == "__main__":
    unittest.main()
