internal import Frames

/// What some input is that holds no events: seen by its first bytes, and told with the command that makes events of it.
/// Otherwise each of its lines would be told as no event, or all of it as no JSON.
struct InputForm {
  /// What it is, as a sentence's end.
  let what: String
  /// What writes it out as it is wanted, before the file's name.
  let command: String

  /// Compressed, by what it begins with.
  private static let compressed: [(beginning: [UInt8], name: String, command: String)] = [
    ([0x1F, 0x8B], "gzip", "gunzip -c"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd -dc"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz", "xz -dc"), ([0x42, 0x5A, 0x68], "bzip2", "bunzip2 -c"),
  ]

  /// Looks at the first bytes that are not blank lines; nil when they may be events.
  init?(_ bytes: some Collection<UInt8>) {
    if let form = Self.compressed.first(where: { bytes.starts(with: $0.beginning) }) {
      (what, command) = ("is compressed by \(form.name)", form.command)
    } else if bytes.starts(with: [0x50, 0x4B, 3, 4]) {
      (what, command) = ("is a zip archive", "unzip -p")
    } else if let encoding = Self.encoding(bytes) {
      (what, command) = ("is UTF-16, and events are UTF-8", "iconv -f \(encoding) -t UTF-8")
    } else {
      // A list of lists is what relays say: such lines are told one by one, like others that are no events.
      let text = bytes.lazy.filter { !Self.blank.contains($0) }.prefix(2)
      guard text.elementsEqual("[".utf8) || text.elementsEqual("[{".utf8) || text.elementsEqual("[]".utf8) else {
        return nil
      }
      (what, command) = ("is one JSON array, and not an event a line", "jq -c '.[]'")
    }
  }

  private static let blank: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]

  /// The form of UTF-16, as iconv calls it: by its mark, or because no text in UTF-8 has a zero in it.
  private static func encoding(_ bytes: some Collection<UInt8>) -> String? {
    let first = Array(bytes.prefix(2))
    guard first.count == 2 else { return nil }
    if first == [0xFF, 0xFE] || first == [0xFE, 0xFF] { return "UTF-16" }
    if first[0] != 0, first[1] == 0 { return "UTF-16LE" }
    return first[0] == 0 && first[1] != 0 ? "UTF-16BE" : nil
  }

  /// Refuses what is no list of events.
  ///
  /// - Parameters:
  ///   - bytes: the first line that is not blank, or everything.
  ///   - name: what it is called; of a file that can be typed its path.
  ///   - isFile: whether it is one.
  ///   - rest: the command that takes what the other writes.
  static func check(
    _ bytes: some Collection<UInt8>, name: String, isFile: Bool, rest: String
  ) throws(Refusal) {
    guard let form = InputForm(bytes) else { return }
    throw Refusal(
      .badRequest, "\(name) \(form.what); give it so: \(form.command) \(isFile ? name : "FILE") | \(rest)",
      outcome: .notStarted)
  }
}
