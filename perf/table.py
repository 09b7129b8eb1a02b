#!/usr/bin/env python3
"""Markdown tables from the JSON lines of ainvil-solve: perf/table.py RESULTS.jsonl..."""
import sys

from records import fail, head, iterations, machine, ms, number, phases, ratio, read, row, solves

TITLES = ["strategy", "iterations", "symbolic, ms", "levels, ms", "pattern, ms", "ILU, ms", "ISAI, ms", "set-up, ms",
          "recompute, ms", "30 applications, ms", "TB/s", "solve, ms", "us/iteration", "total, ms", "speed-up"]


def exact_of(runs, problem):
    """The run that the others of a problem are compared with."""
    return next((run for run in runs if run["problem"] == problem
                 and run["precond"] == "ilu:solve=exact"), None)


def cells(run, exact):
    # What one application must move: the factors once, and x, y of both products.
    bytes_moved = run["factor_bytes"] + 6 * 8 * run["rows"]
    return [
        run["precond"].replace("ilu:solve=", ""),
        iterations(run),
        ms(phases(run, "symbolic")),
        ms(phases(run, "levels")),
        ms(phases(run, "pattern")),
        ms(phases(run, "numeric", "convert")),
        ms(phases(run, "isai_solve", "probe")),
        ms(run["setup_total_seconds"]),
        ms(run["recompute_seconds"]),
        ms(run["apply30_seconds"]),
        number(ratio(30 * bytes_moved, run["apply30_seconds"]), ".2f", 1e12),
        ms(run["solve_seconds"]),
        number(ratio(run["solve_seconds"], max(run["iterations"], 1)), ".0f", 1e-6),
        ms(run["total_seconds"]),
        number(ratio(exact["total_seconds"], run["total_seconds"]), ".1f") if exact else "",
    ]


def system(run):
    blocks = run["nnz"] // run["block_size"] ** 2
    return (f"{run['rows']} rows, {blocks} blocks of size {run['block_size']}, "
            f"tolerance {run['tolerance']:g}")


def show(runs):
    """A table a problem."""
    seen = []
    for run in runs:
        if run["problem"] not in seen:
            seen.append(run["problem"])
            print(f"\n**{run['problem']}**: {system(run)}; {machine(run)}\n")
            print(head(TITLES))
        print(row(cells(run, exact_of(runs, run["problem"]))))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    runs = solves(read(*sys.argv[1:]))
    if not runs:
        fail(f"no line of {' '.join(sys.argv[1:])} is of ainvil-solve, ainvil-solve-mpi or ainvil-peers")
    show(runs)


if __name__ == "__main__":
    main()
