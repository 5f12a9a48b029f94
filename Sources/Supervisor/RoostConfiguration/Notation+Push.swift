internal import Contracts

// How addresses and URLs of a push relay are written.

extension Notation where Value == String {
  /// `https://host` or `http://host`, with a port and a path if it has them; or nothing (`""`).
  static let publicURL = text("a URL such as \"https://push.example\"") { text in
    guard !text.isEmpty else { return nil }
    let rest = ["https://", "http://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) }
    guard let rest, !rest.isEmpty, !rest.hasPrefix("/"), !rest.contains(where: { "?#@ ".contains($0) }) else {
      return Complaint(
        message: "\"\(text)\" is no URL such as \"https://push.example\": what clients see before /v1")
    }
    guard !["/v1", "/v1/"].contains(where: rest.hasSuffix) else {
      return Complaint(message: "\"\(text)\" ends in /v1, which the relay puts behind it: write what is before that")
    }
    return nil
  }

  /// `https://host` or `https://host:port`, without a path; or nothing (`""`).
  static let secureURL = text("a URL that begins with https://") { text in
    guard !text.isEmpty else { return nil }
    let rest = text.dropFirst("https://".count)
    guard text.hasPrefix("https://"), !rest.isEmpty, !rest.contains(where: { "/?#@ ".contains($0) }) else {
      return Complaint(message: "\"\(text)\" is no URL such as \"https://push.example:8443\", without a path")
    }
    return nil
  }

  /// An address, alone or with a number of leading bits: `10.0.0.0/8`.
  static let network = text("an address such as \"127.0.0.1\" or \"10.0.0.0/8\"") { text in
    isNetwork(text) ? nil : Complaint(message: "\"\(text)\" is no address such as \"127.0.0.1\" or \"10.0.0.0/8\"")
  }

  private static func isNetwork(_ text: String) -> Bool {
    // `try?`: text that is not an address gets one complaint, whatever else it is.
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let address = try? ListenAddress(listening(at: first)) else {
      return false
    }
    guard parts.count == 2 else { return true }
    let most = address.description.hasPrefix("[") ? 128 : 32
    guard let bits = Int(parts[1]), (0...most).contains(bits), "\(bits)" == parts[1] else { return false }
    return true
  }

  /// The origin of a web page as browsers send it: `https://host`, with a port if it is not the scheme's default; or
  /// `*`.
  static let webOrigin = text("an origin such as \"https://app.example.org\", or \"*\"") { text in
    guard text != "*", !isWebOrigin(text) else { return nil }
    return Complaint(
      message: "\"\(text)\" is no origin as browsers send it, such as \"https://app.example.org\" or"
        + " \"http://localhost:3000\": a scheme and a host in lower case, without a path and without :443 of https; nor"
        + " \"*\", for all")
  }

  private static func isWebOrigin(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard text.utf8.count <= 300, parts.count == 3, parts[1].isEmpty, parts[0].hasSuffix(":") else { return false }
    let scheme = parts[0].dropLast()
    guard let first = scheme.utf8.first, (0x61...0x7A).contains(first),
      scheme.utf8.allSatisfy({ isPlain($0) || "+-.".utf8.contains($0) })
    else { return false }
    var host = parts[2]
    if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
      let port = host[host.index(after: colon)...]
      guard let number = UInt16(port), number > 0, "\(number)" == port else { return false }
      if scheme == "https" && number == 443 || scheme == "http" && number == 80 { return false }
      host = host[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      let inner = host.dropFirst().dropLast().utf8
      return !inner.isEmpty && inner.allSatisfy { isPlain($0) && $0 <= 0x66 || ":.".utf8.contains($0) }
    }
    return !host.isEmpty && host.utf8.allSatisfy { isPlain($0) || "-._".utf8.contains($0) }
  }

  /// A digit, or a letter in lower case.
  private static func isPlain(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) }

  private static func listening(at address: Substring) -> String {
    address.contains(":") ? "[\(address)]:1" : "\(address):1"
  }
}
