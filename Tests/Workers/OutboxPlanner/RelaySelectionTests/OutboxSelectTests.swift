import Glibc
import TestSupport
import Testing

@Suite("outbox-select")
struct OutboxSelectTests {
  private static let people = #""follows": [3, 17, 40], "lists": {"3": [0, 5, 9], "17": [0], "40": [70]}"#
  private static let relays =
    #""relays": [{"id": 0, "url": "wss://a.example", "nip66": true, "max_subs": 20}, {"id": 5, "nip66": null}, {"id": 9}]"#
  private static let census = #"{"census_days": 28, "minute": 0, \#(people), \#(relays)}"#
  private static let first = #"{"session": 0, "minute": 0, "window_days": 7, \#(people), \#(relays)}"#
  private static let received = """
    "received": {"0": {"ok": true, "events": [[3, 120, 88123], [17, 5, 1]], "complete_since": {"3": 0, "17": -9}}, \
    "5": {"ok": false, "events": [], "complete_since": {}}}
    """
  private static let second =
    #"{"session": 1, "minute": 10080, "window_days": 7, \#(people), \#(relays), \#(received)}"#

  /// What the program prints for these lines, and how it ends.
  private func run(
    _ lines: [String], _ arguments: [String] = []
  ) throws -> (lines: [String], ending: SpawnedProcess.Ending) {
    let pipe = try FileOfLines(lines)
    let program = try SpawnedProcess(
      SpawnedProcess.builtProgram("outbox-select"), arguments, descriptors: [0: pipe.descriptor])
    let output = try program.readAllOutput()
    return (output.split(separator: "\n").map(String.init), try program.waitForEnd())
  }

  @Test("answers a census and each session with a line, the same for the same seed")
  func answers() throws {
    let lines = [Self.census, Self.first, Self.second]
    let (answers, ending) = try run(lines, ["--seed", "7", "--cap", "2", "--visits", "1"])
    #expect(ending == .exited(0) && answers.count == 3)
    #expect(answers.first == #"{"census": {"0": [3, 17], "5": [3], "9": [3], "70": [40]}}"#)
    for answer in answers.dropFirst() {
      #expect(
        answer.hasPrefix(#"{"live": {""#) && answer.contains(#""spares": [["#) && answer.contains(#""visits": {""#))
    }
    #expect(try run(lines, ["--seed", "7", "--cap", "2", "--visits", "1"]).lines == answers)
  }

  @Test("without learning declines the census, and asks the largest relay first")
  func countsOnly() throws {
    let (answers, ending) = try run([Self.census, Self.first], ["--mode", "direct", "--cap", "1"])
    #expect(ending == .exited(0))
    #expect(answers.first == #"{"census": {}}"#)
    #expect(answers.last?.hasPrefix(#"{"live": {"0": [3, 17]}, "spares": [["5", [3]]"#) == true)
  }

  @Test(
    "ends with status 65 at a line that it cannot read, after the answers before it",
    arguments: [
      "{", "[]", "{}", #"{"follows": [1]}"#, #"{"follows": [1], "lists": {"a": [1]}, "relays": []}"#,
      #"{"follows": [1.5], "lists": {}, "relays": []}"#, #"{"follows": [], "lists": {}, "relays": [{"id": -1}]}"#,
      #"{"follows": [], "lists": {}, "relays": [], "received": {"1": {"events": [[1, 2]]}}}"#,
      #"{"follows": [], "lists": {}, "relays": [], "window_days": 0}"#,
      #"{"follows": [], "lists": {}, "relays": []} x"#,
    ])
  func refuses(line: String) throws {
    let (answers, ending) = try run([Self.first, line, Self.first])
    #expect(ending == .exited(65) && answers.count == 2)
    #expect(answers.last?.hasPrefix(#"{"error": ""#) == true)
  }

  @Test(
    "refuses flags that it does not know",
    arguments: [["--cap"], ["--cap", "-1"], ["--mode", "best"], ["--seed", "x"], ["--visits", "99999"], ["file"]])
  func refusesFlags(arguments: [String]) throws {
    let (answers, ending) = try run([], arguments)
    #expect(ending == .exited(64) && answers.first?.hasPrefix(#"{"error": ""#) == true)
  }
}

/// A file of lines, open for reading.
private final class FileOfLines {
  let descriptor: Int32
  private let directory: TemporaryDirectory

  init(_ lines: [String]) throws {
    directory = try TemporaryDirectory()
    let path = directory.path + "/lines"
    let text = lines.map { $0 + "\n" }.joined()
    let file = open(path, O_CREAT | O_WRONLY, 0o600)
    let written = text.withCString { write(file, $0, text.utf8.count) }
    close(file)
    descriptor = open(path, O_RDONLY)
    guard written == text.utf8.count, descriptor >= 0 else { throw NotWritten(path: path) }
  }

  deinit { close(descriptor) }
}

private struct NotWritten: Error {
  let path: String
}
