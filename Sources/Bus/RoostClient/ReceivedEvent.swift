internal import Contracts
internal import Frames
public import Nostr

/// An event from the store: verified, and with the bytes that were signed.
public struct ReceivedEvent: Sendable, Hashable {
  /// The event.
  public let event: Event
  /// Its bytes as the store keeps them: one JSON object without white space between its parts.
  public let json: [UInt8]
  /// Its place in the order of commits. Nil for an ephemeral event, which is not stored, and for the result of a query.
  public let seq: Int64?

  /// Reads an event that has been verified already.
  init(json: [UInt8], seq: Int64? = nil) throws(Refusal) {
    do throws(EventFault) { event = try Event(json: json) } catch {
      throw Refusal(.badPayload, "the store answered with something else than an event: \(error)", outcome: .done)
    }
    self.json = json
    self.seq = seq
  }
}

/// One item of an observation.
public enum ObservedItem: Sendable, Hashable {
  /// An event: first the stored ones, then new ones.
  case event(ReceivedEvent)
  /// Once: all stored events have been returned, and the following ones are new. An observer that passes this seq, or
  /// that of any later event, as `after` continues from there.
  case storedEnd(seq: Int64)

  /// Reads a part of an answer to `store.observe`: `{"seq":n,"event":{…}}`, without `seq` for an ephemeral event, or
  /// `{"isComplete":true,"isStoredEnd":true,"seq":n}`. The store inserts an event's bytes unchanged, so they can be cut
  /// out again.
  init(part bytes: [UInt8]) throws(Refusal) {
    guard bytes.starts(with: Self.seqHead) || bytes.starts(with: Self.eventHead) else {
      self = .storedEnd(seq: try JSONPayload.decode(StoredEnd.self, from: bytes).seq)
      return
    }
    var rest = bytes[...]
    var seq: Int64?
    if rest.starts(with: Self.seqHead) {
      rest = rest.dropFirst(Self.seqHead.count)
      let digits = rest.prefix { $0 &- 0x30 < 10 }
      seq = Int64(String(decoding: digits, as: UTF8.self))
      rest = [UInt8(ascii: "{")] + rest.dropFirst(digits.count + 1)
    }
    guard rest.starts(with: Self.eventHead), rest.last == UInt8(ascii: "}") else {
      throw Refusal(.badPayload, "the store answered with something else than an event and its seq", outcome: .done)
    }
    self = .event(try ReceivedEvent(json: Array(rest.dropFirst(Self.eventHead.count).dropLast()), seq: seq))
  }

  static let seqHead = Array("{\"seq\":".utf8)
  static let eventHead = Array("{\"event\":".utf8)
}
