internal import Contracts

/// The metrics of a Roost, for Prometheus.
///
/// A part that does not answer has no metrics; `roost_answers` shows which part that is. No metric names a person, a
/// key or an origin, because metrics are copied to other machines and kept.
public enum Metrics {
  /// A text format.
  public enum Form: Sendable, Hashable {
    /// The text format of Prometheus, 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.0.
    case openMetrics

    /// The form that an HTTP client wants: OpenMetrics when it names it, and likes it at least as much as the other.
    ///
    /// - Parameter accept: the comma-separated parts of its `Accept` field, in lower case.
    public init(accept: [String]) {
      func quality(of type: String) -> Double? {
        accept.compactMap { part -> Double? in
          let words = part.split(separator: ";").map { $0.drop { $0 == " " }.prefix { $0 != " " } }
          guard let name = words.first, name == type else { return nil }
          let text = words.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
          return text.map { Double($0) ?? 0 } ?? 1
        }.max()
      }
      let wanted = quality(of: "application/openmetrics-text") ?? 0
      self = wanted > 0 && wanted >= quality(of: "text/plain") ?? 0 ? .openMetrics : .prometheus
    }

    /// The `Content-Type`.
    public var contentType: String {
      switch self {
      case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
      case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
      }
    }
  }

  /// Most relays with metrics of their own, over all connectors; other relays are only in the sums by state.
  public static let relayMaximum = 500

  /// All metrics.
  ///
  /// - Parameters:
  ///   - snapshot: what is so now.
  ///   - form: the text format.
  public static func text(_ snapshot: RoostSnapshot, _ form: Form = .prometheus) -> String {
    var text = MetricText(form)
    addAnswers(snapshot, to: &text)
    if let status = snapshot.supervisor.value {
      addSupervisor(status, to: &text)
      addWorkers(status.workers, to: &text)
    }
    if let status = snapshot.store.value { addStore(status, to: &text) }
    if let status = snapshot.plan.value { addPlan(status, to: &text) }
    if let status = snapshot.jobs.value { addJobs(status, to: &text) }
    if let status = snapshot.serving.value { addServing(status, to: &text) }
    if let status = snapshot.push.value { addPush(status, to: &text) }
    if let status = snapshot.mirror.value { addMirror(status, to: &text) }
    addRelays(snapshot.connectors, to: &text)
    addLatencies(snapshot.connectors, to: &text)
    addLocal(snapshot.local, to: &text)
    addLocalLatencies(snapshot, to: &text)
    return text.text
  }

  private static func addAnswers(_ snapshot: RoostSnapshot, to text: inout MetricText) {
    text.add(
      "roost_build_info", .info, "The version of Roost, as a label.",
      [MetricText.Sample([("version", snapshot.version)], 1)])
    if snapshot.startedAtMilliseconds > 0 {
      text.add(
        "process_start_time_seconds", .gauge,
        "When the local relay started, in seconds since 1970: its own counters begin there.",
        [MetricText.Sample(milliseconds: UInt64(snapshot.startedAtMilliseconds))])
    }
    var answers: [MetricText.Sample] = []
    func add<Value>(_ part: String, _ told: Told<Value>) {
      switch told {
      case .told: answers.append(MetricText.Sample([("part", part)], true))
      case .silent: answers.append(MetricText.Sample([("part", part)], false))
      case .absent: break
      }
    }
    add("supervisor", snapshot.supervisor)
    add("store", snapshot.store)
    add("plan", snapshot.plan)
    add("jobs", snapshot.jobs)
    add("serving", snapshot.serving)
    add("push", snapshot.push)
    add("mirror", snapshot.mirror)
    for connector in snapshot.connectors { add(connector.name, connector.relays) }
    text.add("roost_answers", .gauge, "Whether a part of Roost has answered for this scrape.", answers)
  }

