#!/usr/bin/env python3
"""Densities and iterations of FSAI against Jacobi, as a Markdown table:
perf/fsai_table.py EXECUTABLE [--matrices FOLDER] [--settings TAU/POWER/FILTER,...] [--rhs RHS]
                  [--json FILE] PROBLEM... [-- OPTION...]

EXECUTABLE is ainvil-solve. A problem is one of the gallery, or the name of a matrix NAME.mtx.gz in
the folder. What follows -- goes to ainvil-solve. A cell tells the density
nnz(G) / nnz(A) before and after the filter, the iterations, and their share of Jacobi's.
"""
import argparse
import json
import re
import subprocess
import sys

from records import fail, head, iterations, number, ratio, row, write

SETTINGS = "0.01/1/0,0.01/2/0.05,0.01/3/0.05,0.01/3/0.03,0.01/3/0.01,0.05/3/0.05"


def solve(executable, source, preconds, options):
    command = [executable, *source, "--solver", "cg", "--tol", "1e-8", "--max-iters", "20000",
               "--json", "-", "--quiet", *options]
    for precond in preconds:
        command += ["--precond", precond]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3):  # 3: a run did not converge, which the table tells
        fail(f"exit code {done.returncode} of {' '.join(command)}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def note(run, name):
    found = re.search(name + r"=([0-9.e+-]+)", run["notes"])
    return f"{float(found.group(1)):.2f}" if found else ""


def cell(run, jacobi):
    text = note(run, "density")
    if "filtered" in run["notes"]:
        text += " to " + note(run, "filtered")
    text += ": " + iterations(run)
    if run["status"] == jacobi["status"] == "converged":
        text += f" ({number(ratio(run['iterations'], jacobi['iterations']), '.0f', 0.01)} %)"
    return text


def cells(problem, records):
    """Of a row; the first record is that of Jacobi."""
    jacobi, *runs = records
    return [problem, jacobi["rows"], jacobi["nnz"], iterations(jacobi),
            *(cell(run, jacobi) for run in runs)]


def titles(settings):
    return ["problem", "rows", "entries", "Jacobi", *settings.split(",")]


def main():
    arguments = sys.argv[1:]
    options = []
    if "--" in arguments:
        options = arguments[arguments.index("--") + 1:]
        arguments = arguments[:arguments.index("--")]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("executable")
    parser.add_argument("problems", nargs="+")
    parser.add_argument("--matrices", default="../shared/matrices")
    parser.add_argument("--settings", default=SETTINGS)
    parser.add_argument("--rhs", default="rowsum")
    parser.add_argument("--json", help="the lines of ainvil-solve")
    given = parser.parse_args(arguments)
    options += ["--rhs", given.rhs]
    settings = [setting.split("/") for setting in given.settings.split(",")]
    preconds = [f"fsai:tau={tau},power={power},filter={filter_}"
                for tau, power, filter_ in settings]
    print(head(titles(given.settings)))
    lines = []
    for problem in given.problems:
        source = (["--problem", problem] if ":" in problem
                  else ["--matrix", f"{given.matrices}/{problem}.mtx.gz"])
        records = solve(given.executable, source, ["jacobi", *preconds], options)
        lines += records
        print(row(cells(problem, records)), flush=True)
    if given.json:
        write(given.json, lines)


if __name__ == "__main__":
    main()
