#!/usr/bin/env python3
"""Figures from the JSON lines of the executables:
perf/plot.py [--format png|svg] [--out FOLDER] RESULTS.jsonl...

What can be drawn is drawn, a file a figure:
  convergence-PROBLEM  relative residual against iterations (--json-history of ainvil-solve)
  race-PROBLEM         residual against seconds of all that --recommend has run (with --json-history)
  breakdown-PROBLEM    phases of the set-up and the solve, a bar a preconditioner
  speedup-PROBLEM      time to solution of a reference over that of each preconditioner
  scaling-FAMILY       set-up and solve against rows, where a preconditioner solves three sizes
  peers-PROBLEM        time to solution beside other libraries (ainvil-peers)
  residuals-PROBLEM    residual after each sweep (ainvil-triangular-sweeps residuals)
  solve-PROBLEM        iterations and time against sweeps (ainvil-triangular-sweeps solve)
  cholesky             GFLOP/s against the size (ainvil-batched-cholesky)

Runs that did not converge are hatched or hollow, with their status and residual. Curves that coincide take turns
in dashes, and the legend names the one that they cover.

Needs Matplotlib: apt-get install python3-matplotlib, which is for /usr/bin/python3, or pip install matplotlib.
"""
import argparse
import importlib.util
import os
import subprocess
import sys

from records import NO_MATPLOTLIB, fail, read

DEBIAN = "/usr/bin/python3"  # has Debian's Matplotlib, which another python3 in PATH does not see


def require_matplotlib():
    """Goes on in Debian's Python where that one has it and this one does not."""
    if importlib.util.find_spec("matplotlib"):
        return
    if os.path.exists(DEBIAN) and not os.path.samefile(sys.executable, DEBIAN):
        other = subprocess.run([DEBIAN, "-c", "import matplotlib"], stderr=subprocess.DEVNULL, check=False)
        if other.returncode == 0:
            os.execv(DEBIAN, [DEBIAN, os.path.abspath(__file__), *sys.argv[1:]])
    fail(NO_MATPLOTLIB)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    parser.add_argument("--out", default=".", help="folder for the figures")
    parser.add_argument("jsonl", nargs="+")
    given = parser.parse_args()
    results = [read(path) for path in given.jsonl]
    require_matplotlib()
    import drawing
    import figures
    try:
        os.makedirs(given.out, exist_ok=True)
        # A figure a file of results: the same problem may occur in several.
        names = set()
        for records in results:
            for what, figure in figures.figures(records):
                kind, _, problem = what.partition("-")
                safe = "".join(c if c.isalnum() or c in ".-" else "-" for c in os.path.basename(problem))
                name = f"{kind}-{safe}" if problem else kind
                while name in names:
                    name += "-again"
                names.add(name)
                target = os.path.join(given.out, f"{name}.{given.format}")
                drawing.save(figure, target)
                print(target, flush=True)
    except OSError as error:
        fail(f"cannot write {error.filename or given.out}: {error.strerror}")
    if not names:
        fail("nothing to draw in " + " ".join(given.jsonl))


if __name__ == "__main__":
    main()
