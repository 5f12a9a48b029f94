internal import Contracts

// How addresses and URLs of a push relay are written.

extension Notation where Value == String {
  /// `https://host`, with a port and a path where there are any; or nothing (`""`).
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

  /// An address, or one with the number of its leading bits: `10.0.0.0/8`.
  static let network = text("an address such as \"127.0.0.1\" or \"10.0.0.0/8\"") { text in
    isNetwork(text) ? nil : Complaint(message: "\"\(text)\" is no address such as \"127.0.0.1\" or \"10.0.0.0/8\"")
  }

  private static func isNetwork(_ text: String) -> Bool {
    // `try?`: what is no address has one complaint, whatever it is instead.
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let address = try? ListenAddress(listening(at: first)) else {
      return false
    }
    guard parts.count == 2 else { return true }
    let most = address.description.hasPrefix("[") ? 128 : 32
    guard let bits = Int(parts[1]), (0...most).contains(bits), "\(bits)" == parts[1] else { return false }
    return true
  }

  private static func listening(at address: Substring) -> String {
    address.contains(":") ? "[\(address)]:1" : "\(address):1"
  }
}
