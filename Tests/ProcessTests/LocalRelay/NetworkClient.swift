import Contracts
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

/// The address of this machine that others could reach; nil where there is only the loopback.
func reachableAddress() -> String? {
  var list: UnsafeMutablePointer<ifaddrs>?
  guard getifaddrs(&list) == 0 else { return nil }
  defer { freeifaddrs(list) }
  for entry in sequence(first: list, next: { $0?.pointee.ifa_next }) {
    guard let entry, let address = entry.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else {
      continue
    }
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    guard getnameinfo(address, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { continue }
    let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if !name.hasPrefix("127.") { return name }
  }
  return nil
}

/// `Tests/Peers/network_lines.py`: clients that come over the network, by TLS.
final class NetworkClients {
  private let peer: LinePeer
  private let address: String
  private let authority: String
  let url: String

  init(_ url: String, at address: String) throws {
    peer = try LinePeer("network_lines.py")
    authority = try TestCertificates.path("authority")
    self.address = address
    self.url = url
  }

  /// One of them.
  final class Client {
    fileprivate let clients: NetworkClients
    fileprivate let number: JSONValue
    /// The serial number of the certificate it was shown.
    let serial: String
    /// The last challenge it heard.
    private(set) var challenge: String?

    fileprivate init(_ clients: NetworkClients, _ number: JSONValue, _ serial: String) {
      self.clients = clients
      self.number = number
      self.serial = serial
    }

    /// Sends a message and gives what is answered, up to one of these labels.
    func say(_ text: String, until labels: String...) throws -> [JSONValue] {
      _ = try clients.ask(.string("say"), number, .string(text))
      while true {
        let heard = try clients.ask(.string("hear"), number)
        guard case .string(let text)? = heard.first else { throw DeadlinePassed(description: "nothing is answered") }
        let message = try JSONPayload.decode([JSONValue].self, from: text.utf8)
        if message.count == 2, message[0] == .string("AUTH"), case .string(let text) = message[1] { challenge = text }
        if case .string(let label)? = message.first, labels.contains(label) { return message }
      }
    }

    /// The reason at the end of a refusal.
    func refusal(_ text: String, _ label: String) throws -> String {
      guard case .string(let reason)? = try say(text, until: label).last else { return "" }
      return reason
    }

    func publish(_ event: Event, as label: String = "EVENT") throws -> RelayVisitor.Verdict {
      let answer = try say("[\"\(label)\",\(String(decoding: event.json, as: UTF8.self))]", until: "OK")
      guard answer.count == 4, case .bool(let isAccepted) = answer[2], case .string(let reason) = answer[3] else {
        throw DeadlinePassed(description: "no OK: \(answer)")
      }
      return RelayVisitor.Verdict(isAccepted: isAccepted, reason: reason)
    }

    func authenticate(_ author: Author, for relay: String) throws -> RelayVisitor.Verdict {
      if challenge == nil { _ = try say("[\"REQ\",\"c\",{\"kinds\":[1059]}]", until: "CLOSED") }
      return try publish(author.authentication(try #require(challenge), for: relay), as: "AUTH")
    }
  }

  /// A client of this URL, or another.
  func open(_ other: String? = nil) throws -> Client {
    let answer = try ask(.string("open"), .string(other ?? url), .string(address), .string(authority))
    guard answer.count == 2, case .string(let serial) = answer[1] else {
      throw DeadlinePassed(description: "not opened: \(answer)")
    }
    return Client(self, answer[0], serial)
  }

  /// What a client that does not encrypt is told; throws, as it should, with what went wrong.
  func openPlain() throws { _ = try ask(.string("open-plain"), .string(url), .string(address)) }

  /// Status and body of an HTTP answer.
  func get(_ path: String, accept: String = "*/*") throws -> (status: String, body: String) {
    let answer = try ask(
      .string("get"), .string(url + path), .string(address), .string(authority), .string(accept))
    guard answer.count == 2, case .string(let status) = answer[0], case .string(let body) = answer[1] else {
      throw DeadlinePassed(description: "no answer: \(answer)")
    }
    return (status, body)
  }

  fileprivate func ask(_ line: JSONValue...) throws -> [JSONValue] {
    let answer = try JSONPayload.decode(JSONValue.self, from: try peer.ask(JSONPayload.encode(JSONValue.array(line))))
    guard case .array(let values)? = answer["ok"] else { throw DeadlinePassed(description: "\(answer)") }
    return values
  }
}
