import Cryptography
import Glibc

// What a push relay is asked, as fast as it answers or at a pace.
//
//     push-bench register PORT [recipients=10000] [at-once=64] [google-every=0]
//     push-bench wake PORT [count=20000] [at-once=64] [recipients=10000] [senders=0] [pace=0] [repeated-every=0]
//                          [stamps=FILE] [crowd=0]
//
// Without a pace the requests are made and signed before the clock runs, and each connection asks again as soon as it
// is answered. With one (wakes a second) they are signed as they fall due, and a latency counts from when its request
// was due: a relay that falls behind cannot hide it. `stamps` is a file, a line for each wake that was answered 200:
// its recipient's number, and when it was sent, microseconds since 1970. With `crowd=1` each wake is for a key that
// nobody has, and is signed when it is its turn. Prints one line of JSON.

/// Why there are no figures.
struct LoadFault: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

/// What the arguments ask for.
struct Load {
  var isRegistering = false
  var port: UInt16 = 0
  var count = 20_000
  var atOnce = 64
  var recipientCount = 10_000
  var senderCount = 0
  var googleEvery = 0
  var repeatedEvery = 0
  var pace = 0
  var isForCrowd = false
  var stamps: String?

  init(_ arguments: [String]) throws(LoadFault) {
    guard arguments.count >= 2, ["register", "wake"].contains(arguments[0]), let port = UInt16(arguments[1]) else {
      throw LoadFault("usage: push-bench register|wake PORT [name=value…]")
    }
    isRegistering = arguments[0] == "register"
    self.port = port
    for argument in arguments.dropFirst(2) { try read(argument) }
    if isRegistering { count = recipientCount }
    guard count > 0, atOnce > 0, recipientCount > 0 else { throw LoadFault("a number is 1 or more") }
  }

  private mutating func read(_ argument: String) throws(LoadFault) {
    let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
    if parts.count == 2, parts[0] == "stamps" { return stamps = parts[1] }
    guard parts.count == 2, let value = Int(parts[1]), value >= 0 else { throw LoadFault("\(argument)?") }
    switch parts[0] {
    case "count": count = value
    case "at-once": atOnce = value
    case "recipients": recipientCount = value
    case "senders": senderCount = value
    case "google-every": googleEvery = value
    case "repeated-every": repeatedEvery = value
    case "pace": pace = value
    case "crowd": isForCrowd = value > 0
    default: throw LoadFault("\(argument)?")
    }
  }
}

/// Asks, and keeps what it is answered.
struct Run {
  private let requests: PushRequests
  private let load: Load
  private var made: [[UInt8]] = []
  private var lines: [Line] = []
  private var turn = 0
  private var latencies: [UInt64] = []
  private var statuses: [Int: Int] = [:]
  private var stamps = ""
  private var next = 0
  /// When requests that are to be answered were sent, by the wall clock, microseconds.
  private var sent: [Int: UInt64] = [:]
  private var start: UInt64 = 0

  init(_ load: Load) throws(LoadFault) {
    self.load = load
    requests = PushRequests(load)
    if load.pace == 0, !load.isForCrowd { made = (0..<load.count).map { requests.bytes($0) } }
    latencies.reserveCapacity(load.count)
    for _ in 0..<load.atOnce { lines.append(try Line(port: load.port)) }
  }

  /// Nanoseconds of a clock.
  static func now(_ clock: clockid_t = CLOCK_MONOTONIC) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// When a request is due; without a pace at once.
  private func due(_ number: Int, _ now: UInt64) -> UInt64 {
    load.pace == 0 ? now : start + UInt64(number) * 1_000_000_000 / UInt64(load.pace)
  }

  mutating func run() throws(LoadFault) -> String {
    start = Self.now()
    var polled = lines.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    while latencies.count < load.count {
      try fill()
      let wait = load.pace == 0 || next == load.count ? 1_000 : 1
      guard poll(&polled, nfds_t(polled.count), Int32(wait)) >= 0 else { throw LoadFault("poll: \(errno)") }
      for index in polled.indices where polled[index].revents != 0 { try take(lines[index]) }
    }
    if let file = load.stamps { try write(to: file) }
    return figures(seconds: Double(Self.now() - start) / 1e9)
  }

  /// Gives idle connections what is due, each in its turn: the relay closes one that asks nothing.
  private mutating func fill() throws(LoadFault) {
    for _ in lines.indices where next < load.count {
      let line = lines[turn]
      guard line.number == nil else {
        turn = (turn + 1) % lines.count
        continue
      }
      let now = Self.now()
      let due = due(next, now)
      guard due <= now else { return }
      let request = made.isEmpty ? requests.bytes(next) : made[next]
      if load.stamps != nil { sent[next] = Self.now(CLOCK_REALTIME) / 1_000 }
      try line.ask(request, number: next, due: due)
      turn = (turn + 1) % lines.count
      next += 1
    }
  }

  private mutating func take(_ line: Line) throws(LoadFault) {
    let (number, due) = (line.number, line.due)
    guard let status = try line.take(), let number else { return }
    latencies.append(Self.now() - due)
    statuses[status, default: 0] += 1
    if let at = sent.removeValue(forKey: number), status == 200 {
      stamps += "\(requests.recipient(of: number)) \(at)\n"
    }
  }

  private func write(to file: String) throws(LoadFault) {
    guard let stream = fopen(file, "w") else { throw LoadFault("\(file) cannot be written") }
    defer { fclose(stream) }
    fputs(stamps, stream)
  }

  private mutating func figures(seconds: Double) -> String {
    latencies.sort()
    func milliseconds(_ share: Double) -> Double {
      Double(latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))]) / 1e6
    }
    let told = statuses.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
    return "{\"answers_per_s\": \(Double(load.count) / seconds), \"p50_ms\": \(milliseconds(0.5)), "
      + "\"p99_ms\": \(milliseconds(0.99)), \"p999_ms\": \(milliseconds(0.999)), \"seconds\": \(seconds), "
      + "\"statuses\": {\(told)}}"
  }
}

@main
enum PushBench {
  static func main() {
    do throws(LoadFault) {
      var run = try Run(try Load(Array(CommandLine.arguments.dropFirst())))
      print(try run.run())
    } catch {
      let text = "push-bench: \(error.text)\n"
      write(STDERR_FILENO, text, text.utf8.count)
      exit(1)
    }
  }
}
