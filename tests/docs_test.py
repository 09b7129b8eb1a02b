#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The documents against the repository and the programs: links, names of files, options, commands,
parameters.

usage: docs_test.py SOURCE_FOLDER PATH/TO/ainvil-solve... [unittest options]

The executables are those whose --help counts, ainvil-solve the one that runs commands. Options of
ainvil-solve-mpi are taken from its sources where it was not built.
"""

import functools
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

SOURCE = ""
EXECUTABLES = {}  # name: path

FOLDERS = "cmake|core|docs|partition|perf|precond|recommend|scripts|solvers|tests"
# Of other programs, in inline code.
OTHER_OPTIONS = {"--help", "--tool", "--bind-to"}
# Pages of measurements have commands with placeholders and of commits long ago.
RECORDS = "docs/results/"

MATRIX = """%%MatrixMarket matrix coordinate real general
6 6 16
1 1 4\n1 2 -1\n2 1 -1\n2 2 4\n2 3 -1\n3 2 -1\n3 3 4\n3 4 -1\n4 3 -1\n4 4 4\n4 5 -1\n5 4 -1\n5 5 4
5 6 -1\n6 5 -1\n6 6 4
"""
# Beginnings of what docs/parameters.md says of a key, and other keys without which it has no effect.
NEEDS = {"`relax=auto`": "solve=isai,relax=auto,", "`fallback=exact`": "solve=isai,relax=auto,", "`isai`": "solve=isai,", "`async`": "solve=async,",
         "`jacobi`, `async`": "solve=jacobi,", "`jacobi`:": "solve=jacobi,", "`breakdown=shift`": "breakdown=shift,",
         "`breakdown=shift or shift-all`": "breakdown=shift,",
         "`adaptive`:": "adaptive=1,", "`symmetric=no`": "symmetric=no,",
         "`ilut`": "factorization=ilut,", "`factorization=ict`": "factorization=ict,",
         "`factorization=ick`": "", "`search=parallel`": "factorization=ilut,search=parallel,"}
VECTOR = "%%MatrixMarket matrix array real general\n6 1\n1\n1\n1\n1\n1\n1\n"


def documents():
    names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    return names + sorted(os.path.relpath(path, SOURCE) for folder in ("docs", RECORDS)
                          for path in glob.glob(os.path.join(SOURCE, folder, "*.md")))


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def exists(name):
    return os.path.exists(os.path.join(SOURCE, name))


def blocks(text):
    """The lines of fenced and indented blocks of shell commands, continued lines joined."""
    lines, language = [], None
    for line in text.splitlines():
        fence = re.match(r" *```(\w*)", line)
        if fence:
            language = fence.group(1) if language is None else None
        elif language in ("", "sh", "bash") or language is None and line.startswith("    "):
            if lines and lines[-1].endswith("\\"):
                lines[-1] = lines[-1][:-1] + line
            else:
                lines.append(line)
    return lines


def inline_code(text):
    prose = re.sub(r"(?ms)^ *```.*?^ *```", "", text)
    return re.findall(r"`([^`\n]+)`", prose)


def commands(text, program):
    """The words behind each call of the program in the blocks of shell commands."""
    found = []
    for line in blocks(text):
        words = shlex.split(line, comments=True)
        for i, word in enumerate(words):
            if os.path.basename(word) == program:
                rest = words[i + 1:]
                ends = [k for k, word in enumerate(rest) if word in ("&&", "|", ";")]
                found.append(rest[:ends[0]] if ends else rest)
    return found


def helped_options(text):
    return set(re.findall(r"(?<![\w-])--[a-z0-9][a-z0-9-]*", text))


@functools.lru_cache(maxsize=None)
def help_of(program, *subcommand):
    done = subprocess.run([EXECUTABLES[program], *subcommand, "--help"], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def options_of(program):
    """Options; of a program that was not built, those that its sources name."""
    if program in EXECUTABLES:
        return helped_options(help_of(program))
    sources = ["perf/solve/SolveCommandLine.cpp"]
    if program not in ("ainvil-peers", "ainvil-solve-mpi"):
        sources = [os.path.relpath(path, SOURCE) for path in glob.glob(os.path.join(SOURCE, "perf", "studies", "*.cpp"))]
    return {option for name in sources for option in helped_options(read(name))}


def programs():
    return sorted(set(re.findall(r"add_executable\((ainvil-[\w-]+)", read("perf/CMakeLists.txt"))))


def anchors(text):
    """Of the headings, as GitHub makes them."""
    prose = re.sub(r"(?ms)^ *```.*?^ *```", "", text)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)", prose, re.MULTILINE)]


class Names(unittest.TestCase):

    def test_relative_links_lead_somewhere(self):
        for name in documents():
            for target in re.findall(r"\]\(([^)\s]+)\)", read(name)):
                if not re.match(r"[a-z]+:", target):
                    path = os.path.join(os.path.dirname(name), target.split("#")[0])
                    self.assertTrue(exists(path), f"{name} links to {target}")

    def test_anchors_lead_to_headings(self):
        for name in documents():
            for target, anchor in re.findall(r"\]\(([^)\s:#]*\.md)?#([^)\s]+)\)", read(name)):
                there = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
                self.assertIn(anchor, anchors(read(there)), f"{name} links to {target}#{anchor}")

    def test_files_that_are_named_exist(self):
        headers = {os.path.basename(path) for path in glob.glob(
            os.path.join(SOURCE, "**", "Ainvil_*.[hc]pp"), recursive=True)}
        for name in documents():
            code = "\n".join(inline_code(read(name)) + blocks(read(name)))
            for path in re.findall(rf"(?<![\w/.-])(?:{FOLDERS})/[\w./-]*\w", code):
                self.assertTrue(exists(path), f"{name} names {path}")
            for header in re.findall(r"Ainvil_\w+\.[hc]pp", read(name)):
                self.assertIn(header, headers, name)

    def test_one_version_everywhere(self):
        version = re.search(r"project\(Ainvil VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)
        self.assertIn(f"\nversion: {version}\n", read("CITATION.cff"))
        self.assertRegex(read("CHANGELOG.md"), rf"\n## .*\b{re.escape(version)}")


class Options(unittest.TestCase):

    def test_commands_of_mpi_name_what_they_need(self):
        """Open MPI refuses root, and more ranks than cores, unless told: docs/trilinos.md says how."""
        needs = "as root, and with fewer cores than ranks"
        examples = glob.glob(os.path.join(SOURCE, "docs", "examples", "*.c*"))
        for name in documents() + [os.path.relpath(path, SOURCE) for path in sorted(examples)]:
            if name == "docs/trilinos.md" or name.startswith(RECORDS) or "mpirun -np" not in read(name):
                continue
            with self.subTest(document=name):
                self.assertIn(needs, read(name).replace("As root", "as root"))
                self.assertIn("trilinos.md", read(name))

    def test_options_of_commands_exist(self):
        for program in programs():
            known = options_of(program)
            for name in documents():
                for words in commands(read(name), program):
                    subcommand = [word for word in words[:1] if re.fullmatch("[a-z]+", word)]
                    own = helped_options(help_of(program, *subcommand)) \
                        if subcommand and program in EXECUTABLES else set()
                    for word in words:
                        option = word.split("=")[0]
                        if option.startswith("--") and not option.startswith("--kokkos-"):
                            self.assertIn(option, known | own, f"{name}: {program} {' '.join(words)}")

    def test_options_in_sentences_exist(self):
        known = set(OTHER_OPTIONS)
        for program in programs():
            known |= options_of(program)
        for name in documents():
            for code in inline_code(read(name)):
                if code.startswith("--") and not code.startswith("--kokkos-"):
                    self.assertIn(re.match(r"--[\w-]+", code).group(), known, f"{name}: {code}")

    def test_commands_run(self):
        """On a problem of a few rows, without an iteration: what is bad input shows."""
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            for file, text in (("A.mtx.gz", MATRIX), ("b.mtx", VECTOR)):
                with open(os.path.join(folder, file), "w", encoding="ascii") as out:
                    out.write(text)
            for name in documents():
                if name.startswith(RECORDS):
                    continue
                for words in commands(read(name), "ainvil-solve"):
                    words = [re.sub(r"^([a-z]+[0-9]*):[0-9x]+$", r"\1:4", word) for word in words]
                    if "--problem" not in words and "--matrix" not in words:
                        continue
                    if "--max-iters" not in words:
                        words += ["--max-iters", "0"]
                    done = subprocess.run([EXECUTABLES["ainvil-solve"], *words], cwd=folder,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                          check=False)
                    if b"comes with Kokkos Kernels 4" in done.stderr:
                        continue  # a command for a GPU, where Kokkos is newer
                    self.assertIn(done.returncode, (0, 3),
                                  f"{name}: {' '.join(words)}: {done.stderr.decode()}")
                    count += 1
        self.assertGreater(count, 5)


class Parameters(unittest.TestCase):
    """docs/parameters.md against what ainvil-solve --help lists."""

    def documented(self):
        """{method: {key: (type, default, accepted, meaning)}}"""
        methods = {}
        for line in read("docs/parameters.md").splitlines():
            heading = re.match(r"## (Every method|[\w-]+)$", line)
            if heading:
                keys = methods.setdefault(heading.group(1), {})
            row = re.match(r"\| `([\w-]+)` \|", line)
            if row:
                cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                self.assertEqual(len(cells), 6, line)
                self.assertNotIn(row.group(1), keys, line)
                keys[row.group(1)] = cells[2:]
        return methods

    def known(self):
        """{method: {key: values}}, the default first."""
        text = help_of("ainvil-solve").split("\nPreconditioners")[1].split("\n\n")[0]
        methods = {}
        for line in text.splitlines()[1:]:
            method = re.match(r"  (\w[\w-]*) ", line)
            parameter = re.match(r"    ([\w-]+)=(\S+) ", line)
            if method:
                name = "Every method" if method.group(1) == "METHOD" else method.group(1)
                keys = methods.setdefault(name, {})
            elif parameter:
                keys[parameter.group(1)] = parameter.group(2).split("|")
        return methods

    def test_every_parameter_is_documented(self):
        documented, known = self.documented(), self.known()
        self.assertEqual(set(documented), set(known))
        for method, keys in known.items():
            self.assertEqual(set(documented[method]), set(keys), method)
            for key, values in keys.items():
                kind, default, accepted, _ = documented[method][key]
                where = f"{method}: {key}"
                self.assertEqual(re.match(r"`([^`]+)`", default).group(1), values[0], where)
                words = re.findall(r"`([^`]+)`", accepted)
                if kind == "word":
                    self.assertEqual(set(words), set(values), where)
                else:
                    self.assertIn(kind, ("integer", "number"), where)
                    self.assertEqual("auto" in words, "auto" in values, where)

    def test_tables_are_those_of_the_program(self):
        done = subprocess.run([EXECUTABLES["ainvil-solve"], "--parameters"],
                              stdout=subprocess.PIPE, check=True)
        page = read("docs/parameters.md")
        self.assertIn("<!-- tables -->\n\n" + done.stdout.decode() + "<!-- end of tables -->", page,
                      "run scripts/parameters.sh")

    def accepts(self, specification):
        done = subprocess.run(
            [EXECUTABLES["ainvil-solve"], "--problem", "poisson5:4", "--max-iters", "0", "--quiet",
             "--precond", specification], stderr=subprocess.DEVNULL, check=False)
        self.assertIn(done.returncode, (0, 2, 3), specification)
        return done.returncode != 2

    def test_numbers_have_the_range_that_is_documented(self):
        for method, keys in self.documented().items():
            for key, (kind, default, accepted, meaning) in keys.items():
                if kind == "word":
                    continue
                needs = [NEEDS[start] for start in NEEDS if meaning.startswith(start)]
                if method == "ic":
                    needs = [need.replace("ilut", "ict") for need in needs]
                if method in ("ilu", "ic"):
                    needs = [need.replace("adaptive", "solve=isai,adaptive") for need in needs]
                start = f"{'jacobi' if method == 'Every method' else method}:"
                start += f"{needs[0] if needs else ''}{key}="
                self.assertTrue(self.accepts(start + re.findall(r"`([^`]+)`", default)[0]), start)
                for relation, bound in re.findall(r"([<>]=?) (\d+)", accepted):
                    outside = int(bound) - (relation == ">=")
                    inside = {">=": bound, ">": str(int(bound) + 1e-6), "<": str(int(bound) - 1e-6)}[relation]
                    self.assertFalse(self.accepts(f"{start}{outside}"), f"{start}{outside}")
                    self.assertTrue(self.accepts(start + inside), start + inside)


if __name__ == "__main__":
    SOURCE = sys.argv.pop(1)
    while len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        path = sys.argv.pop(1)
        EXECUTABLES[os.path.basename(path)] = os.path.abspath(path)
    unittest.main()
