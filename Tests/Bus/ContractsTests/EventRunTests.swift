import Contracts
import Testing

/// The RAW layouts: pages of events, runs that are offered, and what became of them.
@Suite("Runs of events") struct EventRunTests {
  private static let events = [[], [7], Array("{}".utf8), [UInt8](repeating: 9, count: 70_000)]

  private func page() -> [UInt8] {
    var page: [UInt8] = []
    for (index, event) in Self.events.enumerated() {
      event.withUnsafeBytes {
        EventPage.append(seq: index == 1 ? nil : Int64(index + 5), kind: UInt16(index * 20_000), $0, to: &page)
      }
    }
    return page
  }

  @Test("A page is read as it was written")
  func pages() throws {
    let page = page()
    let records = try EventPage.read(page)
    #expect(records.map { Array(page[$0.bytes]) } == Self.events)
    #expect(records.map(\.seq) == [5, nil, 7, 8] && records.map(\.kind) == [0, 20_000, 40_000, 60_000])
    #expect(try EventPage.read([]).isEmpty)
  }

  @Test("A record is drawn as the layout says: seq, bytes, kind, nothing, the event")
  func drawn() {
    var page: [UInt8] = []
    Array("{}".utf8).withUnsafeBytes { EventPage.append(seq: 0x0102, kind: 0x0304, $0, to: &page) }
    #expect(page == [2, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4, 3, 0, 0, 0x7B, 0x7D])
  }

  @Test("A page, a run or an answer that is cut anywhere but behind a record is refused with the place")
  func cut() throws {
    let page = Array(page().prefix(16 + 17 + 18))
    for count in 1..<page.count where ![16, 33].contains(count) {
      #expect(throws: EventPage.Problem.self) { try EventPage.read(Array(page.prefix(count))) }
    }
    var run: [UInt8] = []
    for event in Self.events.prefix(3) { OfferRun.append(event, to: &run) }
    for count in 1..<run.count where ![4, 9].contains(count) {
      #expect(throws: OfferRun.Problem.self) { try OfferRun.read(Array(run.prefix(count))) }
    }
    let answer = OfferOutcome.bytes(of: [.invalid("why"), .deleted])
    for count in 1..<answer.count where count != 19 {
      #expect(throws: OfferRun.Problem.self) { try OfferOutcome.read(Array(answer.prefix(count))) }
    }
    var strange = page
    strange[14] = 1
    #expect(throws: EventPage.Problem.self) { try EventPage.read(strange) }
    #expect(throws: OfferRun.Problem.self) { try OfferOutcome.read([77] + [UInt8](repeating: 0, count: 15)) }
  }

  @Test("A run is read as it was written, and has no more events than there are places for")
  func runs() throws {
    var run: [UInt8] = []
    for event in Self.events { OfferRun.append(event, to: &run) }
    #expect(try OfferRun.read(run).map { Array(run[$0]) } == Self.events)
    let full = [UInt8](repeating: 0, count: 4 * OfferRun.countMaximum)
    #expect(try OfferRun.read(full).count == OfferRun.countMaximum)
    #expect(throws: OfferRun.Problem.self) { try OfferRun.read(full + [0, 0, 0, 0]) }
  }

  @Test("Outcomes are read as they were written; together they fit the smallest frame, whatever the reasons")
  func outcomes() throws {
    let outcomes: [OfferOutcome] = [
      .stored(seq: 1), .duplicate(seq: .max), .mended(seq: 3), .superseded, .deleted, .vanished, .expired, .ephemeral,
      .ephemeralAgain, .invalid("the id is wrong: é"), .invalid(""),
    ]
    #expect(try OfferOutcome.read(OfferOutcome.bytes(of: outcomes)) == outcomes)
    let long = Array(repeating: OfferOutcome.invalid(String(repeating: "x", count: 1_000)), count: 2_048)
    let bytes = OfferOutcome.bytes(of: long)
    #expect(bytes.count <= 64 << 10)
    let read = try OfferOutcome.read(bytes)
    #expect(read.count == 2_048 && read.first == long.first && read.last == .invalid(""))
  }
}
