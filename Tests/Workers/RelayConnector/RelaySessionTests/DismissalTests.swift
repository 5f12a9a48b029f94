import Addresses
import Clocks
import RelaySession
import Testing

@Suite("Relays that asked not to be dialled again")
struct DismissalTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  @Test("A relay that closes with 4000 is left alone for an hour, or until a caller asks for it")
  func hour() throws {
    var dismissals = Dismissals()
    let url = try RelayURL("wss://relay.example")
    dismissals.closed(url, "go away", at: start)
    let dismissal = try #require(dismissals.dismissal(of: url, at: start.advanced(milliseconds: 600_000)))
    #expect(dismissal.milliseconds == 3_000_000 && dismissal.reason.contains("go away"))
    #expect(dismissals.dismissal(of: url, at: start.advanced(milliseconds: Dismissals.milliseconds)) == nil)
    dismissals.forget(url)
    #expect(dismissals.dismissal(of: url, at: start) == nil)
  }

  @Test("A relay that blocks is left alone until that is forgotten")
  func blocks() throws {
    var dismissals = Dismissals()
    let url = try RelayURL("wss://relay.example")
    dismissals.add(url, "blocked: no")
    #expect(dismissals.dismissal(of: url, at: start.advanced(milliseconds: 1 << 40))?.reason == "blocked: no")
    dismissals.forget(url)
    #expect(dismissals.dismissal(of: url, at: start) == nil)
  }

  @Test("No more than 256 relays are remembered, and the oldest is forgotten")
  func bound() throws {
    var dismissals = Dismissals()
    for number in 0...256 { dismissals.closed(try RelayURL("wss://r\(number).example"), "", at: start) }
    #expect(dismissals.dismissal(of: try RelayURL("wss://r0.example"), at: start) == nil)
    #expect(dismissals.dismissal(of: try RelayURL("wss://r1.example"), at: start) != nil)
  }
}
