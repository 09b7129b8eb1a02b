#!/usr/bin/env python3
"""Figures from the CSVs of ainvil-triangular-sweeps residuals and solve:
perf/plot_sweeps.py [--format png|svg] [--out FOLDER] RESULTS.csv...

A figure a problem: residuals-PROBLEM shows the residual after each sweep, with the standard
deviation of asynchronous runs as a band; solve-PROBLEM the iterations and the time to solution
against the number of sweeps, with exact triangular solves as a line.
"""
import argparse
import csv
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

COLOURS = {"jacobi": "#0072B2", "async": "#D55E00", "async-against": "#009E73",
           "factor": "#AA4499", "exact": "#333333"}
LABELS = {"jacobi": "Jacobi", "async": "asynchronous, along the dependencies",
          "async-against": "asynchronous, against them",
          "factor": "ILU by sweeps, exact solves", "exact": "exact ILU and solves"}
MARKERS = {"jacobi": "o", "async": "s", "async-against": "^", "factor": "D"}
FLOOR = 1e-17  # residuals below, zero included, are drawn here


def number(text):
    return float(text) if text else float("nan")


def curve(axes, method, rows, x, y, scale=1.0):
    rows = sorted(rows, key=lambda row: int(row[x]))
    axes.plot([int(row[x]) for row in rows], [max(scale * number(row[y]), FLOOR) for row in rows],
              color=COLOURS[method], marker=MARKERS[method], markersize=4, linewidth=1.4,
              linestyle=":" if method == "async-against" else "-", label=LABELS[method])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def draw_residuals(figure, rows):
    panels = figure.subplots(1, 2, sharey=True)
    for axes, factor in zip(panels, ("lower", "upper")):
        for method in ("jacobi", "async", "async-against"):
            part = [row for row in rows if (row["factor"], row["method"]) == (factor, method)]
            if not part:
                continue
            curve(axes, method, part, "sweep", "residual_mean")
            part.sort(key=lambda row: int(row["sweep"]))
            mean = [number(row["residual_mean"]) for row in part]
            std = [number(row["residual_std"]) for row in part]
            axes.fill_between([int(row["sweep"]) for row in part],
                              [max(m - s, FLOOR) for m, s in zip(mean, std)],
                              [max(m + s, FLOOR) for m, s in zip(mean, std)],
                              color=COLOURS[method], alpha=0.2, linewidth=0)
            axes.set_title(f"{'L' if factor == 'lower' else 'U'} x = 1, {part[0]['levels']} levels")
        axes.set_yscale("log")
        axes.set_xlabel("sweeps")
        axes.grid(True, which="major", alpha=0.3)
    panels[0].set_ylabel("relative residual")
    return panels


def draw_solve(figure, rows):
    panels = figure.subplots(1, 2)
    rows = [row for row in rows if row["status"] == "converged"]
    exact = [row for row in rows if (row["method"], row["factor_sweeps"]) == ("exact", "0")]
    for axes, quantity, scale in zip(panels, ("iterations", "total_seconds"), (1.0, 1e3)):
        for method in ("jacobi", "async"):
            part = [row for row in rows if row["method"] == method]
            curve(axes, method, part, "sweeps", quantity, scale)
        by_sweeps = [row for row in rows if row["factor_sweeps"] != "0"]
        curve(axes, "factor", by_sweeps, "factor_sweeps", quantity, scale)
        for row in exact:
            axes.axhline(scale * number(row[quantity]), color=COLOURS["exact"], linestyle="--",
                         linewidth=1.4, label=LABELS["exact"])
        axes.set_xlabel("sweeps")
        axes.set_ylim(bottom=0)
        axes.grid(True, alpha=0.3)
    panels[0].set_ylabel("FGMRES iterations")
    panels[1].set_ylabel("setup and solve, ms")
    times = [number(row["total_seconds"]) for row in rows]
    if times and max(times) > 20 * min(times):
        panels[1].set_yscale("log")
        panels[1].set_ylim(auto=True)
    return panels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--format", choices=("png", "svg"), default="png")
    parser.add_argument("--out", default=".", help="folder for the figures")
    parser.add_argument("csv", nargs="+")
    options = parser.parse_args()
    for path in options.csv:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        if rows and "residual_mean" in rows[0]:
            kind, draw = "residuals", draw_residuals
        elif rows and "iterations" in rows[0]:
            kind, draw = "solve", draw_solve
        else:
            parser.error(f"{path} holds no results of residuals or solve")
        for problem in dict.fromkeys(row["problem"] for row in rows):
            part = [row for row in rows if row["problem"] == problem]
            figure = plt.figure(figsize=(9, 4.4))
            panels = draw(figure, part)
            handles, labels = panels[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="lower center", ncol=2, frameon=False)
            figure.subplots_adjust(left=0.09, right=0.98, bottom=0.27, top=0.86, wspace=0.22)
            figure.suptitle(f"{problem} on {part[0]['device']}")
            safe = "".join(c if c.isalnum() or c in ".-" else "-" for c in os.path.basename(problem))
            name = os.path.join(options.out, f"{kind}-{safe}.{options.format}")
            figure.savefig(name, dpi=150)
            plt.close(figure)
            print(name)


main()