  private static func addSupervisor(_ status: SupervisorStatus, to text: inout MetricText) {
    text.add(
      "roost_uptime_seconds", .gauge, "Time since roostd started.",
      [MetricText.Sample(milliseconds: status.uptimeMilliseconds)])
    if let bytes = status.residentBytes {
      text.add("roost_resident_memory_bytes", .gauge, "Resident memory of roostd.", bytes)
    }
    text.add("roost_hub_kept_bytes", .gauge, "Payload in mailboxes and with unanswered requests.", status.keptBytes)
    text.add("roost_hub_clients", .gauge, "Programs on the bus that are no workers.", status.clients.count)
    text.add("roost_dead_letters", .gauge, "Messages set aside, which workers have died over.", status.deadLetters)
    for (name, count) in status.counters.sorted(by: { $0.key < $1.key }) {
      let metric = name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
      text.add("roost_hub_\(String(metric))_total", .counter, "The hub's counter '\(name)'.", count)
    }
  }

  private static func addWorkers(_ workers: [WorkerStatus], to text: inout MetricText) {
    let members = workers.map { worker in
      MetricText.Member(labels: [("worker", worker.name), ("role", worker.role)], value: worker)
    }
    text.add("roost_worker_up", .gauge, "Whether the worker takes work.", of: members) {
      StatusLevel(workerState: $0.state) == .good ? 1 : 0
    }
    text.add(
      "roost_worker_state", .gauge, "The worker's state: 1 for the one it is in.",
      members.flatMap { member in
        WorkerStateWord.allCases.filter { $0 != .absent }.map {
          MetricText.Sample(member.labels + [("state", $0.rawValue)], $0 == member.value.state)
        }
      })
    text.addTimes(
      "roost_worker_state_seconds", .gauge, "Time in this state.", of: members, milliseconds: \.sinceMilliseconds)
    text.add("roost_worker_starts_total", .counter, "Starts of the worker.", of: members) { $0.generation }
    text.add("roost_worker_restarts", .gauge, "Restarts that the breaker counts now.", of: members) { $0.restarts }
    text.add("roost_worker_restarts_limit", .gauge, "Restarts that the breaker allows.", of: members) {
      $0.restartLimit
    }
    text.add("roost_worker_resident_memory_bytes", .gauge, "Resident memory.", of: members) { $0.residentBytes }
    text.add("roost_worker_mailbox_frames", .gauge, "Messages that wait for the worker.", of: members) {
      $0.mailboxFrames
    }
    text.add("roost_worker_in_hand", .gauge, "Messages the worker has in hand.", of: members) { $0.inHand }
    text.add(
      "roost_worker_dropped_log_lines_total", .counter, "Log lines dropped, since too many came.", of: members
    ) { $0.droppedLogLines }
  }

  private static func addLocal(_ status: LocalRelayStatus, to text: inout MetricText) {
    text.add("roost_local_connections", .gauge, "Clients connected to the local relay.", status.connections)
    text.add("roost_local_connections_limit", .gauge, "Clients that may be connected.", status.connectionsMaximum)
    text.add("roost_local_subscriptions", .gauge, "Subscriptions of those clients.", status.subscriptions)
    text.add("roost_local_accepted_total", .counter, "Connections accepted.", status.accepted)
    text.add(
      "roost_local_turned_away_total", .counter, "Connections turned away, there being too many.", status.turnedAway)
    text.add("roost_local_outside", .gauge, "Connections whose clients have not shown themselves.", status.outside ?? 0)
    text.add("roost_local_outside_limit", .gauge, "Such connections that there may be.", status.outsideMaximum ?? 0)
    text.add(
      "roost_local_displaced_total", .counter, "Such connections that gave way to others.", status.displaced ?? 0)
    text.add("roost_local_events_taken_total", .counter, "Events of clients that were taken.", status.taken)
    text.add("roost_local_refused_total", .counter, "Events and requests of clients that were refused.", status.refused)
    text.add("roost_local_events_delivered_total", .counter, "Events sent to clients.", status.delivered)
  }
}
