import Contracts
import Frames
import HTTP2Client

/// `https://host[:port]`, without a path.
struct PlainURL: Sendable {
  /// As written.
  let text: String
  /// The origin that it names.
  let origin: HTTP2Origin

  /// Reads a setting; "" means the default.
  init(_ written: String, or standard: String, setting: String) throws(Refusal) {
    text = written.isEmpty ? standard : written
    guard let origin = Self.origin(of: text) else {
      throw Refusal(.failed, "\(setting): \"\(text)\" is no URL such as https://push.example:8443")
    }
    self.origin = origin
  }

  private static func origin(of text: String) -> HTTP2Origin? {
    guard text.hasPrefix("https://") else { return nil }
    let rest = text.dropFirst("https://".count)
    guard !rest.isEmpty, !rest.contains(where: { "/?#@".contains($0) }) else { return nil }
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      let host = String(rest[rest.index(after: rest.startIndex)..<end])
      let tail = rest[rest.index(after: end)...]
      if tail.isEmpty { return HTTP2Origin(host: host) }
      guard tail.hasPrefix(":"), let port = UInt16(tail.dropFirst()) else { return nil }
      return HTTP2Origin(host: host, port: port)
    }
    let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
    guard let host = parts.first.map(String.init), !host.isEmpty, parts.count <= 2 else { return nil }
    guard parts.count == 2 else { return HTTP2Origin(host: host.lowercased()) }
    return UInt16(parts[1]).map { HTTP2Origin(host: host.lowercased(), port: $0) }
  }
}
