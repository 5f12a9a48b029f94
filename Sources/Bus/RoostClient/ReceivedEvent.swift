internal import Contracts
internal import Frames
public import Nostr

/// An event as the store gives it: verified, and with the bytes that were signed.
public struct ReceivedEvent: Sendable, Hashable {
  /// The event.
  public let event: Event
  /// Its bytes as the store keeps them: one JSON object without white space between its parts.
  public let json: [UInt8]
  /// Its place in the order of commits. Nil for an ephemeral event, which is not kept, and where events are not
  /// observed but asked for.
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

/// What an observation gives, one after the other.
public enum ObservedItem: Sendable, Hashable {
  /// An event: first those that are stored, then those that come.
  case event(ReceivedEvent)
  /// Once: all that was stored has been given, and what follows is new. Whoever observes again with this number, or
  /// with that of any later event, as `after` goes on from there.
  case storedEnd(seq: Int64)

  /// Reads a part of an answer to `store.observe`: `{"seq":n,"event":{…}}`, without `seq` for an ephemeral event, or
  /// `{"isComplete":true,"isStoredEnd":true,"seq":n}`. The store puts an event's bytes in as they are, and so they are
  /// cut out again.
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

  private static let seqHead = Array("{\"seq\":".utf8)
  private static let eventHead = Array("{\"event\":".utf8)
}
