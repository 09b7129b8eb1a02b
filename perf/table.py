#!/usr/bin/env python3
"""Markdown tables from the JSON lines of ainvil-solve: perf/table.py RESULTS.jsonl..."""
import sys

from records import head, iterations, machine, ms, phases, read, row

TITLES = ["strategy", "iterations", "symbolic", "levels", "pattern", "ILU", "ISAI", "setup",
          "recompute", "T_p", "TB/s", "solve", "us/it", "total", "speed-up"]


def exact_of(runs, problem):
    """The run that the others of a problem are compared with."""
    return next((run for run in runs if run["problem"] == problem
                 and run["precond"] == "ilu:solve=exact" and "total_seconds" in run), None)


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
        ms(run.get("recompute_seconds")),
        ms(run["apply30_seconds"]),
        f"{30e-12 * bytes_moved / run['apply30_seconds']:.2f}",
        ms(run["solve_seconds"]),
        f"{1e6 * run['solve_seconds'] / max(run['iterations'], 1):.0f}",
        ms(run["total_seconds"]),
        f"{exact['total_seconds'] / run['total_seconds']:.1f}" if exact else "",
    ]


def system(run):
    blocks = run["nnz"] // run["block_size"] ** 2
    return (f"{run['rows']} rows, {blocks} blocks of size {run['block_size']}, "
            f"tolerance {run['tolerance']:g}")


def main():
    runs = read(*sys.argv[1:])
    seen = []
    for run in runs:
        if "iterations" not in run:
            continue
        if run["problem"] not in seen:
            seen.append(run["problem"])
            print(f"\n**{run['problem']}**: {system(run)}; {machine(run)}\n")
            print(head(TITLES))
        print(row(cells(run, exact_of(runs, run["problem"]))))


if __name__ == "__main__":
    main()
