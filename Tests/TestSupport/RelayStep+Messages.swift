// The messages of relays, in short forms. They are written by hand, so that a test can say what the product would not.

extension RelayStep {
  /// An event that differs from others in its number: in its id, which has the number in hexadecimal, and its time.
  /// Neither id nor signature is valid.
  public static func eventJSON(_ number: Int, kind: Int = 1, content: String = "the quick brown fox") -> String {
    let digits = String(number, radix: 16)
    let id = String(repeating: "0", count: 64 - digits.count) + digits
    return #"{"id":"\#(id)","pubkey":"\#(pubkey)","created_at":\#(1_700_000_000 + number),"kind":\#(kind),"#
      + #""tags":[],"content":"\#(content)","sig":"\#(signature)"}"#
  }

  private static let pubkey = String(repeating: "a", count: 64)
  private static let signature = String(repeating: "b", count: 128)

  /// EVENT with the events of these numbers, to the last REQ.
  public static func events(_ numbers: Range<Int>) -> RelayStep {
    RelayStep("events \(numbers)") { peer in
      var bytes: [UInt8] = []
      for number in numbers {
        bytes += WebSocketFrame.text("[\"EVENT\",\"\(peer.subscription)\",\(eventJSON(number))]").bytes
        // A write is worth more than one event, and no more than what fits a socket's buffer.
        if bytes.count > 32 << 10 {
          try peer.send(bytes)
          bytes.removeAll(keepingCapacity: true)
        }
      }
      try peer.send(bytes)
    }
  }

  /// EVENT with these bytes for an event, to the last REQ: one that nobody asked for, one that is forged, or none at
  /// all.
  public static func event(_ json: String) -> RelayStep { send("[\"EVENT\",\"$sub\",\(json)]") }

  /// EOSE to the last REQ.
  public static func endOfStored() -> RelayStep { send(#"["EOSE","$sub"]"#) }

  /// CLOSED to the last REQ; without a reason's place in the message when `reason` is nil.
  public static func closed(_ reason: String?) -> RelayStep {
    send(reason.map { #"["CLOSED","$sub","\#($0)"]"# } ?? #"["CLOSED","$sub"]"#)
  }

  /// OK to the last EVENT; without a reason's place in the message when `reason` is nil.
  public static func ok(_ isAccepted: Bool, _ reason: String?) -> RelayStep {
    send(#"["OK","$id",\#(isAccepted)"# + (reason.map { #","\#($0)"]"# } ?? "]"))
  }

  /// NOTICE.
  public static func notice(_ text: String) -> RelayStep { send(#"["NOTICE","\#(text)"]"#) }

  /// AUTH with a challenge (NIP-42).
  public static func challenge(_ text: String) -> RelayStep { send(#"["AUTH","\#(text)"]"#) }

  /// COUNT to the last COUNT (NIP-45).
  public static func count(_ count: Int) -> RelayStep { send(#"["COUNT","$sub",{"count":\#(count)}]"#) }
}
