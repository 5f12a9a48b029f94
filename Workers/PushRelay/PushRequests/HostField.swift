/// The field by which a request of HTTP/1.1 names whom it is for. Nothing here is chosen by it; but one that is
/// missing, or stands twice, is not understood in the same sense by all on the request's way.
public enum HostField {
  /// Makes sure that there is one, and that it can be a host with a port. An empty one is a host that has no name.
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

  /// What ends or begins another part of a URL.
  private static let delimiters = Set(#"/?#@\"<>^`{|}"#.utf8)
}
