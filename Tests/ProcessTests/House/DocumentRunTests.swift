import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// The blocks of README and docs/ that can be run are run: in bash, against the shipped configuration with real
  /// workers, beside a relay on this machine. CodeBlocksTests of HouseTests parses them all.
  @Suite("The commands of the pages")
  struct DocumentRunTests {
    /// What is only parsed, by the beginning of a command, and why.
    private static let onlyParsed: [(command: String, reason: String)] = [
      ("sudo", "changes the machine"), ("podman", "needs an image, which image-test runs"),
      ("systemctl", "needs the user's systemd"),
      ("loginctl", "changes the machine"), ("journalctl", "needs the journal"),
      ("make", "builds, measures or tests for minutes"), ("pip", "needs a package index"),
      ("swift", "builds for minutes; HouseTests hold the source to what is built"),
      ("man", "needs pages that are built for release; ManualTests read them"),
      (". .build/manuals/completions/bash/roost", "needs files that are built for release; ManualTests read them"),
      (".venv/bin/python Tests/Peers/local_relay.py", "is the reader's own relay; the test has one"),
      (".build/release/push-fakes", "needs a build for release; PushNewcomerTests drive it"),
      ("nak", "is of others, and not among Debian's packages"), ("xdg-open", "opens a browser"),
      ("gdb", "needs a person"), ("lldb", "needs a person"), ("export PATH", "is the reader's; the test has its own"),
      ("examples/push.py", "needs a push relay; PushExampleTests drive it"), ("curl", "asks push-fakes"),
      ("cd", "is in the state directory, whose push-relay is off"), ("rm", "as before"), ("cp", "as before"),
      ("mv", "as before"), ("umask", "as before"), ("mkdir", "as before"), ("cat", "as before"),
      ("python3 -c", "reads what push-fakes wrote"), ("notify-send", "needs a desktop"),
      ("examples/worker.py", "is run with its token by Readme"),
      ("roost setup", "asks at a terminal; SetupTests do it"),
      ("roost backup --seal", "asks for a passphrase"), ("ssh", "needs another machine"),
      ("roost restore", "needs an empty place; BackupRunTests do it"), ("roost attach", "is run by Readme"),
      ("python3 examples/client.py example.echo", "is run by Readme"),
      ("roost replay", "needs a program of the reader's; RecordingTests do it"),
      ("roost record", "ends with Ctrl-C; RecordingTests do it"), ("roost recording", "reads that recording"),
      ("roost push", "needs the push relay, which is off"), ("roost hold push-relay", "as before"),
      ("roost hold --release push-relay", "as before"), ("roost decode nevent1…", "is for the reader to fill in"),
      ("roost decode bob@example.com", "asks a name's server"),
      ("roost job approve", "needs a job that waits for approval; JobZapTests do it"),
      ("roost job show", "as before"), ("roost call job.approve", "as before"),
      ("roost call job.follow", "is the job of another answer; JobTests do it"),
      ("roost job submit --kind 5001", "needs a program for 5001; ServingTests do it"),
      ("roost reply", "needs a note that names the account; AnswerCommandTests do it"),
      ("roost links reply", "needs a post of another; LinkFeedTests do it"),
      ("roost links show Bob", "shows what was posted by another; LinkFeedTests do it"),
      ("roost queue retry ID", "needs an event that waits"), ("roost queue replaced", "needs one that was replaced"),
      ("roost lists undo", "needs two versions; PeopleListTests do it"),
      ("roost mirror sync", "needs a second Roost; TwoRoostsTests do it"),
      ("roost account forget", "asks for a yes; ForgetTests do it"),
      ("roost account new", "asks for a passphrase; SetupTests do it"),
      ("roost key generate", "asks for a passphrase; SignerSecretTests do it"),
    ]
    /// What shows until Ctrl-C, or asks relays for long: the test ends it after a second and a half.
    private static let following = [
      "feed*", "inbox*", "observe*", "call people.feed*", "call people.profiles*", "call plan.progress*",
    ]

    /// Pages that share a Roost: a group takes some seconds.
    private static let groups: [(name: String, pages: [String])] = {
      let root = SharedFolder.repository + "/"
      let docs = SharedFolder.files(below: root + "docs").filter { $0.hasSuffix(".md") }.sorted()
        .map { String($0.dropFirst(root.count)) }
      let workers = docs.filter { $0.hasPrefix("docs/workers/") }
      return [
        ("README", ["README.md", "SUPPORT.md"]), ("docs", docs.filter { !$0.hasPrefix("docs/workers/") }),
        ("workers to m", workers.filter { $0 < "docs/workers/n" }),
        ("workers from n", workers.filter { $0 > "docs/workers/n" }),
      ]
    }()

    @Test("do what the pages say, and print what the pages show", arguments: groups.map(\.name))
    func pages(of group: String) throws {
      guard access("/usr/bin/jq", X_OK) == 0 else { return print("skipped: no jq ('make test' installs it)") }
      let pages = try #require(Self.groups.first { $0.name == group }).pages
      try DocumentRun.with { run in
        var count = 0
        for page in pages { count += try self.run(page, in: run) }
        #expect(count >= 8, "\(count) commands were run")
      }
    }

    /// Runs what can be run of a page, a block at a time, and looks whether `console` blocks show what is printed.
    /// - Returns: how many commands that were.
    private func run(_ page: String, in run: DocumentRun) throws -> Int {
      var count = 0
      let text = try #require(SharedFolder.bytes(ofFile: SharedFolder.repository + "/" + page))
      for block in CodeBlock.all(in: page, of: String(decoding: text, as: UTF8.self))
      where block.language == "sh" || block.language == "console" {
        let statements = block.statements.filter { !Self.isOnlyParsed($0) }
        guard !statements.isEmpty else { continue }
        count += statements.count
        let output = try run.bash(statements, at: block, following: Self.following)
        guard block.language == "console", statements.count == block.statements.count else { continue }
        let shown = Set(output.split(separator: "\n").map(DocumentRun.shape))
        let typed = Set(statements.flatMap { $0.split(separator: "\n") })
        for line in block.lines where !line.hasPrefix("$ ") && !line.contains("…") && !line.isEmpty {
          guard !typed.contains(line) else { continue }
          let expected = DocumentRun.shape(run.filledIn(String(line))[...])
          // What a terminal shows on a line of its own comes behind its head in a pipe.
          let isShown = shown.contains { $0 == expected || $0.hasSuffix(" " + expected) }
          #expect(isShown, "\(block): '\(line)' is not in: \(output)")
        }
      }
      return count
    }

    private static func isOnlyParsed(_ statement: String) -> Bool {
      ShellText(statement).commands.contains { words in
        let command = words.joined(separator: " ") + " "
        return onlyParsed.contains { command.hasPrefix($0.command + ($0.command.hasSuffix("…") ? "" : " ")) }
      }
    }
  }
}
