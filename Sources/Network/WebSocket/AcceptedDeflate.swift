// permessage-deflate (RFC 7692), as a server accepts it.
//
// The answer is always that neither side keeps a window from one message to the next. A window is at least 32 KB, and
// ten thousand connections that once received a compressed message would keep ten thousand. So the state for inflating
// a message lives only for that message, and all messages that are compressed here share one compressor. A server may
// set both parameters even if they were not offered (7.1.1).
//
// The client's window may have any size, because it lives for one message: `client_max_window_bits` is checked and not
// answered. `server_max_window_bits` binds this side and must be answered (7.1.2.1). zlib cannot write for a window of
// 8 bits: it is accepted, and then nothing is compressed.
//
// An offer with an unknown parameter, a repeated one, or a meaningless value is declined, and the next one is tried
// (5.1, 7). If no offer is left, the connection continues without compression.

/// An offer of permessage-deflate that was accepted.
struct AcceptedDeflate: Equatable {
  /// The client's window for messages that are compressed here is 2 to this power, if it named one.
  let sendingWindowBits: Int?

  /// Accepts the first offer that is acceptable; nil if no offer is.
  ///
  /// - Parameter offers: the value of `Sec-WebSocket-Extensions`, with commas between the values if the field occurs
  ///   more than once.
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

  /// The answer to the offer.
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
