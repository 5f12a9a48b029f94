internal import Contracts

// Metrics of single workers: store, planner, connectors.

extension Metrics {
  /// Lanes of the store, in the order of its status.
  private static let lanes = ["local", "live", "bulk"]

  static func addStore(_ status: StoreStatus, to text: inout MetricText) {
    text.add("roost_store_events", .gauge, "Events stored.", status.events)
    text.add("roost_store_sequence", .gauge, "The place of the last event in the order of commits.", status.seq)
    text.add("roost_store_database_bytes", .gauge, "Size of the database file and its log.", status.bytes)
    text.add("roost_store_used_bytes", .gauge, "What of the database is in use.", status.usedBytes)
    if let limit = status.limitBytes {
      text.add("roost_store_limit_bytes", .gauge, "What of the database may be in use.", limit)
    }
    text.add("roost_store_full", .gauge, "Whether the limit is reached for good.", status.isFull == true ? 1 : 0)
    text.add("roost_store_writable", .gauge, "Whether events can be written.", status.fault == nil ? 1 : 0)
    text.add("roost_store_observers", .gauge, "Observations under way.", status.observers)
    text.add("roost_store_unsearched", .gauge, "Events whose words are not indexed yet.", status.unsearched)
    text.add(
      "roost_store_waiting", .gauge, "Events that wait to be verified and written.",
      zip(lanes, status.waiting).map { MetricText.Sample([("lane", $0)], $1) })
    text.add("roost_store_verified_total", .counter, "Signatures checked.", status.verified)
    text.add("roost_store_duplicates_total", .counter, "Events that were known.", status.duplicates)
    text.add("roost_store_invalid_total", .counter, "Events refused as invalid.", status.invalid)
    text.add("roost_store_unchecked_total", .counter, "Events taken by a sample of their relay.", status.unchecked)
    text.add("roost_store_evicted_total", .counter, "Events removed to make room.", status.evicted)
    text.add("roost_store_transactions_total", .counter, "Transactions committed.", status.transactions)
    text.add(
      "roost_store_relay_forged_total", .counter, "Events of a relay that no author signed; the worst relays.",
      status.relays.map { MetricText.Sample([("relay", $0.relay)], $0.forged) })
  }

  static func addPlan(_ status: PlanStatus, to text: inout MetricText) {
    text.add(
      "roost_queue_publications", .gauge, "Events accepted for relays, by what became of them.",
      Publication.State.allCases.map { state in
        MetricText.Sample([("state", state.rawValue)], status.publications[state.rawValue] ?? 0)
      })
    text.add("roost_queue_in_flight", .gauge, "Events sent to relays and not answered yet.", status.inFlight)
    text.add("roost_queue_writable", .gauge, "Whether events are accepted.", status.fault == nil ? 1 : 0)
    if let sending = status.sending {
      text.add(
        "roost_plan_sending", .gauge, "Whether events can be sent to relays: 1 for the state that holds.",
        SendingState.allCases.map { MetricText.Sample([("state", $0.rawValue)], $0 == sending) })
    }
    text.add("roost_plan_observes", .gauge, "Observations that relays are asked for.", status.observes)
    text.add("roost_plan_requests", .gauge, "Requests that are wanted of relays.", status.requests)
    text.add("roost_plan_ephemeral_relays", .gauge, "Relays dialled that no group has.", status.ephemeralRelays)
  }

  /// The relays of each connector, by state.
  static func addRelays(_ connectors: [RoostSnapshot.Connector], to text: inout MetricText) {
    var relays: [MetricText.Member<RelayStates.Relay>] = []
    var states: [MetricText.Sample] = []
    for connector in connectors {
      guard let own = connector.relays.value?.relays else { continue }
      relays += own.map { relay in
        MetricText.Member(labels: [("connector", connector.name), ("relay", relay.relay)], value: relay)
      }
      states += RelayStateWord.allCases.map { state in
        MetricText.Sample([("connector", connector.name), ("state", state.rawValue)], own.count { $0.state == state })
      }
    }
    text.add("roost_relays", .gauge, "Relays of a connector in a state.", states)
    addOutside(connectors, to: &text)
    guard !relays.isEmpty else { return }
    let queued = relays.compactMap { $0.value.queuedCount }.sorted()
    if !queued.isEmpty {
      text.add(
        "roost_relays_queued_p95", .gauge,
        "Requests that wait to be sent: 19 of 20 relays have no more than this.", queued[(queued.count * 95 - 1) / 100])
    }
    text.add(
      "roost_relays_without_figures", .gauge, "Relays beyond the \(relayMaximum) that have figures of their own.",
      max(0, relays.count - relayMaximum))
    addEach(Array(relays.prefix(relayMaximum)), to: &text)
  }

