import Contracts
import Frames
import Testing

@testable import Rendering

@Suite struct MirrorTextTests {
  /// What is said first of the copies of so many events, when so many relays were compared.
  private func sentence(events: Int, copies: [Int]) throws -> String {
    let json = """
      {"account":"alice","events":\(events),"copies":\(copies),"wanted":2,"relays":[],"repaired":0,"isRunning":false,\
      "endedAt":1700000000}
      """
    let status = try JSONPayload.decode(CopyStatus.self, from: Array(json.utf8))
    return try #require(MirrorText.copies(status, now: 1_700_000_100, .plain).first)
  }

  @Test("Copies are counted only where a relay was compared")
  func copies() throws {
    #expect(try sentence(events: 1, copies: []) == "Copies of what alice wrote: no relay could be compared.")
    #expect(try sentence(events: 3, copies: [3]) == "Copies of what alice wrote: no relay could be compared.")
    #expect(
      try sentence(events: 1, copies: [0, 0, 1])
        == "Copies of what alice wrote: 1 of 1 event has 2 or more living copies.")
    #expect(
      try sentence(events: 3, copies: [1, 0, 2])
        == "Copies of what alice wrote: 2 of 3 events have 2 or more living copies.")
    #expect(
      try sentence(events: 3, copies: [0, 0, 3])
        == "Copies of what alice wrote: all 3 events have 2 or more living copies.")
  }
}
