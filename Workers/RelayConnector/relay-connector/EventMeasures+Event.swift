import Nostr
import RelaySession

extension EventMeasures {
  /// The measures of an event, by its JSON; nil if it cannot be read: the relay will say what is wrong.
  init?(of json: [UInt8]) {
    guard let event = try? Event(json: json) else { return nil }  // As above.
    self.init(
      byteCount: json.count, tagCount: event.tags.count, contentLength: event.content.unicodeScalars.count,
      proofOfWork: event.id.leadingZeroBitCount, createdAt: event.createdAt)
  }
}
