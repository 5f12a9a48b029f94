import Cryptography
import Frames
import NIOCore

/// All that the fakes know; lives on one event loop.
final class FakeWorld {
  /// Entries of the journal at most; what comes later is counted only.
  static let journalMaximum = 200_000

  var apns: APNsFake
  var fcm: FCMFake
  var webPush: WebPushFake
  /// By how much the fakes' clock is ahead of the machine's.
  var clockOffset: Int64 = 0
  var moods: [Service: Mood] = [:]
  /// SETTINGS_MAX_CONCURRENT_STREAMS of each service.
  var streamMaximum: [Service: Int] = [:]
  private(set) var journal: [JSONValue] = []
  private(set) var unwritten = 0
  private(set) var handshakes: [Service: Int] = [:]
  private(set) var connectionCounts: [Service: Int] = [:]
  private(set) var requestCounts: [Service: Int] = [:]
  /// The most requests at once in one connection since what it allows was last changed.
  private var streamPeaks: [Service: Int] = [:]
  /// SETTINGS that callers have acknowledged.
  private var acknowledgements: [Service: Int] = [:]
  private var held: [(arrival: Arrival, line: any FakeLine)] = []
  private var lastConnection = -1
  private var ordered: [String: [OrderedAnswer]] = [:]
  private var live: [Int: (service: Service, line: any FakeLine)] = [:]
  private let loop: any EventLoop

  init(apns: APNsFake, fcm: FCMFake, webPush: WebPushFake, loop: any EventLoop) {
    self.apns = apns
    self.fcm = fcm
    self.webPush = webPush
    self.loop = loop
  }

  /// The fakes' clock, milliseconds since 1970.
  var milliseconds: Int64 { wallMilliseconds() + clockOffset }

  // MARK: Connections

  func began(_ service: Service) -> Int {
    lastConnection += 1
    connectionCounts[service, default: 0] += 1
    return lastConnection
  }

  func shookHands(_ service: Service) { handshakes[service, default: 0] += 1 }

  func opened(_ number: Int, _ service: Service, _ line: any FakeLine) { live[number] = (service, line) }

  func ended(_ number: Int) { live[number] = nil }

  /// What a connection of the service allows at first: APNs one stream until a good provider token has come.
  func initialStreamMaximum(_ service: Service) -> Int {
    service == .apns && streamMaximum[service] == nil ? 1 : streamMaximum[service] ?? Self.usualStreamMaximum
  }

  static let usualStreamMaximum = 1_000

  /// Changes what all connections of a service allow.
  func allow(_ count: Int, _ service: Service) {
    streamMaximum[service] = count
    streamPeaks[service] = 0
    for (_, entry) in live where entry.service == service { entry.line.allow(count) }
  }

  /// A connection has so many requests that are not answered.
  func sawOpen(_ count: Int, _ service: Service) { streamPeaks[service] = max(count, streamPeaks[service] ?? 0) }

  /// A connection obeys what it was last told to.
  func acknowledged(_ service: Service) { acknowledgements[service, default: 0] += 1 }

  // MARK: Orders

  func order(_ service: Service, _ receiver: String, _ answers: [OrderedAnswer]) {
    ordered["\(service.rawValue) \(receiver)", default: []] += answers
  }

  private func takeOrdered(_ service: Service, _ receiver: String) -> OrderedAnswer? {
    for name in ["\(service.rawValue) \(receiver)", "\(service.rawValue) *"] {
      if let first = ordered[name]?.first {
        ordered[name]?.removeFirst()
        return first
      }
    }
    return nil
  }

  /// Looks at the requests that are held, and holds no more. The newest `left` of them are left behind a goodbye.
  func release(_ service: Service, left: Int, reason: String) {
    if moods[service]?.kind == .hold { moods[service] = nil }
    let due = held.filter { $0.arrival.service == service }.sorted { $0.arrival.stream < $1.arrival.stream }
    held.removeAll { $0.arrival.service == service }
    let kept = due.dropLast(left)
    if left > 0, let line = due.last?.line { line.sayGoodbye(last: kept.last?.arrival.stream ?? 0, reason: reason) }
    for (arrival, line) in kept {
      var arrival = arrival
      arrival.milliseconds = milliseconds
      answer(arrival, line, Mood())
    }
    for (arrival, _) in due.suffix(left) { write(arrival, outcome: "left behind") }
  }

  /// Changes how a service behaves.
  func feel(_ mood: Mood, _ service: Service) {
    moods[service] = mood
    guard mood.kind.isOfConnections else { return }
    for (_, entry) in live where entry.service == service { entry.line.cut() }
  }

  private func takeMood(_ service: Service) -> Mood {
    guard let mood = moods[service] else { return Mood() }
    guard let remaining = mood.remaining else { return mood }
    if remaining <= 1 { moods[service] = nil } else { moods[service]?.remaining = remaining - 1 }
    return mood
  }

  // MARK: Requests

