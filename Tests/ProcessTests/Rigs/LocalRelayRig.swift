import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

/// What a relay on top of the store asks it: runs that are offered, and pages.
extension StoreClient {
  /// Sends a run of `store.offer`; its id.
  func sendOffer(_ events: [[UInt8]]) throws -> UInt64 {
    var run: [UInt8] = []
    for event in events { OfferRun.append(event, to: &run) }
    return try send(run, to: "store.offer")
  }

  /// What became of each.
  func offer(_ events: [[UInt8]]) throws -> [OfferOutcome] {
    let answer = try peer.answer(to: try sendOffer(events), within: 60)
    #expect(answer.isResponse && answer.terminal.header.flags.contains(.raw), "\(answer.text)")
    return try OfferOutcome.read(answer.terminal.payload)
  }

  /// Sends a RAW request; its id.
  func send(_ bytes: [UInt8], to method: String) throws -> UInt64 {
    let header = try peer.request(method, flags: .raw)
    try peer.wait("credit") { peer.hasCredit }
    peer.spend(bytes.count)
    peer.send(header, bytes)
    return header.id
  }

  /// The terminal answer of a query or a count.
  func counted(_ method: String, _ arguments: String) throws -> StoreCount {
    let answer = try peer.call(method, arguments)
    #expect(answer.isResponse, "\(answer.text)")
    return try JSONPayload.decode(StoreCount.self, from: answer.terminal.payload)
  }

  /// What came so far of an observation, page by page.
  func received(_ id: UInt64) throws -> [PagedPart] { try peer.parts(of: id).map { try PagedPart($0) } }

  /// Waits until an observation has brought so many events, and the end of what is stored.
  func await(_ count: Int, of id: UInt64, within seconds: Double = 30) throws -> [PagedPart] {
    var (parts, read): ([PagedPart], Int) = ([], 0)
    try peer.wait("\(count) events", within: seconds) {
      let frames = peer.parts(of: id)
      // What cannot be read is found missing by whoever waits.
      for frame in frames[read...] { if let part = try? PagedPart(frame) { parts.append(part) } }
      read = frames.count
      return parts.reduce(0) { $0 + $1.events.count } >= count && parts.contains { $0.end != nil }
    }
    return parts
  }
}

/// A part of an answer in pages: events, or the end of what is stored.
struct PagedPart {
  struct PagedEvent: Hashable {
    var seq: Int64?
    var kind: UInt16
    var json: String
  }

  var events: [PagedEvent] = []
  var end: StoredEnd?

  init(_ frame: BusPeer.Frame) throws {
    guard frame.header.flags.contains(.raw) else {
      end = try JSONPayload.decode(StoredEnd.self, from: frame.payload)
      return
    }
    events = try EventPage.read(frame.payload).map {
      PagedEvent(seq: $0.seq, kind: $0.kind, json: String(decoding: frame.payload[$0.bytes], as: UTF8.self))
    }
    #expect(frame.payload.count <= EventPage.byteTarget || events.count == 1)
  }

  /// A single part of `store.observe` without pages, read the same way.
  static func single(_ frame: BusPeer.Frame) throws -> PagedEvent? {
    let text = frame.text
    guard !text.contains("isStoredEnd"), let start = text.firstRange(of: "\"event\":") else { return nil }
    let json = String(text[start.upperBound...].dropLast())
    let seq = text.hasPrefix("{\"seq\":") ? Int64(text.dropFirst(7).prefix { $0.isNumber }) : nil
    return PagedEvent(seq: seq, kind: try Event(json: Array(json.utf8)).kind, json: json)
  }
}
