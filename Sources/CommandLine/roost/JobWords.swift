internal import Contracts
internal import Frames
internal import Cryptography
internal import Nostr

/// Parts of a job as they are typed.
enum JobWords {
  /// `text=…`, `url=…`, `event=…`, `job=…`, or a JSON list of data, type, relay and marker.
  static func input(_ text: String) throws(Refusal) -> JobInputArgument {
    if text.hasPrefix("[") {
      let parts = try JSONPayload.decode([String].self, from: text.utf8)
      guard (2...4).contains(parts.count) else {
        throw bad("an input as a list has two to four texts: data, type, relay, marker")
      }
      return JobInputArgument(
        data: parts[0], type: parts[1], relay: parts.count > 2 ? parts[2] : nil,
        marker: parts.count > 3 ? parts[3] : nil)
    }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, ["text", "url", "event", "job"].contains(parts[0]) else {
      throw bad("an input is text=…, url=…, event=ID or job=JOB")
    }
    return JobInputArgument(data: try data(parts[1], of: parts[0]), type: parts[0])
  }

  /// The data of an input: an event's id in hexadecimal digits, whatever its spelling, and a URL with its scheme.
  private static func data(_ text: String, of type: String) throws(Refusal) -> String {
    switch type {
    case "event": return try event(text)
    // A job of this machine has an id of its own; a job elsewhere is named by its request.
    case "job" where ["note1", "nevent1", "nostr:"].contains(where: text.hasPrefix): return try event(text)
    case "url":
      let scheme = text.prefix { $0 != ":" }
      let isScheme =
        scheme.first?.isLetter == true && scheme.allSatisfy { $0.isASCII && !$0.isWhitespace && $0 != "/" }
      guard isScheme, scheme.utf8.count + 1 < text.utf8.count else {
        throw bad("an input url=… needs an address such as https://example.com/a, not '\(text.prefix(80))'")
      }
      return text
    default: return text
    }
  }

  private static func event(_ text: String) throws(Refusal) -> String {
    do throws(EntityFault) { return try EventID(spelled: text).description } catch {
      throw bad("'\(SpottedSecret.redacted(String(text.prefix(100))))' is no event: \(error)")
    }
  }

  /// The key of a provider, in hexadecimal digits.
  static func provider(_ text: String) throws(Refusal) -> String {
    do throws(EntityFault) { return try PublicKey(spelled: text).description } catch {
      guard ["npub1", "nprofile1", "nostr:"].contains(where: text.hasPrefix) else {
        throw bad("--provider is a key: npub1…, nprofile1… or 64 hexadecimal digits, not '\(text.prefix(80))'")
      }
      throw bad("--provider '\(text.prefix(80))' is no key: \(error)")
    }
  }

  /// `NAME=VALUE`, or a JSON list of a name and its values.
  static func parameter(_ text: String) throws(Refusal) -> [String] {
    if text.hasPrefix("[") { return try JSONPayload.decode([String].self, from: text.utf8) }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw bad("a parameter is NAME=VALUE, or a JSON list such as [\"lang\",\"es\"]")
    }
    return parts
  }

  /// `50sat`, `50000msat`, or a number of millisatoshi.
  static func millisatoshi(_ text: String) throws(Refusal) -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let factor: Int64? =
      switch text.dropFirst(digits.count) {
      case "sat", "sats": 1_000
      case "", "msat", "msats": 1
      default: nil
      }
    guard let factor, let number = Int64(digits) else {
      throw bad("an amount is 50sat or 50000msat, and without a unit in millisatoshi, not '\(text.prefix(40))'")
    }
    let (product, isOver) = number.multipliedReportingOverflow(by: factor)
    guard !isOver else { throw bad("'\(text.prefix(40))' is more than there is") }
    return product
  }

  /// A span of time, as whole seconds.
  static func seconds(_ text: String) throws(Refusal) -> Int64 {
    let longest = UInt64(JobDeadlines.maximum)
    guard let milliseconds = Amount.milliseconds(reading: text).map(UInt64.init),
      (1_000...longest * 1_000).contains(milliseconds)
    else {
      throw bad(
        "a time is a whole number and its unit, from 1s to \(longest / 3_600)h: 30s, 5m, 1h; "
          + "not '\(text.prefix(40))'")
    }
    return Int64(milliseconds / 1_000)
  }

  /// One of some words.
  static func choice<Word: RawRepresentable<String>>(
    _ text: String?, _ flag: String, among all: [Word]
  ) throws(Refusal) -> Word? {
    guard let text else { return nil }
    guard let word = Word(rawValue: text) else {
      let words = all.map(\.rawValue)
      throw bad("\(flag) is \(words.joined(separator: ", "))\(NearestName.hint(text, among: words))")
    }
    return word
  }

  private static func bad(_ message: String) -> Refusal { Refusal(.badRequest, message, outcome: .notStarted) }
}