  func received(_ arrival: Arrival, _ line: any FakeLine) {
    requestCounts[arrival.service, default: 0] += 1
    let mood = takeMood(arrival.service)
    switch mood.kind {
    case .normal, .slowBody: answer(arrival, line, mood)
    case .blackHole: write(arrival, outcome: "black-hole")
    case .hold: held.append((arrival, line))
    case .cut, .halfClosed, .garbage:
      write(arrival, outcome: mood.kind.rawValue)
      line.cut()
    case .refuse, .reset:
      write(arrival, outcome: mood.kind.rawValue)
      line.reset(arrival.stream, isRefusal: mood.kind == .refuse)
    case .goaway:
      let last = max(0, arrival.stream - 2 * mood.left)
      line.sayGoodbye(last: last, reason: mood.reason)
      if arrival.stream <= last { answer(arrival, line, mood) } else { write(arrival, outcome: "left behind") }
    }
  }

  private func answer(_ arrival: Arrival, _ line: any FakeLine, _ mood: Mood) {
    let wasAuthenticated = arrival.service == .apns && apns.isAuthenticated(arrival.connection)
    var reply = ownReply(arrival)
    if reply.status < 300, let ordered = takeOrdered(arrival.service, receiver(arrival)) {
      let plaintext = reply.plaintext
      reply = ordered.reply(of: arrival.service, own: reply)
      reply.plaintext = plaintext
    }
    write(arrival, reply)
    if arrival.service == .apns, !wasAuthenticated, apns.isAuthenticated(arrival.connection),
      streamMaximum[.apns] == nil
    {
      line.allow(Self.usualStreamMaximum)
    }
    let pause = mood.kind == .slowBody ? mood.delayMilliseconds : nil
    guard reply.delayMilliseconds > 0 else { return line.answer(arrival.stream, reply, pause: pause) }
    let delay = TimeAmount.milliseconds(reply.delayMilliseconds)
    loop.assumeIsolated().scheduleTask(in: delay) { line.answer(arrival.stream, reply, pause: pause) }
  }

  private func ownReply(_ arrival: Arrival) -> Reply {
    switch arrival.service {
    case .apns: apns.reply(to: arrival)
    case .fcm: fcm.reply(to: arrival)
    case .oauth: fcm.token(for: arrival)
    case .webpush: webPush.reply(to: arrival)
    }
  }

  private func receiver(_ arrival: Arrival) -> String {
    switch arrival.service {
    case .apns: APNsFake.deviceToken(arrival.path) ?? ""
    case .fcm: FCMFake.deviceToken(arrival.body) ?? ""
    case .oauth: "token"
    case .webpush: WebPushFake.subscription(arrival.path) ?? ""
    }
  }

  // MARK: The journal

  private func write(_ arrival: Arrival, _ reply: Reply? = nil, outcome: String = "answered") {
    guard journal.count < Self.journalMaximum else { return unwritten += 1 }
    var headers: [String: JSONValue] = [:]
    for header in arrival.headers { headers[header.name] = .string(header.value) }
    var entry: [String: JSONValue] = [
      "service": .string(arrival.service.rawValue), "milliseconds": .integer(arrival.milliseconds),
      "connection": .integer(Int64(arrival.connection)), "stream": .integer(Int64(arrival.stream)),
      "method": .string(arrival.method), "path": .string(arrival.path), "headers": .object(headers),
      "receiver": .string(receiver(arrival)), "outcome": .string(outcome),
    ]
    // Web Push's bodies are no text; what is in them stands in `plaintext`.
    if arrival.service != .webpush { entry["payload"] = .string(String(decoding: arrival.body, as: UTF8.self)) }
    if let reply {
      entry["status"] = .integer(Int64(reply.status))
      entry["reason"] = .string(reply.reason)
      if let plaintext = reply.plaintext { entry["plaintext"] = .string(String(decoding: plaintext, as: UTF8.self)) }
    }
    journal.append(.object(entry))
  }

  /// The counters.
  var counters: JSONValue {
    func counts(_ values: [Service: Int]) -> JSONValue {
      .object(
        Dictionary(uniqueKeysWithValues: Service.allCases.map { ($0.rawValue, .integer(Int64(values[$0] ?? 0))) }))
    }
    return .object([
      "handshakes": counts(handshakes), "connections": counts(connectionCounts), "requests": counts(requestCounts),
      "providerTokens": .integer(Int64(apns.tokens.count)), "tokenExchanges": .integer(Int64(fcm.exchangeCount)),
      "unwritten": .integer(Int64(unwritten)), "streamPeaks": counts(streamPeaks),
      "acknowledgements": counts(acknowledgements),
      "held": counts(Dictionary(grouping: held) { $0.arrival.service }.mapValues(\.count)),
    ])
  }
}

/// One connection, as the world uses it.
protocol FakeLine: AnyObject {
  /// Answers; with a pause, the body goes byte by byte.
  func answer(_ stream: Int, _ reply: Reply, pause: Int64?)
  func reset(_ stream: Int, isRefusal: Bool)
  func sayGoodbye(last: Int, reason: String)
  func allow(_ streamMaximum: Int)
  /// Ends the connection.
  func cut()
}
