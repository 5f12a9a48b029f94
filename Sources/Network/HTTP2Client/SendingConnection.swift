internal import Clocks

/// The machine's knowledge of one connection.
struct SendingConnection {
  /// REFUSED_STREAM (RFC 9113, 8.7): the origin has not acted on the request.
  static let refusedStream: UInt32 = 7

  let begunAt: Instant
  /// Whether the origin's SETTINGS have arrived. Nothing is sent before, so a connection that is accepted and never
  /// served leaves no request with an unknown outcome.
  var isReady = false
  /// Whether it takes no new streams.
  var isDraining = false
  /// Whether it has ever answered.
  private(set) var hasAnswered = false
  /// The origin's SETTINGS_MAX_CONCURRENT_STREAMS.
  var streamMaximum = 0
  /// The requests by their stream numbers.
  var streams: [Int: Int] = [:]
  private(set) var openedCount = 0
  private var lastSign: Instant
  private var pingedAt: Instant?
  private var idleSince: Instant
  /// When it last answered a request; at first, when it became ready.
  private var lastAnswer: Instant

  init(begunAt now: Instant) {
    begunAt = now
    lastSign = now
    idleSince = now
    lastAnswer = now
  }

  func hasFreeStream(_ settings: HTTP2SenderSettings) -> Bool {
    guard isReady, !isDraining, openedCount < settings.streamsPerConnectionMaximum else { return false }
    let own = settings.startsCautiously && !hasAnswered ? 1 : settings.streamMaximum
    return streams.count < min(own, streamMaximum)
  }

  mutating func open(for request: Int) -> Int {
    let stream = openedCount * 2 + 1
    openedCount += 1
    streams[stream] = request
    return stream
  }

  mutating func becameReady(at now: Instant) {
    isReady = true
    lastSign = now
    idleSince = now
    lastAnswer = now
  }

  /// An answer came.
  mutating func answered(at now: Instant) {
    hasAnswered = true
    lastAnswer = now
  }

  /// Whether it could have answered since `start`, and has not.
  func isSilent(since start: Instant) -> Bool { isReady && lastAnswer < start }

  /// Something was received.
  mutating func showedLife(at now: Instant) {
    lastSign = now
    pingedAt = nil
  }

  mutating func pinged(at now: Instant) { pingedAt = now }

  mutating func becameIdle(at now: Instant) { idleSince = now }

  /// The action that is due.
  enum Duty {
    case nothing, giveUpConnecting, giveUp, ping, closeIdle
  }

  func duty(_ settings: HTTP2SenderSettings, at now: Instant) -> Duty {
    guard isReady else { return now >= connectDeadline(settings) ? .giveUpConnecting : .nothing }
    if let pingedAt, now >= pingedAt.advanced(milliseconds: settings.livenessTimeoutMilliseconds) { return .giveUp }
    if streams.isEmpty, now >= idleSince.advanced(milliseconds: settings.idleCloseMilliseconds) { return .closeIdle }
    return pingedAt == nil && now >= pingInstant(settings) ? .ping : .nothing
  }

  func nextInstant(_ settings: HTTP2SenderSettings) -> Instant {
    guard isReady else { return connectDeadline(settings) }
    let sign = pingedAt?.advanced(milliseconds: settings.livenessTimeoutMilliseconds) ?? pingInstant(settings)
    return streams.isEmpty ? min(sign, idleSince.advanced(milliseconds: settings.idleCloseMilliseconds)) : sign
  }

  private func connectDeadline(_ settings: HTTP2SenderSettings) -> Instant {
    begunAt.advanced(milliseconds: settings.connectTimeoutMilliseconds)
  }

  private func pingInstant(_ settings: HTTP2SenderSettings) -> Instant {
    lastSign.advanced(
      milliseconds: streams.isEmpty ? settings.idlePingMilliseconds : settings.busyPingMilliseconds)
  }
}
