import Clocks
import Contracts
import TestSupport
import Testing

@testable import StatusPages

@Suite("The figures for Prometheus")
struct MetricsTests {
  private let text = Metrics.text(makeSnapshot())

  @Test(
    "hold what each part says",
    arguments: [
      "roost_build_info{version=\"1.2.3\"} 1", "roost_answers{part=\"store\"} 1", "roost_uptime_seconds 3723.004",
      "roost_hub_frames_in_total 5", "roost_dead_letters 0",
      "roost_worker_up{worker=\"event-store\",role=\"event-store\"} 1",
      "roost_worker_state{worker=\"event-store\",role=\"event-store\",state=\"ready\"} 1",
      "roost_worker_state{worker=\"event-store\",role=\"event-store\",state=\"failed\"} 0",
      "roost_worker_state_seconds{worker=\"event-store\",role=\"event-store\"} 61.005",
      "roost_worker_starts_total{worker=\"event-store\",role=\"event-store\"} 2",
      "roost_worker_resident_memory_bytes{worker=\"event-store\",role=\"event-store\"} 31457280",
      "roost_store_events 1234567", "roost_store_waiting{lane=\"bulk\"} 40", "roost_store_verified_total 99",
      "roost_queue_publications{state=\"partial\"} 2", "roost_queue_publications{state=\"cancelled\"} 0",
      "roost_relays{connector=\"relay-connector\",state=\"open\"} 1",
      "roost_relay_latency_seconds{connector=\"relay-connector\",relay=\"wss://relay.example\"} 0.042",
      "roost_relay_open_seconds_total{connector=\"relay-connector\",relay=\"wss://relay.example\"} 1.500",
      "roost_jobs{state=\"published\"} 2", "roost_jobs{state=\"payment-required\"} 0", "roost_jobs_answers_total 90",
      "roost_jobs_results_total 41", "roost_jobs_diagnostics_total{word=\"in-clear\"} 2", "roost_jobs_writable 1",
      "roost_jobs_payments_total{state=\"paid\"} 6", "roost_jobs_payments_total{state=\"denied\"} 0",
      "roost_jobs_payments_millisatoshi_total{state=\"asked\"} 9000", "roost_jobs_without_relay 0",
      "roost_jobs_open_payments 0", "roost_jobs_approved_day_millisatoshi 5000", "roost_answers{part=\"jobs\"} 1",
      "roost_serving_answered_total{kind=\"5302\"} 12", "roost_serving_failed_total{kind=\"5302\"} 1",
      "roost_serving_taken_total{kind=\"5302\"} 14", "roost_serving_running{kind=\"5302\"} 1",
      "roost_jobs_unpaid 0", "roost_jobs_unpaid_millisatoshi 0", "roost_serving_unpaid 2", "roost_serving_waiting 4",
      "roost_serving_passed_over_total 9",
      "roost_push_platform_state{platform=\"ios\",state=\"ready\"} 1",
      "roost_push_platform_state{platform=\"ios\",state=\"away\"} 0",
      "roost_push_delivered_total{platform=\"ios\"} 3", "roost_push_expired_total{platform=\"ios\"} 2",
      "roost_push_ended_total{how=\"delivered\"} 3",
      "roost_push_certificate_refused 0", "roost_answers{part=\"push\"} 1",
      "roost_mirror_events{class=\"own\"} 31204", "roost_mirror_complete_relays{class=\"own\"} 1",
      "roost_mirror_copies{copies=\"2\"} 200", "roost_mirror_repaired 17", "roost_mirror_given_up 3",
      "roost_mirror_lacking 204", "roost_answers{part=\"mirror\"} 1",
      "roost_local_connections 3", "roost_local_events_taken_total 11",
    ])
  func holdWhatIsSaid(line: String) {
    #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
  }

