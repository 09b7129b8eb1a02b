#!/usr/bin/env python3
"""Markdown tables from the JSON lines of ainvil-peers: perf/peers_table.py RESULTS.jsonl...

A table a problem: iterations, set-up, and set-up and solve together, in seconds, and these over those of
the fastest of Ainvil with as many cores. Of several runs the fastest set-up and solve
count. The number of cores is that of ranks times threads.
"""
import sys

from records import besides, fail, head, known, number, plus, ratio, read, row, solves


def cores(run):
    return run["ranks"] * run["threads"]


def key(run):
    return run["problem"], f"`{run['precond']}`{besides(run)}", cores(run)


def fastest(runs):
    best = {}
    for run in runs:
        old = best.setdefault(key(run), dict(run))
        for name in ("setup_total_seconds", "solve_seconds"):
            if run[name] is not None and (old[name] is None or run[name] < old[name]):
                old[name] = run[name]
    return best


def total(run):
    return plus(run["setup_total_seconds"], run["solve_seconds"])


def cells(run, ours):
    if run is None:
        return ["", "", "", ""]
    if run["status"] != "converged":
        return [run["status"], number(run["setup_total_seconds"]), "", ""]
    return [run["iterations"], number(run["setup_total_seconds"]), number(total(run)),
            number(ratio(total(run), ours), ".2f")]


def show(runs):
    """A table a problem."""
    best = fastest(runs)
    for problem in dict.fromkeys(run["problem"] for run in runs):
        part = {k: run for k, run in best.items() if k[0] == problem}
        counts = sorted({k[2] for k in part})
        first = next(iter(part.values()))
        commits = ", ".join(sorted({run["git"] for run in part.values()}))
        print(f"\n**{problem}**: {first['rows']} rows, {first['nnz'] // first['block_size'] ** 2} blocks "
              f"of size {first['block_size']}, {first['solver']}"
              f"{'(%d)' % first['restart'] if first['solver'] == 'gmres' else ''}, tolerance "
              f"{first['tolerance']:g}; {first['device']}, commit {commits}\n")
        titles = ["", "iterations", "set-up, s", "total, s", "/ ours"]
        columns = titles[:1]
        for count in counts:
            clock = {run["clock"] for k, run in part.items() if k[2] == count}
            what = f"{count} core{'s' if count > 1 else ''}{', processor' if 'cpu' in clock else ''}"
            columns += [f"iterations, {what}", *titles[2:]]
        print(head(columns))
        ours = {}
        for count in counts:
            ours[count] = min(known(total(run) for k, run in part.items() if k[2] == count and
                                    run["library"] == "Ainvil" and run["status"] == "converged"), default=None)
        for name in dict.fromkeys(k[1] for k in part):
            line = [name]
            for count in counts:
                line += cells(part.get((problem, name, count)), ours[count])
            print(row(line))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    runs = solves(read(*sys.argv[1:]))
    if not runs:
        fail(f"no line of {' '.join(sys.argv[1:])} is of ainvil-peers")
    show(runs)


if __name__ == "__main__":
    main()
