// permessage-deflate (RFC 7692), as a client that never compresses asks for it.
//
// What a relay sends us is a hundred times what we send it, and events in JSON shrink to a third. So the offer is for
// the server's messages: it may keep its window from one message to the next, which is where most of the gain is, since
// one event looks like the other; the price is 40 KB here for a connection that has brought a compressed message, and
// nothing for one that has not. What we send is short, goes uncompressed, as the RFC allows, and says so by
// `client_no_context_takeover`, so that a server need not keep a window for us.
//
// The answer is held to the letter: an element that was not offered, a parameter that is not known, stands twice or has
// no sense ends the upgrade. To go on with a server that means something else is to read garbage.

/// What client and server agreed on about compressed messages.
struct DeflateAgreement: Equatable {
  /// Whether the server's messages may refer to its earlier ones; each stands alone without it.
  var keepsWindow = true
  /// The server's window is 2 to this power, 8 to 15.
  var windowBits = 15

  /// The name of the extension.
  static let name = "permessage-deflate"
  /// What is offered.
  static let offer = "permessage-deflate; client_no_context_takeover"

  /// Reads the server's answer, the value of `Sec-WebSocket-Extensions` with commas between if it came more than once;
  /// nil when it is not an answer to ``offer``.
  init?(answer: String) {
    var parts = answer.split(separator: ";", omittingEmptySubsequences: false).map { Self.trimmed($0) }[...]
    guard parts.popFirst() == Self.name else { return nil }
    var names: Set<String> = []
    for part in parts {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { Self.trimmed($0) }
      guard names.insert(pair[0]).inserted else { return nil }
      switch (pair[0], pair.count) {
      case ("server_no_context_takeover", 1): keepsWindow = false
      case ("client_no_context_takeover", 1): break
      case ("server_max_window_bits", 2):
        guard let bits = Self.bits(pair[1]) else { return nil }
        windowBits = bits
      default: return nil
      }
    }
  }

  init(keepsWindow: Bool = true, windowBits: Int = 15) {
    self.keepsWindow = keepsWindow
    self.windowBits = windowBits
  }

  /// 8 to 15, without a leading zero; may stand in quotes.
  static func bits(_ text: String) -> Int? {
    let isQuoted = text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
    let digits = isQuoted ? String(text.dropFirst().dropLast()) : text
    return (8...15).first { String($0) == digits }
  }

  static func trimmed(_ text: Substring) -> String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(text[first...last])
  }
}
