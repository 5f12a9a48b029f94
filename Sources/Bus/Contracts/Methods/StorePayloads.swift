public import Frames

// Payloads of the event store that are handled as bytes. IngestRecords.swift, EventPages.swift, OfferContract.swift and
// ReconcileContract.swift explain their layouts; `docs/methods.json` shows the drawings from here.

/// A run of events on its way to the store: ``IngestRecord``s, RAW.
public struct IngestRun: BytePayload, Hashable {
  /// The layout of records.
  public static var form: PayloadForm {
    .raw(
      name: "ingest-run",
      drawing: """
        Records to the end, 16384 at most. All numbers little-endian.
         0  u8   kind: 0 event, 1 end of stored events (EOSE), 2 end of a page, 3 name of a relay, 4 filter of a subscription
         1  u8   3 x 0
         4  u32  relay: a number that an earlier record of kind 3 gave a URL; 0 = no relay
         8  u32  subscription: the sender's own number
        12  u32  byteCount
        16  u64  received: nanoseconds since 1970
        24       byteCount bytes: the event as it came; the relay's URL; one filter as JSON; of an end nothing or i64 since, i64 until
        """)
  }
  /// The records.
  public var bytes: [UInt8]
  /// Whether the bytes are RAW.
  public var isRaw: Bool

  /// A run.
  public init(_ bytes: [UInt8], isRaw: Bool = true) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}

/// A part of `store.query`: one event as JSON, or with `pages` an ``EventPage``, RAW.
public struct QueriedEvents: BytePayload, Hashable {
  /// An event or a page.
  public static var form: PayloadForm { .either([.event, EventPage.form]) }
  /// The event, or the page.
  public var bytes: [UInt8]
  /// Whether it is a page.
  public var isRaw: Bool

  /// An event or a page.
  public init(_ bytes: [UInt8], isRaw: Bool) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}

/// A part of `store.observe`: `{"seq":n,"event":{…}}`, or with `pages` an ``EventPage``, RAW; and once ``StoredEnd``.
public struct ObservedEvents: BytePayload, Hashable {
  /// An event, a page, or the end of the stored events.
  public static var form: PayloadForm { .either([.json(ObservedEvent.self), EventPage.form, .json(StoredEnd.self)]) }
  /// The part.
  public var bytes: [UInt8]
  /// Whether it is a page.
  public var isRaw: Bool

  /// A part.
  public init(_ bytes: [UInt8], isRaw: Bool) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}

/// One event of `store.observe`, without `pages`.
public struct ObservedEvent: Codable, Sendable, Hashable {
  /// Its place in the order of commits; absent for an ephemeral one, and for what is sent for `superseded`.
  public var seq: Int64?
  /// The event.
  public var event: RawJSON
  /// The relay that sent it; only with `superseded`, of a version of a list that comes now.
  public var relay: String?
}

/// A run of events offered to the store, RAW: see ``OfferRun``.
public struct OfferedEvents: BytePayload, Hashable {
  /// The layout of a run.
  public static var form: PayloadForm {
    .raw(
      name: "offer-run",
      drawing: """
        Records to the end. All numbers little-endian.
        0  u32  byteCount
        4       byteCount bytes: one signed event as JSON
        """)
  }
  /// The run.
  public var bytes: [UInt8]
  /// Whether the bytes are RAW.
  public var isRaw: Bool

  /// A run.
  public init(_ bytes: [UInt8], isRaw: Bool = true) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}

/// The answer of `store.offer`, RAW: ``OfferOutcome``s in the order of the events.
public struct OfferOutcomes: BytePayload, Hashable {
  /// The layout of outcomes.
  public static var form: PayloadForm {
    .raw(
      name: "offer-outcomes",
      drawing: """
        Records to the end, one for each event, in their order. All numbers little-endian.
         0  u32  outcome: 0 stored, 1 duplicate, 2 mended, 3 superseded, 4 deleted, 5 vanished, 6 expired, 7 ephemeral,
                 8 ephemeral and met before, 9 invalid
         4  u32  byteCount
         8  i64  seq: of 0, 1 and 2 the event's place in the order of commits; else 0
        16       byteCount bytes: of 9 the reason
        """)
  }
  /// The outcomes.
  public var bytes: [UInt8]
  /// Whether the bytes are RAW.
  public var isRaw: Bool

  /// Outcomes.
  public init(_ bytes: [UInt8], isRaw: Bool = true) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}

extension EventPage {
  /// The layout of a page.
  public static var form: PayloadForm {
    .raw(
      name: "event-page",
      drawing: """
        Records to the end. All numbers little-endian.
         0  i64  seq: the event's place in the order of commits; 0 = ephemeral, it has none
         8  u32  byteCount
        12  u16  kind
        14  u16  0
        16       byteCount bytes: the event as JSON
        """)
  }
}

extension ReconcileMessage: Payload {
  /// The layout of a message.
  public static var form: PayloadForm {
    .raw(
      name: "reconcile-message",
      drawing: """
        0  i64  session, little-endian, from 1
        8       the message's bytes (NIP-77, without hexadecimal digits), to the end
        """)
  }

  /// Reads a message.
  ///
  /// - Throws: `bad-payload` when it is JSON, or too short for a session number.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self {
    guard isRaw, let message = Self(payload: bytes) else {
      throw Refusal(.badPayload, "a message is RAW, behind the number of its session", outcome: .notStarted)
    }
    return message
  }

  /// The bytes.
  public var written: (bytes: [UInt8], isRaw: Bool) { (payload, true) }
}

extension DifferentEvents: Payload {
  /// The layout of a part.
  public static var form: PayloadForm {
    .raw(
      name: "different-events",
      drawing: """
        u8 side      who lacks them: 0 the store, 1 the relay
        to the end   ids of events, 32 bytes each
        """)
  }

  /// Reads a part.
  ///
  /// - Throws: `bad-payload` when it is JSON, or no side with whole ids.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self {
    guard isRaw, let side = bytes.first.flatMap(Side.init(rawValue:)), (bytes.count - 1).isMultiple(of: idByteCount)
    else {
      throw Refusal(.badPayload, "a side and ids are RAW: 0 or 1, then 32 bytes each", outcome: .notStarted)
    }
    return Self(lackingSide: side, Array(bytes.dropFirst()))
  }

  /// The bytes.
  public var written: (bytes: [UInt8], isRaw: Bool) { ([lackingSide.rawValue] + bytes, true) }
}

extension EventIDs: Payload {
  /// The layout.
  public static var form: PayloadForm {
    .raw(name: "event-ids", drawing: "To the end: ids of events, 32 bytes each.")
  }

  /// Reads ids.
  ///
  /// - Throws: `bad-payload` when it is JSON, or not whole ids.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self {
    guard isRaw, bytes.count.isMultiple(of: idByteCount) else {
      throw Refusal(.badPayload, "ids are RAW, 32 bytes each", outcome: .notStarted)
    }
    return Self(bytes)
  }

  /// The bytes.
  public var written: (bytes: [UInt8], isRaw: Bool) { (bytes, true) }
}
