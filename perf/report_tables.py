"""Tables of perf/report.py that no other script prints. Each function takes the records of its files and prints
Markdown; what the columns mean says the page's template."""
import host_and_gpu_table
from records import having, head, iterations, known, ms, number, phases, ratio, row, smallest, times

STORAGES = ("double", "float", "bfloat16")
PRODUCTS = {"spmv": "double", "spmv-float": "float", "spmv-bfloat16": "bfloat16", "kokkos-kernels": "Kokkos Kernels",
            "cusparse": "cuSPARSE"}


def us(seconds):
    return number(seconds, ".3g", 1e-6)


def distinct(records, *keys):
    """The values under the keys, each once, in their order."""
    return list(dict.fromkeys(tuple(record[key] for key in keys) for record in records))


def fastest(records, key, **where):
    """The record with the smallest figure under the key; the first where none has one, None where there is none."""
    found = having(records, **where)
    return smallest(found, key) or next(iter(found), None)


def cell(record, text):
    """Empty where there is no record."""
    return text(record) if record else ""


def blocks(record):
    return f", blocks of {record['block_size']}" if record["block_size"] > 1 else ""


def products(records):
    print(head(["problem", "MB", *PRODUCTS.values()]))
    for problem, in distinct(records, "problem"):
        runs = {method: fastest(records, "seconds", problem=problem, method=method) for method in PRODUCTS}
        cells = [cell(run, lambda r: us(r["seconds"])) for run in runs.values()]
        ours = runs["spmv"]
        if ours and ours["share_of_copy"] is not None:
            cells[0] += f" ({number(ours['share_of_copy'], '.0f', 0.01)} %)"
        print(row([problem + blocks(having(records, problem=problem)[0]),
                   cell(ours, lambda r: number(r["bytes"], ".3g", 1e6)), *cells]))


def patterns(records):
    methods = {"patterns": "ours", "kokkos-kernels-symbolic": "SpGEMM, symbolic", "kokkos-kernels": "with entries"}
    print(head(["problem", "power", "entries", "floor", *methods.values(), "symbolic over ours", "both over ours"]))
    for problem, power in distinct(records, "problem", "power"):
        runs = [fastest(records, "seconds", problem=problem, power=power, method=method) for method in methods]
        ours, *peers = (run and run["seconds"] for run in runs)
        print(row([problem + blocks(having(records, problem=problem)[0]), power, runs[0]["pattern_entries"],
                   ms(ratio(runs[0]["bytes"], runs[0]["copy_bytes_per_second"])), *map(ms, (ours, *peers)),
                   *(number(ratio(peer, ours), ".3g") for peer in peers)]))


def threads(records):
    """A row a phase that takes a thirtieth of the whole or more: milliseconds of one thread, and the gain of more."""
    counts = sorted({record["threads"] for record in records})
    print(head(["problem", "preconditioner", "phase", "1 thread, ms", *(f"{n} threads" for n in counts[1:])], left=3))
    for problem, precond in distinct(records, "problem", "precond"):
        runs = [fastest(records, "total_seconds", problem=problem, precond=precond, threads=n) for n in counts]
        phases = [host_and_gpu_table.times(run) if run else {} for run in runs]
        for phase, seconds in phases[0].items():
            if (ratio(seconds, phases[0].get("total")) or 0) < 1 / 30:
                continue
            print(row([problem, precond, phase, ms(seconds),
                       *(number(ratio(seconds, more.get(phase)), ".2g") for more in phases[1:])]))


def factors(records):
    """ILU(0); a column a number of sweeps."""
    counts = sorted({record["sweeps"] for record in records if record["method"] == "sweeps"})
    print(head(["problem", "levels", *(f"{n} sweep{'s' if n > 1 else ''}" for n in counts), "residual after them",
                "cuSPARSE"]))

    def both(record):
        return f"{ms(record['numeric_seconds'])} ({ms(record['setup_seconds'])})"

    for problem, in distinct(records, "problem"):
        of = having(records, problem=problem)
        swept = [fastest(of, "numeric_seconds", method="sweeps", sweeps=n) for n in counts]
        print(row([problem + blocks(of[0]), cell(fastest(of, "numeric_seconds", method="levels"), both),
                   *(cell(run, lambda r: ms(r["numeric_seconds"])) for run in swept),
                   ", ".join(number(run["residual"], ".0e") for run in swept if run),
                   cell(fastest(of, "numeric_seconds", method="cusparse"), both)]))


