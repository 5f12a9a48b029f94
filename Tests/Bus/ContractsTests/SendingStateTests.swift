import Contracts
import Frames
import Testing

@Suite("Whether events can be sent") struct SendingStateTests {
  private static func relay(
    _ state: RelayStateWord?, reads: Bool = true, writes: Bool = true, failures: UInt64? = nil, reason: String? = nil,
    connector: String? = "relays"
  ) -> PlanRelayList.Relay {
    var told = state.map { RelayStates.Relay(relay: "wss://a.example", state: $0) }
    told?.failuresInRow = failures
    told?.reason = reason
    return .init(
      relay: "wss://a.example", sources: [], reads: reads, writes: writes, connector: connector, state: told)
  }

  @Test(
    "One relay",
    arguments: [
      (relay(.open), SendingState.online), (relay(.open, writes: false), .readOnly), (relay(.idle), .idle),
      (relay(.idle, writes: false), .readOnly), (relay(.connecting), .reconnecting),
      (relay(.closing), .reconnecting), (relay(.waiting, failures: 2), .reconnecting),
      (relay(.waiting, failures: 3), .offline), (relay(.connecting, failures: 3), .offline),
      (relay(.connecting, writes: false), .readOnly), (relay(.waiting, writes: false, failures: 9), .offline),
      (relay(.quarantined), .offline), (relay("of-a-later-version"), .offline), (relay(nil), .offline),
      (relay(.open, reads: false, writes: false), .noRelays), (relay(.open, connector: nil), .noRelays),
      (relay(.idle, reason: "that is this Roost's own relay"), .noRelays), (relay(.open, reads: false), .online),
    ])
  func one(relay: PlanRelayList.Relay, state: SendingState) {
    #expect(SendingState(of: [relay]) == state)
  }

  @Test(
    "The best relay decides",
    arguments: [
      ([], SendingState.noRelays), ([relay(.waiting, failures: 5), relay(.open)], .online),
      ([relay(.open, writes: false), relay(.idle)], .idle),
      ([relay(.open, writes: false), relay(.connecting)], .reconnecting),
      ([relay(.open, writes: false), relay(.waiting, failures: 3)], .readOnly),
      ([relay(.quarantined), relay(.open, reads: false, writes: false)], .offline),
      ([relay(.connecting), relay(.idle)], .idle), ([relay(.idle), relay(.open)], .online),
    ])
  func several(relays: [PlanRelayList.Relay], state: SendingState) {
    #expect(SendingState(of: relays) == state)
    #expect(SendingState(of: relays.reversed()) == state)
  }

  @Test("A relay that stays away does not flicker between two words while it is dialled again and again")
  func steady() {
    let away = (3...20).flatMap { failures in
      [Self.relay(.waiting, failures: failures), Self.relay(.connecting, failures: failures)]
    }
    #expect(Set(away.map { SendingState(of: [$0]) }) == [.offline])
  }
}
