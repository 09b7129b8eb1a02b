"""The JSON lines of our programs, and Markdown tables of them: what the scripts of this folder share.

A figure may be missing (null) and a time may be 0, see perf/records.schema.json. So scripts do not format or divide
figures themselves: number() writes a dash for one that is missing, and a ratio() or plus() of such is missing, too.
An empty cell has nothing to tell.
"""
import json
import os
import sys

MISSING = "-"
NO_MATPLOTLIB = (f"needs Matplotlib, which {sys.executable} does not have: apt-get install python3-matplotlib, "
                 "or pip install matplotlib")
HOSTS = ("OpenMP", "Serial", "Threads")  # execution spaces that are not of a GPU


def fail(sentence):
    """Ends the script."""
    sys.exit(f"{os.path.basename(sys.argv[0])}: {sentence}")


def parsed(line):
    """The object that a line of bytes is in JSON, or None."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def read(*paths):
    records = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                lines = file.readlines()
        except OSError as error:
            fail(f"cannot read {path}: {error.strerror}")
        found = [parsed(line) for line in lines]
        if None in found:
            fail(f"line {found.index(None) + 1} of {path}, counted from 1, is not an object in JSON; "
                 "our programs write such files with --json FILE")
        records += found
    return records


def stored(folder, name):
    """The records of FOLDER/NAME.jsonl, none where there is no such file."""
    path = os.path.join(folder, f"{name}.jsonl")
    return read(path) if os.path.exists(path) else []


def solves(records):
    """Those of a preconditioner on a system."""
    return [record for record in records if "precond" in record and "solve_seconds" in record]


def besides(run):
    """What tells runs of one preconditioner on one problem apart, behind its name: in ainvil-solve-mpi it has
    ranks where it has threads in ainvil-peers."""
    words = []
    if "partition" in run:
        words.append("over ranks")
        if run.get("format") == "blocks":
            words.append("in blocks")
    if run.get("basis") == "float" and run.get("precision") == "double" and "gmres" in run["solver"]:
        words.append("basis in float")
    return "".join(", " + word for word in words)


def write(path, records):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(titles, left=1):
    """Titles and the line below them; all but the first `left` columns are flush right."""
    return row(titles) + "\n" + "|---" * left + "|--:" * (len(titles) - left) + "|"


def number(value, form=".3g", unit=1):
    """A multiple of the unit as text."""
    return MISSING if value is None else format(value if unit == 1 else value / unit, form)


def ms(seconds):
    return number(seconds, ".4g", 1e-3)


def ratio(over, under):
    """Missing where one of them is, and where the denominator is 0."""
    return over / under if over is not None and under else None


def plus(*values):
    """The sum; missing where one of them is."""
    return None if None in values else sum(values)


def times(factor, value):
    return None if value is None else factor * value


def at_most(value, bound):
    """False where one of them is missing."""
    return value is not None and bound is not None and value <= bound


def known(values):
    return [value for value in values if value is not None]


def having(records, **where):
    """Those with the given values."""
    return [record for record in records if all(record[key] == value for key, value in where.items())]


def smallest(records, key):
    """The record with the smallest figure under a key among those that have one; None if none has."""
    return min((record for record in records if record[key] is not None), key=lambda record: record[key], default=None)


def iterations(run):
    """Their number, or why there is none."""
    return number(run["iterations"], ".7g") if run["status"] == "converged" else run["status"]


def phases(run, *words):
    """Seconds of the phases of the set-up whose name has one of the words."""
    return sum(seconds for name, seconds in run["setup_seconds"].items()
               if any(word in name for word in words))


def machine(run):
    return (f"{run['exec_space']} on {run['device']}, {run['threads']} host threads, Kokkos "
            f"{run['kokkos_version']}, commit {run['git']}")
