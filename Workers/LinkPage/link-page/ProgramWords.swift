import Frames
import LinkAddresses
import Wording

/// What a program has written.
enum ProgramWords {
  /// The most characters that are kept of a program's last words.
  private static let characterMaximum = 300
  /// The shortest word that counts as a repetition.
  private static let wordLengthMinimum = 3
  /// The shortest piece of a text that counts as one.
  private static let pieceByteCount = 8

  /// The address of a media file in an extractor's output: the first line that is a link of `https`.
  static func media(in output: [UInt8]) throws(Refusal) -> LinkURL {
    var namesPlainFile = false
    for line in String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline) {
      do throws(LinkURLFault) { return try LinkURL.media(String(line)) } catch {
        if case .notSecure = error { namesPlainFile = true }
      }
    }
    throw Refusal(
      .failed,
      namesPlainFile
        ? "the extractor found a file at a plain http address, and only https is played"
        : "the extractor found no address of a file")
  }

  /// The last line of a program's standard error, safe to print; nil without one.
  ///
  /// - Parameter texts: texts that must not be repeated, because the line goes into a log.
  static func last(of errors: String, without texts: [String] = []) -> String? {
    guard let line = errors.split(whereSeparator: \.isNewline).last(where: { !$0.allSatisfy(\.isWhitespace) }) else {
      return nil
    }
    let kept = String(line.unicodeScalars.prefix(characterMaximum))
    guard !texts.contains(where: { repeats(kept, $0) }) else {
      return "its last words are not shown, because they repeat the notice"
    }
    return VisibleText.make(kept)
  }

  /// Whether a line has a word of a text in it, or a piece of one.
  private static func repeats(_ line: String, _ text: String) -> Bool {
    func words(_ text: String) -> Set<Substring> {
      Set(text.split { !$0.isLetter && !$0.isNumber }.filter { $0.count >= wordLengthMinimum })
    }
    func pieces(_ text: String) -> Set<[UInt8]> {
      let bytes = Array(text.utf8)
      return Set((0..<max(0, bytes.count - pieceByteCount + 1)).map { Array(bytes[$0..<$0 + pieceByteCount]) })
    }
    return !words(line).isDisjoint(with: words(text)) || !pieces(line).isDisjoint(with: pieces(text))
  }
}
