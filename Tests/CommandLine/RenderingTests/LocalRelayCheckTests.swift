import Contracts
import Testing
import Wording

@testable import Rendering

@Suite("What doctor says about the local relay's clients")
struct LocalRelayCheckTests {
  private var status: LocalRelayStatus {
    var status = LocalRelayStatus()
    (status.connections, status.connectionsMaximum, status.turnedAway) = (9, 10_000, 3)
    (status.outsideMaximum, status.displaced) = (1_250, 1)
    return status
  }

  @Test("Clients that were turned away lately are a matter, long ago they are none")
  func turnedAway() {
    var status = status
    #expect(LocalRelayCheckText.checks(status).map(\.isGood) == [true])
    status.turnedAwaySecondsAgo = 65
    let checks = LocalRelayCheckText.checks(status)
    #expect(checks.map(\.isGood) == [false])
    #expect(
      checks.first?.text.contains("3 connections to the local relay were answered 503, the last 1m 5s ago") == true)
    status.turnedAwaySecondsAgo = 600
    #expect(LocalRelayCheckText.checks(status).map(\.isGood) == [true])
  }

  @Test("So are clients that have not shown themselves and take each other's places")
  func displaced() {
    var status = status
    status.displacedSecondsAgo = 2
    let checks = LocalRelayCheckText.checks(status)
    #expect(checks.map(\.isGood) == [false])
    #expect(checks.first?.text.contains("(1250): 1 connection gave way, the last 2s ago") == true)
  }
}
