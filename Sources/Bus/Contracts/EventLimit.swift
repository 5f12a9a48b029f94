public import Frames

// One limit for the bytes of an event, wherever it comes in: published, imported, sent by a relay, signed. If each
// entry had its own limit, an event could be stored and exported that cannot be imported or forwarded. So each entry
// refuses what any one of them could not carry.
//
// A message holds more than the event: the header of the frame (44 bytes); in a run of records, the record header and
// the name of its relay (24 + 24 + 200); in an observed event `{"seq":…,"event":…}` (40); in one for a relay
// `{"relay":…}` or `["EVENT",…]`. All of it together is a small part of the reserve; the rest is for future additions.
//
// `EventFault.tooLarge` is the one sentence for people about this limit.

/// The maximum number of bytes of an event.
public enum EventLimit {
  /// Bytes of a frame that are reserved for what surrounds an event.
  public static let surroundingByteCount = 4_096

  /// The maximum number of bytes of an event's JSON.
  ///
  /// - Parameter frameLimit: the frame limit of the connection, at least 64 KiB. A limit above the usual MiB does not
  ///   allow larger events.
  public static func byteCountMaximum(frameLimit: Int = FrameReader.defaultLengthMaximum) -> Int {
    min(frameLimit, FrameReader.defaultLengthMaximum) - surroundingByteCount
  }
}
