internal import EventLoop
internal import Frames

/// What a file is that holds no event a line: seen by its first line, and told with the command that makes lines of it.
/// Otherwise each of its lines would be told as no event, or a file of one line as one.
@EventLoopActor
enum ImportForm {
  /// Compressed, by what it begins with, and what writes it out as it was.
  private static let compressed: [(beginning: [UInt8], name: String, command: String)] = [
    ([0x1F, 0x8B], "gzip", "gunzip -c"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd -dc"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz", "xz -dc"), ([0x42, 0x5A, 0x68], "bzip2", "bunzip2 -c"),
  ]

  /// Looks at the first line that is not blank.
  ///
  /// - Throws: what it is, and how to give it, if it cannot be a list of events.
  static func check(_ line: ArraySlice<UInt8>, of source: LineSource) throws(Refusal) {
    for form in compressed where line.starts(with: form.beginning) {
      throw refusal(source, "is compressed by \(form.name)", form.command)
    }
    if line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) {
      throw refusal(source, "is UTF-16, and events are UTF-8", "iconv -f UTF-16 -t UTF-8")
    }
    let text = line.filter { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }.prefix(2)
    // A list of lists is what relays say: such lines are told one by one, like others that are no events.
    if text == [UInt8(ascii: "[")] || text.elementsEqual("[{".utf8) || text.elementsEqual("[]".utf8) {
      throw refusal(source, "is one JSON array, and not an event a line", "jq -c '.[]'")
    }
  }

  private static func refusal(_ source: LineSource, _ what: String, _ command: String) -> Refusal {
    let file = source.isStandardInput ? "FILE" : source.name
    return Refusal(
      .badRequest, "\(source.name) \(what); give it so: \(command) \(file) | roost import -", outcome: .notStarted)
  }
}
