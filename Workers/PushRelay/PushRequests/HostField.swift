/// The field in which an HTTP/1.1 request names its host. The relay chooses nothing by it. But if it is missing or
/// repeated, the programs on the request's way may understand the request differently.
public enum HostField {
  /// Checks that there is one, and that it can be a host with a port. An empty one means a host without a name.
  ///
  /// - Throws: `invalid_request` (RFC 9112, 3.2).
  public static func check(_ fields: [HeaderField]) throws(PushRefusal) {
    let hosts = fields.filter { $0.isNamed("host") }
    guard let host = hosts.first?.value else {
      throw .invalid("the request has no Host field: HTTP/1.1 asks for one")
    }
    guard hosts.count == 1 else {
      throw .invalid("the request has \(hosts.count) Host fields: HTTP/1.1 asks for one")
    }
    guard host.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !delimiters.contains($0) }) else {
      throw .invalid("the request's Host field is no host: write a name or an address, with a port where there is one")
    }
  }

  /// Characters that end or begin another part of a URL.
  private static let delimiters = Set(#"/?#@\"<>^`{|}"#.utf8)
}
