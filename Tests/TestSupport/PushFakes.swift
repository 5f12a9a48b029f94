public import Frames
import Glibc

/// The program `push-fakes`: APNs, FCM with its token endpoint, and a Web Push service, on ports of loopback.
///
/// It trusts nobody's word: tokens, headers and bodies are verified as the real ones do, and refused in their words.
/// It ends with this object, and with the test process.
public final class PushFakes {
  /// A subscription of Web Push, as a browser gives it.
  public struct Subscription: Sendable {
    /// Where it is pushed to.
    public let endpoint: String
    /// The receiver's public key, base64url.
    public let p256dh: String
    /// The receiver's secret, base64url.
    public let auth: String
  }

  /// The services, for ``port(_:)``, ``order(_:)`` and ``requests(to:)``.
  public enum Service: String, Sendable {
    /// Apple's.
    case apns
    /// Google's.
    case fcm
    /// Google's token endpoint.
    case oauth
    /// A browser's.
    case webpush
    /// What this object speaks to.
    case control
  }

  /// The authority that signed the fakes' certificate, a file in PEM.
  public let authorityFile: String
  /// What the program said of itself: `ports`, `apns`, `serviceAccount`, `subscriptions`.
  public let greeting: JSONValue
  private let process: SpawnedProcess
  private let input: Int32

  /// Starts the program and waits until it listens. `certificate` is one of ``TestCertificates``.
  public init(certificate: String = "good") throws {
    authorityFile = try TestCertificates.path("authority")
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw DeadlinePassed(description: "no sockets for push-fakes")
    }
    defer { close(pair[1]) }
    input = pair[0]
    process = try SpawnedProcess(
      SpawnedProcess.builtProgram("push-fakes"), [TestCertificates.path(certificate)], descriptors: [0: pair[1]])
    let line = try process.readLine { $0.hasPrefix("{") }
    greeting = try JSONPayload.decode(JSONValue.self, from: Array(line.utf8))
  }

  deinit { close(input) }

  /// The port of a service.
  public func port(_ service: Service) -> UInt16 {
    guard case .integer(let port) = greeting["ports"]?[service.rawValue] else { return 0 }
    return UInt16(port)
  }

  /// The key for APNs (a `.p8` file's text), its identifier, the team and the app's topic.
  public var apns: (key: String, keyIdentifier: String, team: String, topic: String) {
    func text(_ name: String) -> String { Self.text(greeting["apns"]?[name]) }
    return (text("key"), text("keyIdentifier"), text("team"), text("topic"))
  }

  /// The service account for FCM, as the JSON file that Google gives.
  public var serviceAccount: [UInt8] { JSONPayload.encode(greeting["serviceAccount"] ?? .null) }

  /// Sixteen subscriptions.
  public var subscriptions: [Subscription] {
    guard case .array(let all) = greeting["subscriptions"] else { return [] }
    return all.map { entry in
      Subscription(
        endpoint: Self.text(entry["endpoint"]), p256dh: Self.text(entry["p256dh"]), auth: Self.text(entry["auth"]))
    }
  }

  /// Orders answers or a mood; `Tests/PushFakes/ControlDesk.swift` says how.
  public func order(_ json: String) throws { _ = try ask("POST", "/order", json) }

  /// Moves the fakes' clock on.
  public func advanceClock(milliseconds: Int64) throws {
    _ = try ask("POST", "/clock", #"{"advanceMilliseconds":\#(milliseconds)}"#)
  }

  /// What came to a service, in order.
  public func requests(to service: Service) throws -> [JSONValue] {
    guard case .array(let entries) = try ask("GET", "/requests?service=\(service.rawValue)") else { return [] }
    return entries
  }

  /// Handshakes, connections and requests by service, `held` and `streamPeaks`, `providerTokens`, `tokenExchanges`.
  public func counters() throws -> JSONValue { try ask("GET", "/counters") }

  private static func text(_ value: JSONValue?) -> String { if case .string(let text) = value { text } else { "" } }

  // One connection for each question: there are few, and a closed one says where the answer ends.
  private func ask(_ method: String, _ path: String, _ body: String = "") throws -> JSONValue {
    let descriptor = try Self.connect(port(.control))
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let text =
      "\(method) \(path) HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
      + "content-length: \(body.utf8.count)\r\n\r\n\(body)"
    let bytes = Array(text.utf8)
    guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw DeadlinePassed(description: "push-fakes does not listen to \(method) \(path)")
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { answer += buffer[..<count] }
    let end = Array("\r\n\r\n".utf8)
    guard let head = answer.indices.first(where: { answer[$0...].starts(with: end) }) else {
      throw DeadlinePassed(description: "push-fakes gave no answer to \(method) \(path)")
    }
    let said = Array(answer[(head + 4)...])
    guard answer.starts(with: Array("HTTP/1.1 200".utf8)) else {
      throw DeadlinePassed(description: "push-fakes objects: \(String(decoding: said, as: UTF8.self))")
    }
    return try JSONPayload.decode(JSONValue.self, from: said)
  }

  private static func connect(_ port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      close(descriptor)
      throw DeadlinePassed(description: "push-fakes does not listen on port \(port)")
    }
    return descriptor
  }
}
