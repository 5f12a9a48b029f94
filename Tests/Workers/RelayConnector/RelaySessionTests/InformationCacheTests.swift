import Addresses
import Clocks
import Nostr
import RelaySession
import Testing

@Suite("The shelf of what relays say of themselves")
struct InformationCacheTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  private func url(_ number: Int) throws -> RelayURL { try RelayURL("wss://r\(number).example") }

  private func document(_ number: Int, byteCount: Int = 100) -> InformationCache.Document {
    var information = RelayInformation()
    information.name = "relay \(number)"
    return .init(information, complaints: [], fetchedAt: Int64(number), byteCount: byteCount)
  }

  @Test("A document counts for six hours, and a newer one takes its place")
  func age() throws {
    var shelf = InformationCache()
    let url = try url(1)
    #expect(shelf.connected(url, at: start) == nil)
    shelf.fetched(document(1), of: url, at: start)
    let end = start.advanced(milliseconds: InformationCache.ageMaximumMilliseconds)
    #expect(shelf.document(of: url, at: end) == nil)
    #expect(shelf.document(of: url, at: Instant(nanoseconds: end.nanoseconds - 1_000_000)) == document(1))
    shelf.fetched(document(2), of: url, at: end)
    #expect(shelf.document(of: url, at: end) == document(2) && shelf.count == 1)
  }

  @Test("After its use a document counts for ten minutes, and again for long when the relay is used again")
  func grace() throws {
    var shelf = InformationCache()
    let url = try url(1)
    let soon = start.advanced(milliseconds: InformationCache.graceMilliseconds - 1)
    _ = shelf.connected(url, at: start)
    #expect(shelf.nextFetch() == url)
    shelf.fetchEnded(url)
    shelf.fetched(document(1), of: url, at: start)
    shelf.left(url, at: start)
    #expect(shelf.connected(url, at: soon) == document(1) && shelf.nextFetch() == nil)
    #expect(shelf.document(of: url, at: soon.advanced(milliseconds: 3_600_000)) == document(1))
    shelf.left(url, at: soon)
    let late = soon.advanced(milliseconds: InformationCache.graceMilliseconds)
    #expect(shelf.connected(url, at: late) == nil && shelf.nextFetch() == url)
  }

  @Test("A document that comes after the relay was left counts for ten minutes")
  func late() throws {
    var shelf = InformationCache()
    let url = try url(1)
    _ = shelf.connected(url, at: start)
    #expect(shelf.nextFetch() == url)
    shelf.left(url, at: start)
    shelf.fetched(document(1), of: url, at: start)
    #expect(shelf.document(of: url, at: start) == document(1))
    #expect(shelf.document(of: url, at: start.advanced(milliseconds: InformationCache.graceMilliseconds)) == nil)
  }

  @Test("Four documents are fetched at a time, in the order of the connections, each once")
  func fetches() throws {
    var shelf = InformationCache()
    for number in [1, 2, 3, 1, 4, 5, 6] { _ = shelf.connected(try url(number), at: start) }
    var begun: [RelayURL] = []
    while let relay = shelf.nextFetch() { begun.append(relay) }
    #expect(begun == (try (1...4).map(url)))
    _ = shelf.connected(try url(1), at: start)
    shelf.left(try url(5), at: start)
    shelf.fetchEnded(begun[2])
    #expect(shelf.nextFetch() == (try url(6)) && shelf.nextFetch() == nil)
  }

  @Test("No more documents are kept than the bounds allow, and the oldest go first")
  func bounds() throws {
    var shelf = InformationCache()
    for number in 0...InformationCache.documentMaximum {
      shelf.fetched(document(number), of: try url(number), at: start)
    }
    #expect(shelf.count == InformationCache.documentMaximum)
    #expect(shelf.document(of: try url(0), at: start) == nil)
    #expect(shelf.document(of: try url(1), at: start) != nil)
    let half = InformationCache.byteCountMaximum / 2
    for number in 1_000...1_002 { shelf.fetched(document(number, byteCount: half), of: try url(number), at: start) }
    #expect(shelf.count == 2)
    #expect(shelf.document(of: try url(1_000), at: start) == nil)
    shelf.fetched(document(7, byteCount: .max / 2), of: try url(7), at: start)
    #expect(shelf.count == 1)
    #expect(shelf.document(of: try url(7), at: start) != nil)
  }
}
