import Bus
import Contracts
import EventArchive
import EventLoop
import Frames
import Observations
import WorkerKit

/// The form of events in the parts of an answer.
enum PartForm {
  /// Each is a part, as it is.
  case event
  /// Each is a part, with its seq: `{"seq":n,"event":{…}}`.
  case observed
  /// Many to a part (``EventPage``).
  case page

  /// Most bytes around an event.
  var surroundingByteCount: Int {
    switch self {
    case .event: 0
    case .observed: "{\"seq\":9223372036854775807,\"event\":}".utf8.count
    case .page: EventPage.headerByteCount
    }
  }

  /// The part that one event is by itself, put together around its own bytes.
  func part(seq: Int64?, kind: UInt16, _ json: UnsafeRawBufferPointer) -> BusPayload {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(json.count + surroundingByteCount)
    switch self {
    case .event: bytes.append(contentsOf: json)
    case .observed:
      bytes.append(contentsOf: seq.map { "{\"seq\":\($0),\"event\":" }?.utf8 ?? "{\"event\":".utf8)
      bytes.append(contentsOf: json)
      bytes.append(UInt8(ascii: "}"))
    case .page: EventPage.append(seq: seq, kind: kind, json, to: &bytes)
    }
    return BusPayload(bytes, isRaw: self == .page)
  }
}

/// A page that is being filled.
struct PageMaker {
  private var page: [UInt8] = []
  private let byteMaximum: Int

  /// - Parameter frameLimit: of the connection; a page fits a frame.
  init(frameLimit: Int) { byteMaximum = min(EventPage.byteTarget, frameLimit - FrameHeader.lengthMinimum) }

  /// Adds an event. When the page has no room for it, begins another one with it, and returns the full page.
  mutating func append(seq: Int64?, kind: UInt16, _ json: UnsafeRawBufferPointer) -> BusPayload? {
    let needed = EventPage.headerByteCount + json.count
    let whole = page.count + needed > byteMaximum ? take() : nil
    if page.isEmpty { page.reserveCapacity(whole == nil ? needed : byteMaximum) }
    EventPage.append(seq: seq, kind: kind, json, to: &page)
    return whole
  }

  /// The page as it is; nil when it is empty.
  mutating func take() -> BusPayload? {
    guard !page.isEmpty else { return nil }
    defer { page = [] }
    return BusPayload(page, isRaw: true)
  }
}

/// Sends the events of one answer, as fast as its caller takes them.
@EventLoopActor
final class EventSender {
  private let request: BusRequest
  private let form: PartForm
  private let reader: StoreReader
  private let reads: ArchiveReads
  private var page: PageMaker
  /// Events that were too large for a frame.
  private(set) var leftOutCount = 0
  /// Events sent, or in the page that is being filled.
  private(set) var count = 0

  init(_ request: BusRequest, _ form: PartForm, _ reads: ArchiveReads) {
    self.request = request
    self.form = form
    reader = StoreReader(role: request.callerRole)
    self.reads = reads
    page = PageMaker(frameLimit: reads.frameLimit)
  }

  /// Sends an event, or puts it into the page.
  func send(_ block: EventBlock, _ entry: EventBlock.Entry) async throws(Refusal) {
    let byteCount = entry.bytes.count + form.surroundingByteCount
    guard byteCount <= reads.partByteMaximum else {
      reads.noteLeftOut(byteCount: byteCount, seq: entry.seq)
      leftOutCount += 1
      return
    }
    count += 1
    if form == .page {
      let whole = block.withJSON(of: entry) { json in
        reader.showing(json, kind: entry.kind) { page.append(seq: entry.seq, kind: entry.kind, $0) }
      }
      if let whole { try await send(whole) }
    } else {
      let part = block.withJSON(of: entry) { json in
        reader.showing(json, kind: entry.kind) { form.part(seq: entry.seq, kind: entry.kind, $0) }
      }
      try await send(part)
    }
  }

  /// Sends the page as it is: no further event is at hand.
  func flush() async throws(Refusal) {
    if let part = page.take() { try await send(part) }
  }

  /// Sends a part.
  func send(_ part: BusPayload) async throws(Refusal) {
    if !request.sendNow(part: part) { try await request.send(part: part) }
  }

  /// Sends the events of a stream, until it ends, so many are sent, or `isWanted` says no.
  func send(
    _ stream: QueryStream, limit: Int = .max, while isWanted: () -> Bool = { true }
  ) async throws(Refusal) {
    while isWanted(), count < limit {
      switch stream.next() {
      case .event(let block, let entry): try await send(block, entry)
      case .notAtHand:
        try await flush()
        try await stream.fetch()
      case .end: return try await flush()
      }
    }
    try await flush()
  }
}
