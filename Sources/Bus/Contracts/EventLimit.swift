public import Frames

// One limit for the bytes of an event, wherever one comes in: published, imported, sent by a relay, signed. What a
// place could just carry by itself would differ from place to place, and then an event could be stored and exported
// that cannot be imported or sent on. So each refuses what any of them could not carry.
//
// What stands around an event: the header of the frame (44 bytes), and of a run of records its own header and the name
// of its relay (24 + 24 + 200), of an observed one `{"seq":…,"event":…}` (40), of one for a relay `{"relay":…}` or
// `["EVENT",…]`. All of it together is a small part of what is kept free, and the rest is room for what comes.
//
// A person is told it in one sentence, that of `EventFault.tooLarge`.

/// The most bytes of an event.
public enum EventLimit {
  /// Bytes of a frame that are kept for what stands around an event.
  public static let surroundingByteCount = 4_096

  /// Most bytes of an event's JSON.
  ///
  /// - Parameter frameLimit: of the connection, 64 KiB at least; one above the usual MiB makes events no larger.
  public static func byteCountMaximum(frameLimit: Int = FrameReader.defaultLengthMaximum) -> Int {
    min(frameLimit, FrameReader.defaultLengthMaximum) - surroundingByteCount
  }
}
