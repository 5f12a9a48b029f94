internal import Contracts

// Metrics of the push relay.

extension Metrics {
  static func addPush(_ status: PushStatus, to text: inout MetricText) {
    let platforms = status.platforms.map { MetricText.Member(labels: [("platform", $0.name)], value: $0) }
    text.add(
      "roost_push_platform_state", .gauge, "State of a platform: 1 for the state it is in.",
      platforms.flatMap { member in
        ["off", "ready", "away"].map { MetricText.Sample(member.labels + [("state", $0)], $0 == member.value.state) }
      })
    text.add("roost_push_in_flight", .gauge, "Pushes sent and not answered yet.", of: platforms) { $0.inFlight }
    text.add("roost_push_delivered_total", .counter, "Pushes that the platform took.", of: platforms) { $0.delivered }
    text.add("roost_push_repeated_total", .counter, "Pushes sent again.", of: platforms) { $0.repeated }
    text.add("roost_push_failed_total", .counter, "Pushes given up.", of: platforms) { $0.failed }
    text.add("roost_push_expired_total", .counter, "Pushes whose wake's time was over.", of: platforms) { $0.expired }
    text.add("roost_push_pruned_total", .counter, "Devices forgotten, their tokens being dead.", of: platforms) {
      $0.pruned
    }
    text.add("roost_push_devices", .gauge, "Devices registered.", status.devices)
    text.add("roost_push_waiting", .gauge, "Wakes on their way.", status.waiting)
    text.add("roost_push_accepted_total", .counter, "Wakes accepted since the ledger was made.", status.accepted)
    text.add(
      "roost_push_ended_total", .counter, "Wakes that have ended, by how.",
      ["coalesced", "delivered", "expired", "undeliverable"].map {
        MetricText.Sample([("how", $0)], status.ended[$0] ?? 0)
      })
    text.add(
      "roost_push_refused_total", .counter, "Requests refused, by the error's code.",
      status.refused.sorted { $0.key < $1.key }.map { MetricText.Sample([("code", $0.key)], $0.value) })
    text.add("roost_push_dropped_total", .counter, "Wakes of strangers dropped in silence.", status.dropped)
    text.add("roost_push_unreadable", .gauge, "Tokens that no key opens.", status.unreadable)
    text.add(
      "roost_push_certificate_refused", .gauge, "Whether the certificate in the files is not taken.",
      status.certificateFault == nil ? 0 : 1)
  }
}
