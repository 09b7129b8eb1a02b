#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ainvil-solve where something goes wrong: signals, bad input, no memory, full disks.

usage: solve_errors_test.py PATH/TO/ainvil-solve [unittest options]
"""

import contextlib
import gzip
import json
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import time
import unittest

import solve_cli
from solve_cli import ARRAY, GENERAL, tridiagonal


class ErrorsTest(solve_cli.SolveTest):

    @contextlib.contextmanager
    def start(self, *arguments, prepare=lambda: None, stdout=subprocess.PIPE):
        """The running program, waited for at the end, or killed if the test fails; it calls `prepare` first. Signals
        do what they do by default, whatever the tests inherit, as from nohup."""
        def begin():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            prepare()

        with subprocess.Popen([solve_cli.EXECUTABLE, *arguments], cwd=self.folder, text=True,
                              stdout=stdout, stderr=subprocess.PIPE,
                              preexec_fn=begin) as process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise

    def wait_for_lines(self, process, name, count):
        """Until the file has so many lines, or the process has ended."""
        while process.poll() is None:
            if os.path.exists(self.path(name)) and self.read(name).count("\n") >= count:
                return
            time.sleep(0.02)
        self.fail(process.communicate())

    def open_once_it_is_read(self, process, name):
        """Opens a named pipe for writing, after the process has opened it for reading."""
        while process.poll() is None:
            try:
                return os.open(self.path(name), os.O_WRONLY | os.O_NONBLOCK)
            except OSError:  # nobody reads it
                time.sleep(0.02)
        self.fail(process.communicate())

    def test_signals_keep_what_is_done(self):
        # GMRES(30) with jacobi stays where it is.
        endless = ["--problem", "circuit:3000", "--precond", "ilu", "--precond", "jacobi", "--precond",
                   "none", "--max-iters", "2000000000", "--tol", "1e-5", "--json", "a.json",
                   "--history", "h.csv", "--solution", "x.mtx"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                with self.start(*endless) as process:
                    self.wait_for_lines(process, "a.json", 1)
                    process.send_signal(number)
                    out, err = process.communicate(timeout=280)
                self.assertEqual(process.returncode, 128 + number, err)
                runs = [json.loads(line) for line in self.read("a.json").splitlines()]
                self.assertEqual(runs[0]["status"], "converged")
                for run in runs[1:]:  # none if the signal came between two runs
                    self.assertEqual(run["status"], "interrupted")
                    self.assertIn(signal.strsignal(number), run["message"])
                self.assertLess(len(runs), 3)
                self.assertIn("interrupted", err)
                self.assertIn("ilu", out)
                self.assertIn('"ilu",0,', self.read("h.csv"))
                self.assertIn("with ilu: converged", self.read("x.mtx"))
                self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "h.csv", "x.mtx"])
                for name in ("a.json", "h.csv", "x.mtx"):
                    os.remove(self.path(name))

    def test_a_closed_pipe_ends_the_program_with_its_results_kept(self):
        # The table is longer than what a pipe holds, so that it is not written before that is closed.
        runs = 1500
        with self.start("--problem", "poisson5:2", *["--precond", "jacobi"] * runs, "--json",
                        "a.json") as process:
            self.assertIn("poisson5:2", process.stdout.readline())
            process.stdout.close()
            err = process.stderr.read()
        self.assertEqual(process.returncode, 2, err)
        self.assertEqual(err, "ainvil-solve: cannot write to standard output\n")
        statuses = [json.loads(line)["status"] for line in self.read("a.json").splitlines()]
        self.assertEqual(set(statuses), {"converged"})
        self.assertLess(len(statuses), runs)

    def test_a_full_standard_output_does_not_stop_the_files(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            runs = ["--problem", "poisson5:2", "--precond", "ilu", "--precond", "jacobi"]
            with self.start(*runs, "--json", "a.json", "--solution", "x.mtx", stdout=full) as process:
                _, err = process.communicate(timeout=280)
            self.assertEqual(process.returncode, 2, err)
            self.assertEqual(err, "ainvil-solve: cannot write to standard output\n")
            self.assertEqual([json.loads(line)["precond"] for line in self.read("a.json").splitlines()],
                             ["ilu", "jacobi"])
            self.assertTrue(os.path.exists(self.path("x.mtx")))
            with self.start(*runs, stdout=full) as process:  # there is nothing to be had
                _, err = process.communicate(timeout=280)
            self.assertEqual((process.returncode, err), (2, "ainvil-solve: cannot write to standard output\n"))

    def test_one_signal_ends_a_program_that_waits_for_its_input(self):
        os.mkfifo(self.path("fifo"))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for arguments in (["--matrix", "fifo"], ["--problem", "poisson5:4", "--rhs", "fifo"]):
                with self.start(*arguments) as process:
                    writer = self.open_once_it_is_read(process, "fifo")
                    process.send_signal(number)
                    self.assertEqual(process.wait(timeout=280), -number)
                    os.close(writer)
                    process.communicate()

    def test_a_failed_output_does_not_stop_the_others(self):
        # No file may have more than 8 KiB: enough for a few runs in JSON, and for all of the rest.
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        with self.start("--problem", "poisson5:2", *["--precond", "ilu"] * 20, "--precond", "jacobi",
                        "--json", "a.json", "--history", "h.csv", "--solution", "x.mtx",
                        prepare=limit_files) as process:
            _, err = process.communicate(timeout=280)
        self.assertEqual(process.returncode, 2, err)
        self.assertIn("cannot write 'a.json': File too large", err)
        self.assertIn('"jacobi",', self.read("h.csv"))
        self.assertTrue(os.path.exists(self.path("x.mtx")))
        runs = [json.loads(line) for line in self.read("a.json").splitlines()]
        self.assertIn(len(runs), range(1, 20))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "h.csv", "x.mtx"])

    def test_refuses_bad_options(self):
        good = ["--problem", "poisson5:4"]
        self.refuse_input(["--matrix", "--problem"])
        self.refuse_input(["--matrix", "--problem"], *good, "--matrix", "a.mtx")
        self.refuse_input(["--nonsense"], *good, "--nonsense")
        self.refuse_input(["word"], *good, "word")
        self.refuse_input(["--tol"], *good, "--tol")
        for option, value in (("--tol", "abc"), ("--tol", "nan"), ("--tol", "-1"),
                              ("--restart", "0"), ("--restart", "2.5"), ("--max-iters", "-1"),
                              ("--max-iters", "99999999999"), ("--repeat", "0"),
                              ("--block-size", "0"), ("--solver", "minres"),
                              ("--scale", "rows"), ("--exec", "gpu"), ("--precision", "half"),
                              ("--basis", "half"), ("--match", "yes"),
                              ("--reorder", "amd"), ("--rhs", "random:x"), ("--rhs", "random:-1"),
                              ("--rhs", "twos"), ("--rhs", "")):
            self.refuse_input([option], *good, option, value)
        self.refuse_input(["--tol"], *good, "--tol", "1", "--tol", "2")
        self.refuse_input(["--match", "--scale"], *good, "--match", "product", "--scale", "norm")
        self.refuse_input(["--residual", "--match"], *good, "--residual", "scaled")
        self.refuse_input(["--basis", "--precision"], *good, "--precision", "float", "--basis",
                          "double")

    def test_refuses_bad_problems(self):
        for problem in ("nonsense:3", "cavity", "cavity:", "cavity:1", "cavity:-5", "cavity:3x3",
                        "poisson5:3x", "laplace7:100000", "laplace7:99999999999999999999"):
            self.refuse_input([problem], "--problem", problem)

    def test_refuses_bad_preconditioners_before_the_work(self):
        for precond, words in (("nonsense", ["nonsense", "jacobi", "ilu"]),
                               ("ilu:nonsense=1", ["nonsense", "power"]),
                               ("ilu:solve=isai,power=-1", ["power", "-1"]),
                               ("ilu:solve=isai,power=0", ["power"]),
                               ("ilu:power=2", ["power"]), ("ilu:level=x", ["level"]),
                               ("ilu:", ["ilu"]), ("ilu:level", ["level"]), ("", ["empty"])):
            self.refuse_input(words, "--problem", "laplace7:500", "--precond", precond)

    def run_in_little_memory(self, *arguments):
        if "Cuda" in self.succeed("--problem", "laplace7:2", "--precond", "none"):
            self.skipTest("CUDA reserves more addresses than that")
        limit = 4 << 30
        result = subprocess.run(
            [solve_cli.EXECUTABLE, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if "AddressSanitizer failed to allocate" in result.stderr:
            self.skipTest("so does the address sanitizer")
        return result

    def test_tells_what_gets_no_memory(self):
        result = self.run_in_little_memory("--problem", "laplace7:900")
        self.assertEqual(result.returncode, 1, result)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("ainvil-solve: out of memory: there are no 5832000008 bytes for "
                      "Ainvil::row_map", result.stderr)

    def test_goes_on_where_a_run_gets_no_memory(self):
        # A basis of 1001 vectors of 1e6 numbers.
        result = self.run_in_little_memory("--problem", "laplace7:100", "--restart", "1000",
                                           "--precond", "jacobi", "--precond", "none", "--quiet",
                                           "--json", "-")
        self.assertEqual(result.returncode, 3, result)
        records = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([record["status"] for record in records], ["out_of_memory"] * 2)
        for record in records:
            self.assertIn("bytes for Ainvil::Gmres::basis", record["message"])

    def test_refuses_unreadable_files(self):
        self.refuse_input(["missing.mtx", "No such file"], "--matrix", "missing.mtx")
        self.refuse_input(["directory"], "--matrix", self.folder)
        packed = gzip.compress(tridiagonal(200).encode())
        path = self.write("cut.mtx.gz", packed[:len(packed) // 2])
        self.refuse_input(["cut.mtx.gz", "truncated"], "--matrix", path)

    def test_refuses_malformed_matrices(self):
        for text, words in (("", ["%%MatrixMarket"]), ("hello\n", ["%%MatrixMarket"]),
                            (tridiagonal(5)[:-12], ["end of the file"]),
                            (GENERAL + "2 2 2\n1 1 1\n2 2 x\n", ["line 4", "'x'"]),
                            (GENERAL + "2 2 2\n1 1 1\n2 2 nan\n", ["line 4", "finite", "nan"]),
                            (GENERAL + "2 2 2\n1 1 1\n2 2 inf\n", ["finite", "inf"]),
                            (GENERAL + "2 2 2\n1 1 1\n3 2 1\n", ["row index", "'3'"]),
                            (GENERAL.replace("real", "complex") + "1 1 1\n1 1 1 1\n", ["complex"])):
            self.refuse_matrix(["bad.mtx", *words], text)

    def test_refuses_matrices_that_cannot_be_solved_with(self):
        self.refuse_matrix(["square", "2 rows", "3 columns"], GENERAL + "2 3 2\n1 1 1\n2 2 1\n")
        for second in ("", "2 2 0\n", "2 1 0\n2 2 0\n"):
            count = 2 + second.count("\n")
            self.refuse_matrix(["row 2 (counted from 1)", "no nonzero"],
                               GENERAL + f"3 3 {count}\n1 1 1\n{second}3 3 1\n")
        self.refuse_matrix(["block size 4", "does not divide"], tridiagonal(10),
                           "--block-size", "4")
        self.refuse_input(["block size 7", "does not divide"], "--problem", "cavity:10",
                    "--block-size", "7")

    def test_zero_diagonals_are_judged_by_the_methods(self):
        """Nothing is refused for a zero on the diagonal, but for a method that divides by it."""
        missing = GENERAL + "3 3 4\n1 1 2\n2 3 1\n3 2 1\n3 3 1\n"
        stored = GENERAL + "3 3 5\n1 1 2\n2 2 0\n2 3 1\n3 2 1\n3 3 1\n"
        preconds = ["none", "jacobi", "jacobi:breakdown=replace", "ilu", "ilu:breakdown=shift"]
        for text in (missing, stored):
            matrix = self.write("a.mtx", text)
            for order in ("none", "rcm"):
                arguments = ["--matrix", matrix, "--reorder", order, "--json", "-", "--quiet"]
                for precond in preconds:
                    arguments += ["--precond", precond]
                lines = self.succeed(*arguments, code=3).splitlines()
                runs = {run["precond"]: run for run in map(json.loads, lines)}
                for precond in preconds:
                    gives_up = precond in ("jacobi", "ilu")
                    self.assertEqual(runs[precond]["status"] == "converged", not gives_up, precond)
                    if gives_up:
                        self.assertIn("breakdown policy", runs[precond]["message"])
            self.refuse_matrix(["diagonal entry of row 2 ", "scale"], text, "--scale", "diagonal")
        # Rows of bad input keep their numbers: reordered, row 5 of this is another.
        lines = tridiagonal(8).replace("5 5 4.0", "5 5 0")
        for order in ("rcm", "nd"):
            self.refuse_matrix(["diagonal entry of row 5 "], lines, "--reorder", order, "--scale",
                               "diagonal")
        # In a block that is not zero it does no harm.
        swap = GENERAL + "4 4 4\n1 2 1\n2 1 1\n3 4 1\n4 3 1\n"
        self.succeed("--matrix", self.write("a.mtx", swap), "--block-size", "2", "--quiet")

    def test_right_hand_sides_in_all_formats_are_the_same(self):
        matrix = self.write("a.mtx", tridiagonal(3))
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n".encode()
        npy = (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header +
               struct.pack("<3d", 1, -2.5, 4))
        solutions = set()
        for name, content in (("b.mtx", ARRAY + "3 1\n1\n-2.5\n4\n"), ("b.txt", "# b\n1\n-2.5\n4\n"),
                              ("b.npy", npy), ("b.npy.gz", gzip.compress(npy))):
            self.succeed("--matrix", matrix, "--rhs", self.write(name, content), "--precond",
                         "jacobi", "--solution", "x.mtx", "--quiet")
            solutions.add(self.read("x.mtx"))
        self.assertEqual(len(solutions), 1, solutions)

    def test_refuses_bad_right_hand_sides(self):
        matrix = self.write("a.mtx", tridiagonal(3))
        for text, words in ((ARRAY + "2 1\n1\n1\n", ["2 values", "3 rows"]),
                            (ARRAY + "2 2\n1\n1\n1\n1\n", ["2 values", "3 rows"]),
                            (ARRAY + "3 0\n", ["no column"]),
                            (ARRAY + "3 1\n1\nnan\n1\n", ["finite"]), ("1\nx\n", ["line 2", "'x'"]),
                            ("1\n1\n", ["2 values"]), ("1\n1\n1\n1\n", ["4 values", "3 rows"]),
                            ("1\na~\x7f\n", ["line 2", "'a~?'"]), (b"\x93NUMPY\x09", ["NumPy"])):
            self.refuse_input(["b.mtx", *words], "--matrix", matrix, "--rhs", self.write("b.mtx", text))

    def test_refuses_values_beyond_float(self):
        one_row = GENERAL + "1 1 1\n1 1 "
        for value, words in (("1e60", ["matrix", "1e+60", "large"]),
                             ("1e-60", ["matrix", "1e-60", "small"])):
            self.refuse_matrix(["float", *words], one_row + value + "\n", "--precision", "float")
        # A row of such values would be a row of zeros; beside 2 in its row such a value is nothing.
        self.refuse_matrix(["float", "matrix", "1e-60", "small"],
                           GENERAL + "2 2 2\n1 1 2\n2 2 1e-60\n", "--precision", "float")
        self.succeed("--matrix", self.write("a.mtx", GENERAL + "2 2 3\n1 1 2\n1 2 1e-60\n2 2 2\n"),
                     "--precision", "float", "--tol", "1e-5", "--precond", "jacobi", "--quiet")
        # A row of points counts, not that of the blocks around it.
        self.refuse_matrix(["float", "matrix", "1e-60", "small"], GENERAL + "2 2 2\n1 1 2\n2 2 1e-60\n",
                           "--precision", "float", "--block-size", "2")
        # A row of many such values takes no more time than any other: each is not compared with all.
        n = 1000000
        self.succeed("--matrix", self.write("a.mtx", GENERAL + f"{n} {n} {2 * n - 1}\n" +
                                            "".join(f"{i} {i} 1\n" for i in range(1, n + 1)) +
                                            "".join(f"1 {j} 1e-60\n" for j in range(2, n + 1))),
                     "--precision", "float", "--tol", "1e-5", "--precond", "none", "--quiet")
        matrix = self.write("a.mtx", tridiagonal(3))
        # A right-hand side may be of any size. Beside 1 such a value is nothing.
        for last in ("0", "1"):
            rhs = self.write("b.mtx", ARRAY + f"3 1\n1e-50\n0\n{last}\n")
            self.succeed("--matrix", matrix, "--rhs", rhs, "--precision", "float", "--tol", "1e-5",
                         "--precond", "jacobi", "--quiet")

    def test_refuses_outputs_that_cannot_be_written(self):
        # A problem this large would take its time: the refusal comes first.
        large = ["--problem", "laplace7:400", "--precond", "none"]
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("socket"))
        for option in ("--json", "--history", "--solution"):
            for path, words in (("no/such/o", ["no/such/o", "No such file"]),
                                (".", ["regular file"]), ("socket", ["socket", "regular file"])):
                self.refuse(words, *large, option, path)
        self.write("in.o", "old")
        self.refuse(["same file"], *large, "--json", "in.o", "--history", "./in.o")
        os.symlink("link-to", self.path("link"))
        os.link(self.path("in.o"), self.path("hard-link"))
        for one, other in (("o", "o"), ("o", "./o"), ("o", self.path("o")), ("link", "link-to"),
                           ("link", "./link"), ("in.o", "hard-link")):
            self.refuse(["same file"], *large, "--json", one, "--solution", other)
            self.refuse(["same file"], *large, "--json", other, "--history", one)
        matrix = self.write("in.mtx", tridiagonal(3))
        self.refuse(["overwrite"], "--matrix", matrix, "--solution", "./in.mtx")
        self.refuse(["overwrite"], *large, "--rhs", matrix, "--history", matrix)
        os.symlink("in.mtx", self.path("link-to-in"))
        self.refuse(["overwrite"], "--matrix", matrix, "--solution", "link-to-in")
        # A file of the name - is not stdout.
        self.write("-", tridiagonal(3))
        self.succeed("--matrix", "./-", "--json", "-", "--quiet")

    def test_outputs_may_be_streams(self):
        problem = ["--problem", "poisson5:9", "--precond", "jacobi", "--precond", "none", "--precond", "ilu"]
        for option in ("--json", "--history", "--solution"):
            with self.subTest(option=option):
                self.succeed(*problem, "--quiet", option, "o.file")
                expected = self.read("o.file")
                ours, theirs = os.pipe()  # as >(command) of a shell
                with open(ours, encoding="utf-8") as end:
                    result = subprocess.run([solve_cli.EXECUTABLE, *problem, "--quiet", option, f"/dev/fd/{theirs}"],
                                            cwd=self.folder, pass_fds=[theirs], capture_output=True, text=True,
                                            timeout=300, check=False)
                    os.close(theirs)
                    shown = end.read()
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(shown.count("\n"), expected.count("\n"))
                if option == "--history":
                    self.assertEqual(shown, expected)
                if option == "--json":
                    self.assertEqual([json.loads(line)["precond"] for line in shown.splitlines()],
                                     ["jacobi", "none", "ilu"])
                self.succeed(*problem, "--quiet", option, "/dev/null")
                result = self.run_solve(*problem, "--quiet", option, "/dev/full")
                self.assertEqual((result.returncode, result.stderr.count("No space left")), (2, 1), result)
                self.assertEqual(self.run_solve(*problem, option, "/dev/full").stdout.count("converged"), 3)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        # Nobody reads on: told once, and the other runs go on.
        ours, theirs = os.pipe()
        os.close(ours)
        result = subprocess.run([solve_cli.EXECUTABLE, *problem, "--json", f"/dev/fd/{theirs}"], cwd=self.folder,
                                pass_fds=[theirs], capture_output=True, text=True, timeout=300, check=False)
        os.close(theirs)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result)
        self.assertEqual(result.stdout.count("converged"), 3)

    def test_outputs_survive_a_full_disk(self):
        problem = ["--problem", "poisson5:40", "--precond", "jacobi", "--precond", "ilu", "--quiet"]
        for option, name in (("--json", "in.json"), ("--history", "in.csv"),
                             ("--solution", "in.mtx"), ("--solution", "in.mtx.gz")):
            for action in (signal.SIG_IGN, signal.SIG_DFL):

                def limit_files(action=action):
                    """A write beyond 512 bytes fails as on a full disk, whatever is inherited."""
                    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
                    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                    signal.signal(signal.SIGXFSZ, action)

                with self.subTest(option=option, action=action):
                    self.write(name, "old")
                    result = subprocess.run([solve_cli.EXECUTABLE, *problem, option, name], cwd=self.folder,
                                            preexec_fn=limit_files, capture_output=True, text=True,
                                            timeout=300, check=False)
                    self.assertEqual(result.returncode, 2, result)
                    self.assertEqual(self.read(name), "old")
                    # Counters of the preset coverage cannot be written either.
                    told = [line for line in result.stderr.splitlines(keepends=True)
                            if not line.startswith("libgcov profiling error:")]
                    self.assertEqual("".join(told),
                                     f"ainvil-solve: cannot write '{name}': File too large\n")
                    self.assertEqual(os.listdir(self.folder), [name])
                    os.remove(self.path(name))

    def test_the_file_that_standard_output_goes_to_is_not_replaced(self):
        for stream in ("stdout", "stderr"):
            for name in (f"/dev/{stream}", self.path("out")):
                with self.subTest(name=name, stream=stream), open(self.path("out"), "wb") as out:
                    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: out}
                    result = subprocess.run([solve_cli.EXECUTABLE, "--problem", "poisson5:4", "--json",
                                             name], **streams, text=True, timeout=300, check=False)
                    self.assertEqual(result.returncode, 2)
                    told = self.read("out") if stream == "stderr" else result.stderr
                    self.assertTrue(told.endswith(
                        f"cannot write '{name}': the program's own output goes there\n"), told)

    def test_results_that_get_lost_on_standard_output_are_an_error(self):
        for arguments in (["--json", "-"], []):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([solve_cli.EXECUTABLE, "--problem", "poisson5:4", *arguments],
                                        stdout=full, stderr=subprocess.PIPE, timeout=300,
                                        check=False)
            self.assertEqual(result.returncode, 2)
            self.assertTrue(result.stderr.endswith(
                b"ainvil-solve: cannot write to standard output\n"), result.stderr)


if __name__ == "__main__":
    solve_cli.main(__doc__)
