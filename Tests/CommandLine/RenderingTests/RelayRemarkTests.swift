import Contracts
import Testing
import Wording

@testable import Rendering

@Suite("What relays say, as people see it")
struct RelayRemarkTests {
  private func relay(_ url: String, isConfigured: Bool = true, _ remarks: [RelayRemark]) -> RelayStates.Relay {
    var relay = RelayStates.Relay(relay: url, state: "open")
    relay.isConfigured = isConfigured
    relay.remarks = remarks
    return relay
  }

  @Test("Each remark is a sentence with what to do, and what a relay says drives no terminal")
  func words() {
    func words(_ kind: RelayRemark.Kind, _ text: String, _ count: UInt64 = 1, limit: Int? = nil) -> String {
      RelayRemarkText.words(RelayRemark(kind: kind, text: text, count: count, at: 1_700_000_000, limit: limit))
    }
    let at = "2023-11-14 22:13:20"
    #expect(
      words(.refusedRequest, "restricted: no\u{1b}[2J", 3)
        == #"refuses what it is asked: "restricted: no\e[2J" (3 times, last \#(at))"#)
    #expect(words(.refusedEvent, "") == "refuses events: without a reason (\(at))")
    #expect(
      words(.authWall, "auth-required: who?")
        == #"wants to know who asks, and was shown no account: "auth-required: who?" (\#(at))"#)
    #expect(words(.capped, "", 2, limit: 500) == "gives 500 events to a question at most (2 times, last \(at))")
    #expect(words(.notice, "hello") == #"says: "hello" (\#(at))"#)
  }

  @Test("The doctor fails for a configured relay that refuses or wants to know who asks, within the hour, for no other")
  func checks() {
    let wall = RelayRemark(kind: .authWall, text: "auth-required: x", count: 1, at: 10_000)
    let limited = RelayRemark(kind: .refusedRequest, text: "rate-limited: x", count: 1, at: 10_000)
    let refused = RelayRemark(kind: .refusedRequest, text: "restricted: x", count: 1, at: 10_000)
    let notice = RelayRemark(kind: .notice, text: "hi", count: 1, at: 10_000)
    let relays = [
      relay("wss://a.example", [wall, limited, refused, notice]),
      relay("wss://b.example", isConfigured: false, [wall]),
    ]
    let checks = RelayRemarkText.checks(relays, now: 10_100)
    #expect(checks.map(\.isGood) == [false, true, false, true, true])
    #expect(checks.allSatisfy { $0.name == "relay" && $0.text.hasPrefix("wss://") })
    #expect(checks[0].text.contains("supervisor.conf"), "it says what to do")
    #expect(RelayRemarkText.checks(relays, now: 13_601).isEmpty)
    // A complaint that fails nothing bears no tick all the same.
    #expect(checks.map { $0.isPending == true } == [true, true, true, false, true])
    let blocked = relay("wss://c.example", [RelayRemark(kind: .refusedEvent, text: "blocked: x", count: 1, at: 10_000)])
    #expect(RelayRemarkText.checks([blocked], now: 10_100).map { $0.isGood && $0.isPending == true } == [true])
  }

  @Test("Where none of the relays that are wanted can be reached that is a complaint, else not")
  func reach() {
    var away = relay("wss://a.example", [])
    (away.state, away.reason) = ("waiting", "no route")
    var idle = away
    idle.state = "idle"
    let checks = RelayRemarkText.checks([away, away, idle], now: 0)
    #expect(checks.map(\.isGood) == [false])
    #expect(checks.first?.text.hasPrefix("none of 2 can be reached (no route)") == true, "\(checks)")
    #expect(RelayRemarkText.checks([away, relay("wss://b.example", [])], now: 0).isEmpty)
    #expect(RelayRemarkText.checks([idle], now: 0).isEmpty)
  }

  @Test("Publications that have waited for relays for long are a complaint that says which relays, and what to do")
  func overdue() {
    var status = PlanStatus()
    #expect(PlanCheckText.checks(status, now: 0).map(\.isGood) == [true])
    (status.overdue, status.overdueRelays) = (9, ["wss://a.example", "wss://b.example"])
    let text = PlanCheckText.checks(status, now: 0).first { !$0.isGood }?.text ?? ""
    #expect(text.hasPrefix("9 publications wait for longer than 5m for wss://a.example, wss://b.example"), "\(text)")
    #expect(text.contains("'roost queue list --open'"))
  }
}
