internal import Clocks

// Events of connections.
extension SendingMachine {
  /// A connection is open, and the origin's first SETTINGS have arrived.
  mutating func connected(_ number: Int, streamMaximum: Int, at now: Instant) {
    guard connections[number] != nil else { return }
    connections[number]?.becameReady(at: now)
    connections[number]?.streamMaximum = streamMaximum
    proceed(at: now)
  }

  /// A connection could not be made.
  mutating func connectFailed(_ number: Int, reason: String, at now: Instant) {
    guard connections.removeValue(forKey: number) != nil else { return }
    counters.connectsFailed += 1
    counters.lastEnd = reason
    if current == number { current = nil }
    failed(reason, at: now)
  }

  /// The owner forbids the addresses of the name. No pause is needed, because nothing was dialled.
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

  /// Something was received.
  mutating func received(_ number: Int, at now: Instant) { connections[number]?.showedLife(at: now) }

  /// The origin said goodbye: it acts on no stream above `lastStream`. It may repeat that with a lower number.
  mutating func goAway(_ number: Int, lastStream: Int, reason: String, at now: Instant) {
    guard let connection = connections[number] else { return }
    counters.goAways += 1
    counters.lastEnd = reason
    let left = connection.streams.filter { $0.key > lastStream }
    // The oldest is prepended last, so that the requests wait in the order in which they were sent.
    for (stream, request) in left.sorted(by: { $0.key > $1.key }) {
      connections[number]?.streams.removeValue(forKey: stream)
      resend(request)
    }
    let isUseless = !connection.hasAnswered && current == number && connection.streams.count == left.count
    retire(number, at: now)
    // An origin that rejects each connection again at once must not be dialled in a tight loop.
    if isUseless, connections[number] == nil, reason != Self.goodbyeWithoutReason { failed(reason, at: now) }
    proceed(at: now)
  }

  /// The reason for `goAway` if the origin named no error.
  static let goodbyeWithoutReason = "the origin said goodbye"

  /// An open connection was lost.
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
