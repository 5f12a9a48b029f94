internal import Clocks
internal import Contracts

// How long relays and the local relay take, as histograms: of all relays of a connector together, because a histogram
// for each relay would be thousands of series.

extension Metrics {
  static func addLatencies(_ connectors: [RoostSnapshot.Connector], to text: inout MetricText) {
    func members(
      _ latency: KeyPath<RelayStates.Latencies, RelayStates.Latency>
    ) -> [MetricText.Member<LatencyHistogram>] {
      connectors.compactMap { connector in
        guard let told = connector.relays.value?.latencies?[keyPath: latency],
          let histogram = LatencyHistogram(counts: told.counts, sumMicroseconds: told.sumMicroseconds)
        else { return nil }
        return MetricText.Member(labels: [("connector", connector.name)], value: histogram)
      }
    }
    text.addHistogram(
      "roost_relays_connect_duration_seconds", "Time from dialling a relay to an open connection.",
      of: members(\.connect))
    text.addHistogram(
      "roost_relays_eose_duration_seconds", "Time from a REQ to a relay's EOSE.", of: members(\.stored))
    text.addHistogram(
      "roost_relays_ok_duration_seconds", "Time from an EVENT to a relay's OK.", of: members(\.accepted))
  }

  static func addLocalLatencies(_ snapshot: RoostSnapshot, to text: inout MetricText) {
    text.addHistogram(
      "roost_local_ok_duration_seconds", "Time from a client's EVENT to its OK.",
      of: [MetricText.Member(labels: [], value: snapshot.eventLatency)])
    text.addHistogram(
      "roost_local_eose_duration_seconds", "Time from a client's REQ to its EOSE, except at /fetch.",
      of: [MetricText.Member(labels: [], value: snapshot.queryLatency)])
  }
}
