#!/usr/bin/env python3
"""From which size on a GPU pays, as a Markdown table of what perf/host_and_gpu.sh measured:
perf/host_and_gpu_table.py FOLDER

A row a phase of a method: the fewest rows from which on the device is faster at all sizes, and how many times
faster it is (below 1: slower) at each.
"""
import sys

from records import head, number, ratio, read, row


def times(run):
    """Seconds a phase; those of the set-up carry its names in the JSON."""
    phases = {f"set-up: {name}": seconds for name, seconds in run["setup_seconds"].items()}
    phases["set-up"] = run["setup_total_seconds"]
    phases["second compute"] = run["recompute_seconds"]
    phases["30 applications"] = run["apply30_seconds"]
    phases["solve"] = run["solve_seconds"]
    phases["total"] = run["total_seconds"]
    return phases


def show(on_device, on_host):
    """Both as ainvil-solve wrote them, in the same order, sizes ascending."""
    methods = {}
    for device, host in zip(on_device, on_host):
        key = device["problem"].split(":")[0], device["precond"]
        methods.setdefault(key, []).append((device["rows"], times(device), times(host)))
    for (problem, precond), sizes in methods.items():
        rows = [str(n) for n, _, _ in sizes]
        print(f"\n**{problem}, {precond}**: time on {on_host[0]['threads']} host threads over that on "
              f"{on_device[0]['device']}\n")
        print(head(["phase", "pays from", *(f"{n} rows" for n in rows)]))
        for phase in sizes[-1][1]:
            ratios = [ratio(host.get(phase), device.get(phase)) for _, device, host in sizes]
            first = len(ratios)
            while first > 0 and ratios[first - 1] is not None and ratios[first - 1] > 1:
                first -= 1
            pays = rows[first] if first < len(rows) else "never here"
            print(row([phase, pays, *(number(value, ".2g") for value in ratios)]))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    show(*(read(f"{sys.argv[1]}/{name}.jsonl") for name in ("on-device", "on-host")))


if __name__ == "__main__":
    main()
