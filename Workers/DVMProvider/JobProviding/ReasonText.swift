// Reasons, as they are recorded and sent.
//
// The reason of a failure may contain the last words of a program, or a message of the system: "no such file or
// directory: '/home/alice/jobs/model.bin'". The customer should get the reason and not the path, which tells whose
// machine this is and what is on it. So each path from the root or from a home directory is left out. Addresses
// (`https://…`) and words that merely contain a slash (`text/plain`, `1/2`) stay.

extension String {
  /// The text with `…` in place of each path of this machine.
  public var withoutLocalPaths: String {
    var shown = ""
    var rest = self[...]
    while let start = rest.startOfLocalPath {
      shown += rest[..<start]
      // A path in quotes may contain spaces; any other path ends where a word ends.
      let quote = start > rest.startIndex ? rest[rest.index(before: start)] : " "
      let path = rest[start...]
      let isQuoted = "'\"`".contains(quote)
      let end = path.dropFirst(path.hasPrefix("file:") ? 5 : 0).firstIndex {
        isQuoted ? $0 == quote || $0.isNewline : $0.endsPath
      }
      shown += "…"
      rest = path[(end ?? path.endIndex)...]
    }
    return shown + rest
  }

  /// The text, cut between two code points to at most this many bytes, with `…` at its end if it was cut.
  public func cut(toByteCount maximum: Int) -> String {
    guard utf8.count > maximum else { return self }
    var end = utf8.index(startIndex, offsetBy: max(0, maximum - 3))
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return self[..<end] + "…"
  }
}

extension Substring {
  /// Where the first path begins: at a `/`, `~/` or `file:/` that does not continue a word or an address.
  fileprivate var startOfLocalPath: Index? {
    var before: Character?
    var place = startIndex
    while place < endIndex {
      let isStart = before.map { !$0.isPartOfWord } ?? true
      let here = self[place...]
      if here.hasPrefix("file:/"), isStart { return place }
      // An address is skipped to its end, with all its slashes.
      if here.hasPrefix("://") {
        place = here.firstIndex(where: \.endsAddress) ?? endIndex
        before = nil
        continue
      }
      if isStart, here.hasPrefix("/") || here.hasPrefix("~/"), here.hasName { return place }
      before = self[place]
      place = index(after: place)
    }
    return nil
  }

  /// Whether a name follows the slash or `~/`.
  private var hasName: Bool {
    guard let name = drop(while: { $0 == "~" || $0 == "/" }).first else { return false }
    return !name.endsPath
  }
}

extension Character {
  fileprivate var isPartOfWord: Bool { isLetter || isNumber || "/._-~".contains(self) }
  fileprivate var endsPath: Bool { isWhitespace || ":;,'\"`’”()[]{}<>|".contains(self) }
  fileprivate var endsAddress: Bool { isWhitespace || "'\"`<>".contains(self) }
}
