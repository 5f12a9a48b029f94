internal import Frames

/// An input that holds no events as such, recognised by its first bytes, and the command that makes events of it.
/// Without this check, each of its lines would be reported as no event, or all of it as no JSON.
struct InputForm {
  /// What the input is, as the end of a sentence.
  let what: String
  /// The command that converts it; the file's name follows.
  let command: String

  /// Compressed forms, by their first bytes.
  private static let compressed: [(beginning: [UInt8], name: String, command: String)] = [
    ([0x1F, 0x8B], "gzip", "gunzip -c"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd -dc"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz", "xz -dc"), ([0x42, 0x5A, 0x68], "bzip2", "bunzip2 -c"),
  ]

  /// Looks at the first bytes after blank lines; nil if they may be events.
  init?(_ bytes: some Collection<UInt8>) {
    if let form = Self.compressed.first(where: { bytes.starts(with: $0.beginning) }) {
      (what, command) = ("is compressed by \(form.name)", form.command)
    } else if bytes.starts(with: [0x50, 0x4B, 3, 4]) {
      (what, command) = ("is a zip archive", "unzip -p")
    } else if let encoding = Self.encoding(bytes) {
      (what, command) = ("is UTF-16, and events are UTF-8", "iconv -f \(encoding) -t UTF-8")
    } else {
      // A relay's messages are lists too, but not a list of objects: such lines are reported one by one, like others
      // that are no events.
      let text = bytes.lazy.filter { !Self.blank.contains($0) }.prefix(2)
      guard text.elementsEqual("[".utf8) || text.elementsEqual("[{".utf8) || text.elementsEqual("[]".utf8) else {
        return nil
      }
      (what, command) = ("is one JSON array, and not an event a line", "jq -c '.[]'")
    }
  }

  private static let blank: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]

  /// The encoding of UTF-16 text, as iconv names it: by its byte order mark, or because UTF-8 text has no zero byte.
  private static func encoding(_ bytes: some Collection<UInt8>) -> String? {
    let first = Array(bytes.prefix(2))
    guard first.count == 2 else { return nil }
    if first == [0xFF, 0xFE] || first == [0xFE, 0xFF] { return "UTF-16" }
    if first[0] != 0, first[1] == 0 { return "UTF-16LE" }
    return first[0] == 0 && first[1] != 0 ? "UTF-16BE" : nil
  }

  /// Refuses input that is not a list of events.
  ///
  /// - Parameters:
  ///   - bytes: the first line that is not blank, or everything.
  ///   - name: the name of the input; for a file the path, which can be typed.
  ///   - isFile: whether the input is a file.
  ///   - rest: the command that takes the output of the converting command.
  static func check(
    _ bytes: some Collection<UInt8>, name: String, isFile: Bool, rest: String
  ) throws(Refusal) {
    guard let form = InputForm(bytes) else { return }
    throw Refusal(
      .badRequest, "\(name) \(form.what); give it so: \(form.command) \(isFile ? name : "FILE") | \(rest)",
      outcome: .notStarted)
  }
}