  /// How well reading at the relays of other people goes.
  private static func addOutside(_ connectors: [RoostSnapshot.Connector], to text: inout MetricText) {
    let outside = connectors.compactMap { connector in
      connector.relays.value?.outside.map {
        MetricText.Member(labels: [("connector", connector.name)], value: $0)
      }
    }
    text.add("roost_outside_dials_total", .counter, "Dials of relays that no group has.", of: outside) { $0.dials }
    text.add("roost_outside_ended_total", .counter, "Such dials and connections that ended.", of: outside) { $0.ended }
    text.addTimes(
      "roost_outside_ended_seconds_total", .counter, "How long those lasted together.", of: outside,
      milliseconds: \.milliseconds)
    text.add(
      "roost_outside_new_events_total", .counter, "Events of such relays that the store lacked.", of: outside
    ) { $0.newEvents }
  }

  private static func addEach(_ relays: [MetricText.Member<RelayStates.Relay>], to text: inout MetricText) {
    text.add("roost_relay_open", .gauge, "Whether the relay is connected.", of: relays) { $0.state == .open ? 1 : 0 }
    text.addTimes(
      "roost_relay_open_seconds_total", .counter, "Time connected, all connections together.", of: relays,
      milliseconds: \.openMilliseconds)
    text.add("roost_relay_connections_total", .counter, "Connections made.", of: relays) { $0.connections }
    text.add("roost_relay_connection_failures_total", .counter, "Attempts to connect that failed.", of: relays) {
      $0.failures
    }
    text.add("roost_relay_messages_total", .counter, "Messages received.", of: relays) { $0.messages }
    text.add("roost_relay_received_bytes_total", .counter, "Bytes of those messages.", of: relays) { $0.bytes }
    text.add("roost_relay_events_total", .counter, "Events received.", of: relays) { $0.events }
    text.add("roost_relay_accepted_total", .counter, "Events that the relay took.", of: relays) { $0.accepted }
    text.add("roost_relay_refusals_total", .counter, "Requests and events that the relay refused.", of: relays) {
      $0.refusals
    }
    text.addTimes(
      "roost_relay_latency_seconds", .gauge, "Time of the last answer.", of: relays,
      milliseconds: \.latencyMilliseconds)
    addAverages(relays, to: &text)
    addSubscriptions(relays, to: &text)
    text.add(
      "roost_relay_refused_total", .counter, "Refusals of the relay, by what they are about.",
      relays.flatMap { relay in
        (relay.value.refusalsByClass ?? [:]).sorted { $0.key < $1.key }.map { kind, count in
          MetricText.Sample(relay.labels + [("class", kind)], count)
        }
      })
    text.add("roost_relay_pages_total", .counter, "Pages of stored events that the relay sent.", of: relays) {
      $0.pages ?? 0
    }
    text.add(
      "roost_relay_drains_total", .counter, "Ends of fetching stored events, by how they ended.",
      relays.flatMap { relay in
        (relay.value.drains ?? [:]).sorted { $0.key < $1.key }.map { end, count in
          MetricText.Sample(relay.labels + [("end", end)], count)
        }
      })
    text.add("roost_relay_new_events_total", .counter, "Events of the relay that the store lacked.", of: relays) {
      $0.newEvents ?? 0
    }
    text.add("roost_relay_authentications_total", .counter, "Authentications at the relay that have ended.", of: relays)
    {
      $0.authentications ?? 0
    }
    text.add(
      "roost_relay_authentication_failures_total", .counter, "Authentications that failed.", of: relays
    ) { $0.authenticationFailures ?? 0 }
    text.add(
      "roost_relay_invalid_events_total", .counter, "Events of the relay that the store has rejected.", of: relays
    ) { $0.invalidEvents ?? 0 }
  }

  private static func addAverages(
    _ relays: [MetricText.Member<RelayStates.Relay>], to text: inout MetricText
  ) {
    text.addTimes(
      "roost_relay_connect_seconds", .gauge, "Time to connect, a moving average.", of: relays,
      milliseconds: \.connectMilliseconds)
    text.addTimes(
      "roost_relay_eose_seconds", .gauge, "Time from a REQ to its EOSE, a moving average.", of: relays,
      milliseconds: \.storedMilliseconds)
    text.addTimes(
      "roost_relay_dialled_seconds_total", .counter, "Time since the relay was first dialled.", of: relays,
      milliseconds: \.dialledMilliseconds)
  }

  private static func addSubscriptions(
    _ relays: [MetricText.Member<RelayStates.Relay>], to text: inout MetricText
  ) {
    text.add("roost_relay_subscriptions", .gauge, "Subscriptions open.", of: relays) { $0.subscriptionCount }
    text.add("roost_relay_subscriptions_allowed", .gauge, "Subscriptions that may be open.", of: relays) {
      $0.subscriptionMaximum
    }
    text.add("roost_relay_queued", .gauge, "Requests that wait to be sent.", of: relays) { $0.queuedCount }
  }
}
