internal import Clocks

// What happens to connections.
extension SendingMachine {
  /// A connection stands, and the origin's first SETTINGS have come.
  mutating func connected(_ number: Int, streamMaximum: Int, at now: Instant) {
    guard connections[number] != nil else { return }
    connections[number]?.becameReady(at: now)
    connections[number]?.streamMaximum = streamMaximum
    proceed(at: now)
  }

  /// A connection could not be had.
  mutating func connectFailed(_ number: Int, reason: String, at now: Instant) {
    guard connections.removeValue(forKey: number) != nil else { return }
    counters.connectsFailed += 1
    counters.lastEnd = reason
    if current == number { current = nil }
    failed(reason, at: now)
  }

  /// The name leads where the owner does not want to go: no pause is needed, as nothing was dialled.
  mutating func connectForbidden(_ number: Int, reason: String) {
    guard connections.removeValue(forKey: number) != nil else { return }
    counters.connectsFailed += 1
    counters.lastEnd = reason
    if current == number { current = nil }
    failWaiting(.forbidden(reason))
  }

  /// The origin changed its SETTINGS_MAX_CONCURRENT_STREAMS.
  mutating func streamMaximumChanged(_ number: Int, to streamMaximum: Int, at now: Instant) {
    connections[number]?.streamMaximum = streamMaximum
    proceed(at: now)
  }

  /// Anything came.
  mutating func received(_ number: Int, at now: Instant) { connections[number]?.showedLife(at: now) }

  /// The origin said goodbye: it acts on no stream above `lastStream`. It may say so again with a lower number.
  mutating func goAway(_ number: Int, lastStream: Int, reason: String, at now: Instant) {
    guard let connection = connections[number] else { return }
    counters.goAways += 1
    counters.lastEnd = reason
    let left = connection.streams.filter { $0.key > lastStream }
    // The oldest is prepended last, so that they wait in the order in which they were sent.
    for (stream, request) in left.sorted(by: { $0.key > $1.key }) {
      connections[number]?.streams.removeValue(forKey: stream)
      resend(request)
    }
    let isUseless = !connection.hasAnswered && current == number && connection.streams.count == left.count
    retire(number, at: now)
    // An origin that sends everybody away again at once must not be dialled in a tight loop.
    if isUseless, connections[number] == nil, reason != Self.goodbyeWithoutReason { failed(reason, at: now) }
    proceed(at: now)
  }

  /// What `goAway` is told when the origin named no error.
  static let goodbyeWithoutReason = "the origin said goodbye"

  /// A connection that stood is gone.
  mutating func lost(_ number: Int, reason: String, at now: Instant) {
    guard let connection = connections.removeValue(forKey: number) else { return }
    counters.lastEnd = reason
    for (_, request) in connection.streams.sorted(by: { $0.key < $1.key }) {
      finish(request, .unknown(.connectionLost(reason)))
    }
    if current == number {
      current = nil
      if !connection.hasAnswered { failed(reason, at: now) }
    }
    proceed(at: now)
  }

  // Lets a connection take no new streams; one that owes nothing ends at once.
  mutating func retire(_ number: Int, at now: Instant) {
    guard connections[number] != nil else { return }
    if current == number { current = nil }
    connections[number]?.isDraining = true
    if connections[number]?.streams.isEmpty != false { return end(number) }
    let draining = connections.filter { $0.value.isDraining }.keys.sorted()
    for oldest in draining.prefix(max(0, draining.count - settings.drainingMaximum)) {
      actions.append(.close(oldest))
      lost(oldest, reason: "it owed answers for too long after its goodbye", at: now)
    }
  }

  // A stream of the connection is over.
  mutating func settle(_ number: Int, at now: Instant) {
    if connections[number]?.streams.isEmpty == true {
      connections[number]?.becameIdle(at: now)
      if connections[number]?.isDraining == true { end(number) }
    }
    proceed(at: now)
  }

  private mutating func end(_ number: Int) {
    connections[number] = nil
    if current == number { current = nil }
    actions.append(.close(number))
  }

  mutating func look(after number: Int, at now: Instant) {
    guard let duty = connections[number]?.duty(settings, at: now) else { return }
    switch duty {
    case .nothing: break
    case .giveUpConnecting:
      actions.append(.close(number))
      connectFailed(number, reason: "no connection within \(settings.connectTimeoutMilliseconds) ms", at: now)
    case .giveUp:
      actions.append(.close(number))
      lost(number, reason: "no sign of life", at: now)
    case .ping:
      connections[number]?.pinged(at: now)
      counters.pings += 1
      actions.append(.ping(number))
    case .closeIdle:
      counters.lastEnd = "closed when idle"
      end(number)
    }
  }
}