  @Test("are in families, each announced once, before its figures")
  func areInFamilies() {
    var announced: Set<Substring> = []
    var (current, isHistogram): (Substring, Bool) = ("", false)
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if line.hasPrefix("# HELP ") {
        current = words[2]
        #expect(announced.insert(current).inserted, "\(current) is announced twice")
      } else if line.hasPrefix("# TYPE ") {
        #expect(words[2] == current)
        #expect((words[3] == "counter") == current.hasSuffix("_total"), "\(current)")
        isHistogram = words[3] == "histogram"
      } else {
        let name = line.prefix { $0 != "{" && $0 != " " }
        #expect(isHistogram ? name.hasPrefix("\(current)_") : name == current)
        #expect(Double(words[words.count - 1]) != nil, "\(line)")
      }
    }
    #expect(text.hasSuffix("\n"))
  }

  @Test("escape what others call themselves")
  func escapeLabels() {
    var snapshot = makeSnapshot()
    let relay = RelayStates.Relay(relay: "wss://a\"} 1\nroost_forged 1\\", state: "open")
    snapshot.connectors = [.init(name: "c", relays: .told(RelayStates(relays: [relay])))]
    let text = Metrics.text(snapshot)
    #expect(text.contains(#"roost_relay_open{connector="c",relay="wss://a\"} 1\nroost_forged 1\\"} 1"#))
    #expect(!text.contains("\nroost_forged"))
  }

  @Test("tell a relay's averages in seconds, its refusals by what they are about, and whether events can be sent")
  func relayFigures() {
    var snapshot = makeSnapshot()
    var relay = RelayStates.Relay(relay: "wss://a", state: "open")
    (relay.connectMilliseconds, relay.storedMilliseconds, relay.dialledMilliseconds) = (1_250, 45, 60_000)
    (relay.refusalsByClass, relay.invalidEvents) = (["rate": 3, "blocked": 1], 2)
    (relay.subscriptionCount, relay.subscriptionMaximum, relay.queuedCount) = (3, 10, 4)
    (relay.newEvents, relay.authentications, relay.authenticationFailures) = (7, 4, 3)
    var states = RelayStates(relays: [relay])
    var outside = RelayStates.Outside()
    (outside.dials, outside.ended, outside.milliseconds, outside.newEvents) = (9, 8, 64_000, 7)
    states.outside = outside
    snapshot.connectors = [.init(name: "c", relays: .told(states))]
    var plan = PlanStatus()
    plan.sending = .reconnecting
    snapshot.plan = .told(plan)
    let text = Metrics.text(snapshot)
    let labels = #"connector="c",relay="wss://a""#
    for line in [
      "roost_relay_connect_seconds{\(labels)} 1.250", "roost_relay_eose_seconds{\(labels)} 0.045",
      "roost_relay_dialled_seconds_total{\(labels)} 60.000", "roost_relay_refused_total{\(labels),class=\"rate\"} 3",
      "roost_relay_refused_total{\(labels),class=\"blocked\"} 1", "roost_relay_invalid_events_total{\(labels)} 2",
      "roost_relay_subscriptions{\(labels)} 3", "roost_relay_subscriptions_allowed{\(labels)} 10",
      "roost_relay_new_events_total{\(labels)} 7", "roost_relay_authentications_total{\(labels)} 4",
      "roost_relay_authentication_failures_total{\(labels)} 3", "roost_relays_queued_p95 4",
      #"roost_outside_dials_total{connector="c"} 9"#, #"roost_outside_ended_total{connector="c"} 8"#,
      #"roost_outside_ended_seconds_total{connector="c"} 64.000"#,
      #"roost_outside_new_events_total{connector="c"} 7"#,
      "roost_relay_queued{\(labels)} 4", #"roost_plan_sending{state="reconnecting"} 1"#,
      #"roost_plan_sending{state="online"} 0"#,
    ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
  }

  @Test("name at most 500 relays, and count the others")
  func nameFewRelays() {
    var snapshot = makeSnapshot()
    let relays = (0..<700).map { RelayStates.Relay(relay: "wss://\($0).example", state: "open") }
    snapshot.connectors = [
      .init(name: "a", relays: .told(RelayStates(relays: relays))), .init(name: "b", relays: .silent("it is away")),
    ]
    let text = Metrics.text(snapshot)
    #expect(text.split(separator: "\n").count { $0.hasPrefix("roost_relay_open{") } == 500)
    #expect(text.contains("roost_relays{connector=\"a\",state=\"open\"} 700"))
    #expect(text.contains("roost_relays_without_figures 200"))
    #expect(text.contains("roost_answers{part=\"b\"} 0"))
  }

  @Test("are there when nobody answers")
  func areThereAlone() {
    let text = Metrics.text(RoostSnapshot(version: "1"))
    #expect(text.contains("roost_local_connections 0"))
    #expect(!text.contains("roost_store") && !text.contains("roost_jobs") && !text.contains("roost_serving"))
  }

  @Test("hold histograms with cumulative counts, of a relay connector's relays together and of the local relay")
  func histograms() {
    var snapshot = makeSnapshot()
    var measured = LatencyHistogram()
    for milliseconds: UInt64 in [1, 40, 40, 40_000] { measured.measured(microseconds: milliseconds * 1_000) }
    let told = RelayStates.Latency(counts: measured.counts, sumMicroseconds: measured.sumMicroseconds)
    let none = RelayStates.Latency(counts: [], sumMicroseconds: 0)
    var states = RelayStates(relays: [])
    states.latencies = .init(connect: told, stored: none, accepted: .init(counts: [1], sumMicroseconds: 5))
    snapshot.connectors = [.init(name: "c", relays: .told(states))]
    snapshot.queryLatency = measured
    snapshot.startedAtMilliseconds = 1_700_000_000_250
    let text = Metrics.text(snapshot)
    for line in [
      #"roost_relays_connect_duration_seconds_bucket{connector="c",le="0.0005"} 0"#,
      #"roost_relays_connect_duration_seconds_bucket{connector="c",le="0.001"} 1"#,
      #"roost_relays_connect_duration_seconds_bucket{connector="c",le="0.05"} 3"#,
      #"roost_relays_connect_duration_seconds_bucket{connector="c",le="30.0"} 3"#,
      #"roost_relays_connect_duration_seconds_bucket{connector="c",le="+Inf"} 4"#,
      #"roost_relays_connect_duration_seconds_sum{connector="c"} 40.081000"#,
      #"roost_relays_connect_duration_seconds_count{connector="c"} 4"#,
      #"roost_relays_eose_duration_seconds_bucket{connector="c",le="+Inf"} 0"#,
      #"roost_local_eose_duration_seconds_bucket{le="1.0"} 3"#, "roost_local_ok_duration_seconds_count 0",
      "process_start_time_seconds 1700000000.250",
    ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
    #expect(!text.contains("roost_relays_ok_duration_seconds"), "counts of other spans are no histogram of ours")
  }

  @Test("are OpenMetrics too: families without _total, units, and the end")
  func openMetrics() {
    var snapshot = makeSnapshot()
    snapshot.startedAtMilliseconds = 1_700_000_000_250
    let (text, plain) = (Metrics.text(snapshot, .openMetrics), Metrics.text(snapshot))
    #expect(text.hasSuffix("\n# EOF\n") && !plain.contains("# EOF"))
    for line in [
      "# TYPE roost_store_verified counter", "roost_store_verified_total 99", "# TYPE roost_build info",
      "# TYPE roost_relay_open_seconds counter", "# UNIT roost_relay_open_seconds seconds",
      "# UNIT process_start_time_seconds seconds", "# UNIT roost_worker_resident_memory_bytes bytes",
      "# TYPE roost_local_ok_duration_seconds histogram",
    ] { #expect(text.contains("\(line)\n"), "\(line)") }
    func samples(_ text: String) -> [Substring] { text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
    #expect(samples(text) == samples(plain), "the series are the same, whichever form is scraped")
    let families = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
    #expect(Set(families).count == families.count)
  }

  @Test(
    "come in the form that the client likes better",
    arguments: [
      ([], Metrics.Form.prometheus), (["*/*"], .prometheus), (["text/plain;version=0.0.4"], .prometheus),
      (["application/openmetrics-text"], .openMetrics),
      (
        [
          "application/openmetrics-text;version=1.0.0", "application/openmetrics-text;version=0.0.1;q=0.75",
          "text/plain;version=0.0.4;q=0.5", "*/*;q=0.1",
        ], .openMetrics
      ),
      (["text/plain", "application/openmetrics-text; version=1.0.0; q=0.5"], .prometheus),
      (["application/openmetrics-text;q=0"], .prometheus), (["application/openmetrics-text;q=x"], .prometheus),
    ])
  func negotiation(accept: [String], form: Metrics.Form) {
    #expect(Metrics.Form(accept: accept) == form)
  }

  @Test(
    "have every name that the dashboard and the rules of packaging/prometheus ask about",
    arguments: ["roost-dashboard.json", "roost.rules.yml", "roost.rules.test.yml"])
  func askedNames(file: String) throws {
    var snapshot = makeSnapshot()
    if case .told(var store) = snapshot.store {
      store.limitBytes = 1
      snapshot.store = .told(store)
    }
    var relay = RelayStates.Relay(relay: "wss://a", state: "open")
    (relay.refusalsByClass, relay.storedMilliseconds) = (["rate": 3], 45)
    var states = RelayStates(relays: [relay])
    let none = RelayStates.Latency(counts: [], sumMicroseconds: 0)
    states.latencies = .init(connect: none, stored: none, accepted: none)
    snapshot.connectors = [.init(name: "c", relays: .told(states))]
    let known = Set(
      Metrics.text(snapshot).split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
        line.prefix { $0 != "{" && $0 != " " }
      })
    let text = try #require(
      SharedFolder.text(ofFile: SharedFolder.repository + "/packaging/prometheus/" + file))
    let asked = Set(
      text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) }.filter { $0.hasPrefix("roost_") })
    #expect(asked.count > 5)
    #expect(asked.subtracting(known).isEmpty, "\(asked.subtracting(known).sorted())")
  }
}