def base(run):
    """The preconditioner without its storage."""
    return run["precond"].split(",storage=")[0]


def storage_of(run):
    return run["precond"].partition(",storage=")[2] or "double"


def storage(records):
    print(head(["problem", "inverses", *(f"us an application, {s}" for s in STORAGES),
                *(f"iterations, {s}" for s in STORAGES), *(f"total ms, {s}" for s in STORAGES)], left=2))
    for problem, in distinct(records, "problem"):
        of = having(records, problem=problem)
        for what in dict.fromkeys(map(base, of)):
            runs = [fastest([run for run in of if (base(run), storage_of(run)) == (what, s)], "total_seconds")
                    for s in STORAGES]
            if len(known(runs)) > 1:
                print(row([problem, what.removeprefix("ilu:solve="),
                           *(cell(run, lambda r: us(times(1 / 30, r["apply30_seconds"]))) for run in runs),
                           *(cell(run, iterations) for run in runs),
                           *(cell(run, lambda r: ms(r["total_seconds"])) for run in runs)]))


def an_iteration(run):
    return us(ratio(run["solve_seconds"], run["iterations"]))


def bases(in_double, in_float):
    """The same preconditioners with GMRES's basis in double and in float."""
    print(head(["problem", "inverses", "us an iteration, double", "float", "iterations, double", "float"], left=2))
    for key in distinct(in_double, "problem", "precond"):
        runs = [fastest(records, "total_seconds", problem=key[0], precond=key[1]) for records in (in_double, in_float)]
        if all(runs):
            print(row([key[0], key[1].removeprefix("ilu:solve="), *map(an_iteration, runs), *map(iterations, runs)]))


def totals(records):
    """Set-up and solve, a column a preconditioner."""
    columns = list(dict.fromkeys(record["precond"] for record in records))
    print(head(["problem", *(column.removeprefix("ilu:solve=") for column in columns)]))
    for problem, in distinct(records, "problem"):
        runs = [fastest(records, "total_seconds", problem=problem, precond=column) for column in columns]
        print(row([problem, *(cell(run, lambda r: f"{ms(r['total_seconds'])} ({iterations(r)})") for run in runs)]))


def setups(on_device, on_host, method):
    """The fastest set-ups of a method, phase by phase, and those of the cores of the host."""
    runs = [record for record in on_device if record["precond"].startswith(method)]
    names = list(dict.fromkeys(phase for run in runs for phase in run["setup_seconds"]))
    print(head(["problem", "preconditioner", "rows", "notes", "iterations", *names, "set-up", "solve",
                "set-up on the host", "ratio"], left=2))
    for problem, precond in distinct(runs, "problem", "precond"):
        run = fastest(runs, "setup_total_seconds", problem=problem, precond=precond)
        host = fastest(on_host, "setup_total_seconds", problem=problem, precond=precond)
        seconds = host["setup_total_seconds"] if host else None
        print(row([problem, precond.removeprefix(method).lstrip(":") or "defaults", run["rows"], run["notes"],
                   iterations(run), *(ms(run["setup_seconds"].get(name)) for name in names),
                   ms(run["setup_total_seconds"]), ms(run["solve_seconds"]), ms(seconds),
                   number(ratio(seconds, run["setup_total_seconds"]), ".2g")]))


def growth(records):
    print(head(["problem", "preconditioner", "rows", "set-up, ms", "iterations", "us an iteration",
                "ns an iteration and row", "bytes a row"], left=2))
    for run in records:
        each = ratio(run["solve_seconds"], run["iterations"])
        print(row([run["problem"], run["precond"], run["rows"], ms(run["setup_total_seconds"]), iterations(run), us(each),
                   number(ratio(each, run["rows"]), ".2g", 1e-9), number(ratio(run["peak_bytes"], run["rows"]), ".0f")]))


def solved(records):
    """A row a preconditioner of a problem."""
    print(head(["problem", "preconditioner", "iterations", "set-up, ms", "solve, ms", "total, ms"], left=2))
    for run in records:
        print(row([run["problem"], run["precond"], iterations(run),
                   *(ms(run[f"{what}_seconds"]) for what in ("setup_total", "solve", "total"))]))
