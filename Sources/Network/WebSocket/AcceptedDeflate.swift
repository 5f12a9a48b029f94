// permessage-deflate (RFC 7692) as a server agrees to it.
//
// The answer is always that nobody keeps a window from one message to the next. A window is 32 KB at least, and ten
// thousand connections that once brought a compressed message would keep ten thousand. So a message is inflated with
// what lives for that message, and all messages that are compressed here share one compressor. A server may say both
// parameters without their having been offered (7.1.1).
//
// The client's window may be as large as it likes, since it lives for one message: `client_max_window_bits` is taken
// note of and not answered. `server_max_window_bits` binds us and must be answered (7.1.2.1). A window of 8 bits is one
// that zlib cannot write for: it is agreed to, and nothing is compressed.
//
// An offer that has an unknown parameter, one twice, or one with a value that makes no sense is declined, and the next
// is looked at (5.1, 7). If none is left the connection continues without compression.

/// An offer of permessage-deflate that was accepted.
struct AcceptedDeflate: Equatable {
  /// The window that the client has for what we compress is 2 to this power, if it named one.
  let sendingWindowBits: Int?

  /// Takes the first offer that can be taken; nil if there is none.
  ///
  /// - Parameter offers: the value of `Sec-WebSocket-Extensions`, with commas between if it came more than once.
  init?(offers: String) {
    for offer in Self.split(offers[...], at: ",") {
      if let accepted = Self(offer: offer) {
        self = accepted
        return
      }
    }
    return nil
  }

  private init?(offer: Substring) {
    var parts = Self.split(offer, at: ";").map { DeflateAgreement.trimmed($0) }[...]
    guard parts.popFirst() == DeflateAgreement.name else { return nil }
    var names: Set<String> = []
    var bits: Int?
    for part in parts {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { DeflateAgreement.trimmed($0) }
      guard names.insert(pair[0]).inserted else { return nil }
      switch (pair[0], pair.count) {
      case ("server_no_context_takeover", 1), ("client_no_context_takeover", 1), ("client_max_window_bits", 1): break
      case ("client_max_window_bits", 2):
        guard DeflateAgreement.bits(pair[1]) != nil else { return nil }
      case ("server_max_window_bits", 2):
        guard let named = DeflateAgreement.bits(pair[1]) else { return nil }
        bits = named
      default: return nil
      }
    }
    sendingWindowBits = bits
  }

  /// What is answered.
  var answer: String {
    let window = sendingWindowBits.map { "; server_max_window_bits=\($0)" } ?? ""
    return DeflateAgreement.name + "; server_no_context_takeover; client_no_context_takeover" + window
  }

  /// How the client's messages are read.
  var reading: DeflateAgreement { DeflateAgreement(keepsWindow: false) }

  /// Splits a list, but not inside quotes (RFC 9110, 5.6.4).
  private static func split(_ text: Substring, at separator: Character) -> [Substring] {
    var pieces: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == separator, !isQuoted {
        pieces.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    return pieces + [text[start...]]
  }
}
