import Addresses
import Clocks
import Glibc
import HTTP2Client

/// How fast one connection carries posts: `http2-bench URL COUNT [AT-ONCE [AUTHORITY.pem]]`.
///
/// The URL's host is an address of loopback or `localhost`; `http:` is HTTP/2 without TLS, by prior knowledge.
@main
enum HTTP2Bench {
  /// Bytes of each body: what a wake-up has.
  static let bodyByteCount = 400

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 2, let target = Target(arguments[0]), let count = Int(arguments[1]), count > 0 else {
      print("usage: http2-bench http[s]://127.0.0.1:PORT/PATH COUNT [AT-ONCE [AUTHORITY.pem]]")
      exit(2)
    }
    let atOnce = max(1, arguments.count > 2 ? Int(arguments[2]) ?? 100 : 100)
    let trust: HTTP2Trust =
      !target.isSecure ? .cleartext : arguments.count > 3 ? .authorities(file: arguments[3]) : .system
    let loop = HTTP2Loop()
    var settings = HTTP2SenderSettings()
    settings.connectSpacingMilliseconds = 0
    let sender = try HTTP2Sender(origin: target.origin, settings: settings, trust: trust, on: loop) { origin in
      .addresses([origin.literal ?? IPAddress("127.0.0.1")].compactMap { $0 })
    }
    let request = HTTP2Request(
      method: "POST", path: target.path,
      headers: [HTTP2Header("authorization", "bearer " + String(repeating: "a", count: 200))],
      body: [UInt8](repeating: 0x61, count: bodyByteCount))
    _ = await sender.send(request)
    let start = monotonicNow()
    let failures = await withTaskGroup(of: Int.self) { group in
      for worker in 0..<atOnce {
        group.addTask {
          var failures = 0
          for _ in stride(from: worker, to: count, by: atOnce) {
            if case .answered(let answer) = await sender.send(request), answer.status == 200 { continue }
            failures += 1
          }
          return failures
        }
      }
      var failures = 0
      for await some in group { failures += some }
      return failures
    }
    let milliseconds = max(1, monotonicNow().milliseconds(since: start))
    let counters = await sender.counters()
    print("\(count) posts in \(milliseconds) ms: \(UInt64(count) * 1_000 / milliseconds) posts/s, \(atOnce) at once")
    print(
      "\(failures) not answered 200, \(counters.connectsBegun) connections, last end: \(counters.lastEnd ?? "none")")
    await sender.close()
    await loop.stop()
  }
}

/// What stands in the URL.
struct Target {
  var origin: HTTP2Origin
  var path: String
  var isSecure: Bool

  init?(_ url: String) {
    isSecure = url.hasPrefix("https://")
    guard isSecure || url.hasPrefix("http://") else { return nil }
    let rest = url.dropFirst(isSecure ? 8 : 7)
    let authority = rest.prefix { $0 != "/" }
    path = rest.dropFirst(authority.count).isEmpty ? "/" : String(rest.dropFirst(authority.count))
    let parts = authority.split(separator: ":")
    guard let host = parts.first, parts.count <= 2 else { return nil }
    guard let port = parts.count == 2 ? UInt16(parts[1]) : isSecure ? 443 : 80 else { return nil }
    origin = HTTP2Origin(host: String(host), port: port)
  }
}

private func monotonicNow() -> Instant {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
}
