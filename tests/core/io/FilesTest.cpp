// SPDX-License-Identifier: BSD-3-Clause
#include "io/Ainvil_Files.hpp"

#include "core/io/FilesSupport.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <csignal>
#include <thread>

namespace ainvil {
namespace {

using namespace test;

/// Everything that writes a file: what it is given, and the name it is tested with. All of the
/// files are longer than `limit`, the small ones but not longer than a buffer.
struct Writer {
  const char* what;
  const char* name;
  std::function<void(const std::string& path)> write;
};
constexpr rlim_t limit = 1024;

std::vector<Writer> writers() {
  const auto large = test::randomMatrix(30, 30, 9, 0.2), small = test::randomMatrix(12, 9, 1, 0.9);
  const Vector<double, HostDevice> x = test::viewOf(test::Random().vector(20000));
  const std::string text = "{\"status\": \"converged\"}\n";
  std::string results;
  for (int k = 0; k < 100; ++k)
    results += text;
  return {{"matrix", "a.mtx", [=](auto& path) { writeMatrixMarket(path, large); }},
          {"small matrix", "b.mtx", [=](auto& path) { writeMatrixMarket(path, small); }},
          {"packed matrix", "c.mtx.gz", [=](auto& path) { writeMatrixMarket(path, large); }},
          {"vector", "x.mtx", [=](auto& path) { writeMatrixMarket(path, x, "comment"); }},
          {"packed vector", "y.mtx.gz", [=](auto& path) { writeMatrixMarket(path, x); }},
          {"results", "results.json", [=](auto& path) { writeFile(path, results); }}};
}

/// Files cannot grow beyond `limit` bytes as long as it lives: then `handler` is called, and what
/// is ignored makes the write fail as a full disk does.
class FileSizeLimit {
public:
  explicit FileSizeLimit(void (*handler)(int)) : old_handler_(std::signal(SIGXFSZ, handler)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small = {limit, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
  void (*old_handler_)(int);
  rlimit old_;
};

/// Runs an action in a process of its own; returns that one's number and how it ended.
std::pair<pid_t, int> inChild(const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {child, status};
}

using Names = std::vector<std::string>;

TEST_F(Files, KeepTheirBytes) {
  std::string bytes(1 << 17, '\0');
  for (size_t k = 0; k < bytes.size(); ++k)
    bytes[k] = static_cast<char>(k * k >> 3);
  for (const std::string& text : {bytes, std::string(), std::string("\x1f\x8b")})
    for (const char* name : {"a", "a.gz"}) {
      writeFile(path(name), text);
      if (text == "\x1f\x8b" && name == std::string("a")) // would be taken for a cut gzip file
        continue;
      EXPECT_TRUE(readFile(path(name)) == text) << name << " " << text.size();
    }
  EXPECT_EQ(slurp(path("a.gz")).substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(slurp(path("a")), "\x1f\x8b");
}

TEST_F(Files, SurviveAFullDisk) {
  for (const Writer& writer : writers()) {
    SCOPED_TRACE(writer.what);
    const std::string file = path(writer.name),
                      expected = "cannot write '" + file + "': File too large";
    const auto write = [&] {
      const FileSizeLimit full(SIG_IGN);
      writer.write(file);
    };
    EXPECT_EQ(refusal(write), expected);
    EXPECT_EQ(names(), Names());
    put(writer.name, "old");
    EXPECT_EQ(refusal(write), expected);
    EXPECT_EQ(slurp(file), "old");
    EXPECT_EQ(names(), Names{writer.name});
    writer.write(file);
    EXPECT_GT(fs::file_size(file), limit);
    fs::remove(file);
    const auto write_long = [&] {
      const FileSizeLimit full(SIG_IGN);
      writer.write(path(std::string(250, 'a')));
    };
    EXPECT_NE(refusal(write_long).find("File too large"), std::string::npos);
    EXPECT_EQ(names(), Names());
  }
}

TEST_F(Files, SurviveAWriterThatIsKilled) {
  for (const Writer& writer : writers()) {
    SCOPED_TRACE(writer.what);
    const std::string file = put(writer.name, "old");
    const auto [child, status] = inChild([&] {
      const FileSizeLimit deadly([](int) { kill(getpid(), SIGKILL); });
      writer.write(file);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    EXPECT_EQ(slurp(file), "old");
    const std::string part = writer.name + (".part" + std::to_string(child));
    EXPECT_EQ(names(), (Names{writer.name, part}));
    EXPECT_EQ(fs::file_size(path(part)), limit);
    fs::remove(path(part));
    fs::remove(file);
  }
}

TEST_F(Files, TakeAwayWhatAKilledWriterOfTheSameNumberLeft) {
  const std::string part = path("a") + ".part" + std::to_string(getpid());
  std::ofstream(part) << "a longer text than the new one";
  writeFile(path("a"), "new");
  EXPECT_EQ(slurp(path("a")), "new");
  std::ofstream(part) << "another";
  checkWritable(path("a"));
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(Files, AreWrittenWhereLinksLead) {
  fs::create_directories(path("there/deep"));
  const struct {
    const char* link;
    std::string to;
    const char* target;
  } cases[] = {{"absolute", path("there/a"), "there/a"},
               {"relative", "there/b", "there/b"},
               {"upwards", "there/deep/../c", "there/c"},
               {"chain", "relative", "there/b"},
               {"there/deep/up", "../../d", "d"}};
  for (const bool is_new : {true, false}) // dangling links first
    for (const auto& c : cases) {
      SCOPED_TRACE(message(c.link, is_new ? ", to a new file" : ", to a file"));
      if (is_new)
        fs::create_symlink(c.to, path(c.link));
      checkWritable(path(c.link));
      const std::string text = message("through ", c.link, is_new);
      writeFile(path(c.link), text);
      EXPECT_EQ(fs::read_symlink(path(c.link)), c.to);
      EXPECT_FALSE(fs::is_symlink(path(c.target)));
      EXPECT_EQ(slurp(path(c.target)), text);
    }
  EXPECT_EQ(names(), (Names{"absolute", "chain", "d", "relative", "there", "upwards"}));
}

TEST_F(Files, AreNotWrittenThroughAWrongLink) {
  fs::create_symlink("circle", path("circle"));
  fs::create_symlink("missing/a", path("nowhere"));
  const struct {
    const char* link;
    const char* reason;
  } cases[] = {{"circle", "Too many levels of symbolic links"},
               {"nowhere", "No such file or directory"}};
  for (const auto& c : cases) {
    const std::string expected = "cannot write '" + path(c.link) + "': " + c.reason;
    EXPECT_EQ(refusal([&] { checkWritable(path(c.link)); }), expected);
    EXPECT_EQ(refusal([&] { writeFile(path(c.link), "new"); }), expected);
    EXPECT_TRUE(fs::is_symlink(path(c.link)));
  }
  // Nor through one that stands where the temporary file is to be.
  const std::string target = put("target", "precious");
  fs::create_symlink(target, path("a") + ".part" + std::to_string(getpid()));
  writeFile(path("a"), "new");
  EXPECT_EQ(slurp(path("a")), "new");
  EXPECT_EQ(slurp(target), "precious");
}

TEST_F(Files, MayHaveTheLongestNamesThatThereAre) {
  for (const size_t length : {200u, 244u, 250u, 255u}) {
    const std::string name(length, 'a'), other = name.substr(1) + "b";
    checkWritable(path(name));
    writeFile(path(name), "one");
    writeFile(path(other), "two");
    EXPECT_EQ(slurp(path(name)), "one");
    EXPECT_EQ(slurp(path(other)), "two");
    EXPECT_EQ(names(), (Names{name, other}));
    fs::remove(path(name));
    fs::remove(path(other));
  }
  const std::string longer = path(std::string(256, 'a'));
  const std::string expected = "cannot write '" + longer + "': File name too long";
  EXPECT_EQ(refusal([&] { checkWritable(longer); }), expected);
  EXPECT_EQ(refusal([&] { writeFile(longer, ""); }), expected);
}

TEST_F(Files, HaveOneResolvedPath) {
  fs::create_directory(path("folder"));
  put("there", "");
  fs::create_symlink("folder", path("link"));
  fs::create_symlink("new", path("dangling"));
  const std::string base = fs::canonical(folder_).string() + "/";
  for (const char* name : {"new", "./new", "folder/../new", "link/../new", "dangling"})
    EXPECT_EQ(resolvedPath(path(name)), base + "new") << name;
  for (const char* name : {"there", "folder//..//there"})
    EXPECT_EQ(resolvedPath(path(name)), base + "there") << name;
  EXPECT_EQ(resolvedPath(path("link/new")), base + "folder/new");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(resolvedPath("new"), base + "new");
  EXPECT_EQ(resolvedPath("./link/new"), base + "folder/new");
  fs::current_path(before);
}

TEST_F(Files, AreNotWrittenWhereTheyCannotBe) {
  fs::create_directory(path("folder"));
  put("file", "old");
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const Names before = names();
  const struct {
    const char* name;
    const char* reason;
  } cases[] = {
      {"missing/a.mtx", "No such file or directory"},
      {"file/a.mtx", "Not a directory"},
      {"folder", "expected a new or a regular file, a pipe or a device like /dev/null"},
      {"socket", "expected a new or a regular file, a pipe or a device like /dev/null"},
  };
  for (const auto& c : cases) {
    const std::string expected = "cannot write '" + path(c.name) + "': " + c.reason;
    EXPECT_EQ(refusal([&] { checkWritable(path(c.name)); }), expected);
    for (const Writer& writer : writers())
      EXPECT_EQ(refusal([&] { writer.write(path(c.name)); }), expected) << writer.what;
  }
  EXPECT_EQ(names(), before);
  EXPECT_TRUE(fs::is_socket(path("socket")));
  EXPECT_EQ(slurp(path("file")), "old");
  close(listener);
}

/// What comes out of a pipe of that name while an action runs.
std::string throughPipe(const std::string& path, const std::function<void()>& action) {
  std::string bytes;
  std::thread reader([&] { bytes = slurp(path); });
  action();
  reader.join();
  return bytes;
}

TEST_F(Files, MayBeStreams) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(isStream(pipe) && isStream("/dev/null"));
  EXPECT_FALSE(isStream(path("missing")) || isStream(put("file", "old")) || isStream(folder_));
  checkWritable(pipe); // waits for nobody
  checkWritable("/dev/null");
  for (const Writer& writer : writers()) {
    writer.write("/dev/null");
    EXPECT_FALSE(refusal([&] { writer.write("/dev/full"); }).empty()) << writer.what;
    const std::string name = writer.name;
    if (name.find(".gz") == std::string::npos) {
      writer.write(path(name));
      EXPECT_EQ(throughPipe(pipe, [&] { writer.write(pipe); }), slurp(path(name))) << writer.what;
    }
  }
  EXPECT_TRUE(fs::is_fifo(pipe) && fs::is_character_file("/dev/null"));
}

TEST_F(Files, ThatGrowAreWholeAndStreamsGetWhatIsNew) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const auto grow = [](GrowingFile& file) {
    for (const char* text : {"one\n", "one\ntwo\n", "one\ntwo\n", "one\ntwo\nthree\n"})
      file.update(text);
  };
  EXPECT_EQ(throughPipe(path("pipe"),
                        [&] {
                          GrowingFile pipe(path("pipe"));
                          grow(pipe);
                        }),
            "one\ntwo\nthree\n");
  GrowingFile file(path("file"));
  grow(file);
  EXPECT_EQ(slurp(path("file")), "one\ntwo\nthree\n");
  file.update("other");
  EXPECT_EQ(slurp(path("file")), "other");
  GrowingFile full("/dev/full");
  EXPECT_NE(refusal([&] { full.update("text"); }).find("No space left"), std::string::npos);
}

TEST_F(Files, AreNotWrittenIntoAFolderThatIsReadOnly) {
  const std::string file = put("a", "old");
  fs::permissions(folder_, fs::perms(0555));
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const int status = inChild([&] {
                       // Root may write anywhere, so be somebody else.
                       if (geteuid() == 0 && setuid(65534) != 0)
                         _exit(1);
                       const std::string text = refusal([&] { checkWritable(file); }) + "\n" +
                                                refusal([&] { writeFile(file, "new"); });
                       _exit(write(channel[1], text.data(), text.size()) < 0 ? 1 : 0);
                     }).second;
  close(channel[1]);
  std::string said(1000, '\0');
  said.resize(std::max<ssize_t>(0, read(channel[0], said.data(), said.size())));
  close(channel[0]);
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_EQ(status, 0);
  const std::string expected = "cannot write '" + file + "': Permission denied";
  EXPECT_EQ(said, expected + "\n" + expected);
  EXPECT_EQ(slurp(file), "old");
  EXPECT_EQ(names(), Names{"a"});
}

} // namespace
} // namespace ainvil
