// permessage-deflate (RFC 7692), as requested by a client that never compresses.
//
// A relay sends a hundred times as much as its client, and events in JSON shrink to a third. So the offer is for the
// server's messages. The server may keep its window from one message to the next, where most of the gain is, because
// events resemble each other. The price is 40 KB here for a connection that has received a compressed message, and
// nothing for other connections. The client's messages are short and go uncompressed, as the RFC allows;
// `client_no_context_takeover` announces that, so that a server need not keep a window for them.
//
// The answer is checked strictly: an element that was not offered, or a parameter that is unknown, repeated or
// meaningless, ends the upgrade. Continuing with a server that means something else would be reading garbage.

/// What client and server agreed on about compressed messages.
struct DeflateAgreement: Equatable {
  /// Whether the server's messages may refer to its earlier ones; otherwise each message is independent.
  var keepsWindow = true
  /// The server's window is 2 to this power, 8 to 15.
  var windowBits = 15

  /// The name of the extension.
  static let name = "permessage-deflate"
  /// What is offered.
  static let offer = "permessage-deflate; client_no_context_takeover"

  /// Reads the server's answer: the value of `Sec-WebSocket-Extensions`, with commas between the values if the field
  /// occurs more than once. Nil if it is not an answer to ``offer``.
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

  /// 8 to 15, without a leading zero; may be in quotes.
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
