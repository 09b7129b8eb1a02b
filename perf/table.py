#!/usr/bin/env python3
"""Markdown tables from the JSON lines of ainvil-solve: perf/table.py RESULTS.jsonl..."""
import json
import sys


def milliseconds(seconds):
    return "" if seconds is None else f"{1e3 * seconds:.4g}"


def row(run, exact):
    phases = run["setup_seconds"]

    def phase(*words):
        return milliseconds(sum(s for name, s in phases.items() if any(w in name for w in words)))

    # What one application must move: the factors once, and x, y of both products.
    bytes_moved = run["factor_bytes"] + 6 * 8 * run["rows"]
    cells = [
        run["precond"].replace("ilu:solve=", ""),
        run["iterations"] if run["status"] == "converged" else run["status"],
        phase("symbolic"),
        phase("levels"),
        phase("pattern"),
        phase("numeric", "convert"),
        phase("isai_solve", "probe"),
        milliseconds(run["setup_total_seconds"]),
        milliseconds(run.get("recompute_seconds")),
        milliseconds(run["apply30_seconds"]),
        f"{30e-12 * bytes_moved / run['apply30_seconds']:.2f}",
        milliseconds(run["solve_seconds"]),
        f"{1e6 * run['solve_seconds'] / max(run['iterations'], 1):.0f}",
        milliseconds(run["total_seconds"]),
        f"{exact['total_seconds'] / run['total_seconds']:.1f}" if exact else "",
    ]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main():
    runs = []
    for path in sys.argv[1:]:
        with open(path) as lines:
            runs += [json.loads(line) for line in lines]
    titles = ["strategy", "iterations", "symbolic", "levels", "pattern", "ILU", "ISAI", "setup",
              "recompute", "T_p", "TB/s", "solve", "us/it", "total", "speed-up"]
    seen = []
    for run in runs:
        if "iterations" not in run:
            continue
        if run["problem"] not in seen:
            seen.append(run["problem"])
            blocks = run["nnz"] // run["block_size"] ** 2
            print(f"\n**{run['problem']}**: {run['rows']} rows, {blocks} blocks of size "
                  f"{run['block_size']}, tolerance {run['tolerance']:g}; {run['exec_space']} on "
                  f"{run['device']}, {run['threads']} host threads, Kokkos "
                  f"{run['kokkos_version']}, commit {run['git']}\n")
            print("| " + " | ".join(titles) + " |\n|---" + "|--:" * (len(titles) - 1) + "|")
        exact = next((r for r in runs if r["problem"] == run["problem"]
                      and r["precond"] == "ilu:solve=exact" and "total_seconds" in r), None)
        print(row(run, exact))


main()
