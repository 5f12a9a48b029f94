import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension PushRig {
  /// Limits that no test of deaths comes to, and the variables by which a relay is killed and deceived.
  static func watchedKeys(_ more: [String: String] = [:]) -> [String: String] {
    let keys = [
      "environment": #"["LD_PRELOAD", "ROOST_TEST_FAULTS", "ROOST_TEST_FAULT_POINTS"]"#,
      "trusted-proxies": #"["127.0.0.1"]"#, "recipient-hour": "10000", "strangers-hour": "10000",
      "prefix-minute": "60000", "global-minute": "60000",
    ]
    return keys.merging(more) { _, new in new }
  }

  /// Some seconds between a death and the next process.
  static let slowRestart = ["backoff-base": "\"3s\"", "backoff-ceiling": "\"3s\"", "breaker-window": "\"2h\""]

  /// A relay that dies where `arm` says so; with faults, whose system calls fail.
  static func runWatched(
    _ keys: [String: String] = [:], _ faults: Faults? = nil, _ body: (PushRig) throws -> Void
  ) throws {
    let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
    var layout = try layout(fakes, port: port, directory: directory.path, watchedKeys(keys))
    layout.environment = ["ROOST_TEST_FAULT_POINTS=1"] + (faults?.environment ?? [])
    try withRoost(layout) { roost in try body(try PushRig(roost, fakes, port)) }
  }

  // MARK: Deaths

  private var armed: String { roost.path("state/push-relay/fault-point") }

  /// The relay dies when it comes to this step the next time.
  func arm(_ point: String) throws {
    let draft = armed + ".new"
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(point, to: file)
    Descriptors.close(file)
    guard rename(draft, armed) == 0 else { throw DeadlinePassed(description: "no fault point can be set") }
  }

  /// Whether it has died there.
  var hasDied: Bool { access(armed, F_OK) != 0 }

  /// Of the process that there is, or of the next one.
  func processID() throws -> Int32 {
    var process: Int32?
    try awaitSoon("push-relay has a process", within: 60) {
      process = try roost.worker("push-relay", client).pid
      return process != nil
    }
    return try #require(process)
  }

  /// `kill -9`, or another signal.
  func kill(_ signal: Int32 = SIGKILL) throws { Glibc.kill(try processID(), signal) }

  /// Waits until another process than this one serves.
  func awaitAnother(than process: Int32) throws {
    try roost.awaitWorker("push-relay", "is another, and ready", within: 60, client) {
      $0.pid != process && $0.state == "ready"
    }
  }

  // MARK: Clients that do not give up

  /// Asks once; nil when nobody answers, or not to the end.
  func attempt(_ method: String, _ path: String, _ body: [UInt8] = [], fields: [String] = []) throws -> Answer? {
    // To write to who has just died is an error, not the end of all tests.
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, nil)
    guard let connection = try? PlainClient(port: port) else { return nil }
    var lines = ["\(method) /v1\(path) HTTP/1.1", "Host: push.example", "Connection: close"] + fields
    if !body.isEmpty { lines += ["Content-Type: application/json", "Content-Length: \(body.count)"] }
    // Whoever has died meanwhile resets the connection.
    guard (try? connection.send(Array((lines + ["", ""]).joined(separator: "\r\n").utf8) + body)) != nil,
      let answer = try? connection.answer(), let end = answer.firstRange(of: "\r\n\r\n")
    else { return nil }
    let (head, text) = (String(answer[..<end.lowerBound]), String(answer[end.upperBound...]))
    // Who dies with the answer half out has not answered.
    guard head.lowercased().contains("content-length: \(text.utf8.count)") else { return nil }
    return Answer(
      status: Int(answer.split(separator: " ", maxSplits: 2)[1]) ?? 0, head: head, text: text,
      json: (try? JSONPayload.decode(JSONValue.self, from: Array(text.utf8))) ?? .null)
  }

  /// Sends the same request until it is answered, as a client does whose answer was lost.
  func insist(_ method: String, _ path: String, _ body: [UInt8] = [], fields: [String] = []) throws -> Answer {
    var answer: Answer?
    try awaitSoon("\(method) \(path) is answered", within: 60) {
      answer = try attempt(method, path, body, fields: fields)
      return answer != nil
    }
    return try #require(answer)
  }

  /// Signs a request, and insists.
  func insistSigned(
    _ key: Ed25519SecretKey, _ method: String, _ path: String, _ text: String, at time: Int64 = WallClock.seconds,
    from address: String? = nil
  ) throws -> Answer {
    let fields = address.map { ["X-Forwarded-For: \($0)"] } ?? []
    return try insist(
      method, path, Array(text.utf8), fields: fields + Self.signature(key, method, path, Array(text.utf8), at: time))
  }

  // MARK: Phones

  /// Somebody with a device of each platform, each wanting every type. Comes from an address of its own, so that what
  /// the limits assume of everybody after a death stands in no test's way.
  final class Household {
    let key = Ed25519SecretKey.generate()
    let address = "10.\(UInt8.random(in: 0...255)).\(UInt8.random(in: 0...255)).\(UInt8.random(in: 1...254))"

    func body(_ device: String, _ platform: String, _ token: String) -> String {
      #"{"platform":"\#(platform)","token":\#(token),"device_id":"\#(device)"}"#
    }
  }

  /// Registers a phone's devices on these platforms.
  func household(_ platforms: [String] = ["ios", "android", "webpush"]) throws -> Household {
    let household = Household()
    for platform in platforms {
      let answer = try insistSigned(
        household.key, "POST", "/register", household.body(platform, platform, try token(platform)),
        from: household.address)
      guard answer.status == 200 else {
        throw DeadlinePassed(description: "\(platform) is not registered: \(answer.text)")
      }
    }
    return household
  }

  /// A token in JSON that no other device has; but of Web Push always the same: one phone of a run has it.
  func token(_ platform: String) throws -> String {
    switch platform {
    case "ios": return "\"\(Self.appleToken())\""
    case "android": return "\"\(Self.googleToken())\""
    default:
      let subscription = try #require(fakes.subscriptions.first)
      return #"{"endpoint":"\#(subscription.endpoint)","p256dh":"\#(subscription.p256dh)","#
        + #""auth":"\#(subscription.auth)"}"#
    }
  }

  // MARK: Pushes

  /// The service of a platform's pushes.
  static func service(_ platform: String) -> PushFakes.Service {
    platform == "ios" ? .apns : platform == "android" ? .fcm : .webpush
  }

  /// What a platform was sent about a wake.
  func pushes(of wake: String, on platform: String) throws -> [JSONValue] {
    try fakes.requests(to: Self.service(platform)).filter { "\($0)".contains(wake) }
  }

  /// Waits until nothing is to be brought any more.
  func awaitDelivered() throws {
    try awaitSoon("all is brought", within: 60) { (try? status())?.waiting == 0 }
  }
}
