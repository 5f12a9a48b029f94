public import Cryptography

// An HTTP request that authenticates its client (NIP-98): `Authorization: Nostr <base64 of an event>`. The event names
// the address, the method and the body, so it is valid for this request only; but as long as it is fresh, it is valid
// for any number of repetitions. A server that must not carry out a request twice remembers the event's id for that
// time.
//
// Stricter than the NIP where it leaves room: a request with a body needs its hash, one without must not have the hash
// of another, and a repeated tag is refused, because another reader could use the other one.

/// The event with which a client authenticates to an HTTP server (kind 27235, NIP-98).
public enum HTTPAuthorization {
  /// How far the event's time may be from the server's clock, in seconds, in both directions.
  public static let toleranceSeconds: Int64 = 60
  /// The most bytes of a header's value that are read.
  public static let headerByteCountMaximum = 8 << 10

  /// The key that authenticates a request.
  ///
  /// - Parameters:
  ///   - header: the value of `Authorization`, up to ``headerByteCountMaximum``.
  ///   - method: the request's method, such as `POST`; compared byte by byte, as HTTP does.
  ///   - url: the whole address that the client was given, including the query; compared byte by byte.
  ///   - bodyHash: SHA-256 of the body's bytes; nil for a request without one.
  ///   - now: the server's clock, seconds since 1970.
  /// - Returns: the authenticated key, or the reason for an answer 401. The signature is checked last, since it costs
  ///   the most.
  public static func verified(
    header: String, method: String, url: String, bodyHash: Octets32?, now: Int64
  ) -> Result<PublicKey, HTTPAuthorizationFault> {
    event(header: header, method: method, url: url, bodyHash: bodyHash, now: now).map(\.pubkey)
  }

  /// The same, for servers that remember events: returns the event, whose id identifies a repetition.
  public static func event(
    header: String, method: String, url: String, bodyHash: Octets32?, now: Int64
  ) -> Result<Event, HTTPAuthorizationFault> {
    do throws(HTTPAuthorizationFault) {
      let event = try event(in: header)
      guard event.kind == EventKind.httpAuthorization else { throw .wrongKind(event.kind) }
      let distance = event.createdAt.subtractingReportingOverflow(now)
      guard !distance.overflow, distance.partialValue.magnitude <= toleranceSeconds else { throw .wrongTime }
      guard try value(of: "u", in: event)?.hasSameBytes(as: url) == true else { throw .wrongAddress }
      guard try value(of: "method", in: event)?.hasSameBytes(as: method) == true else { throw .wrongMethod }
      try check(value(of: "payload", in: event), bodyHash: bodyHash)
      do throws(EventFault) { try event.verify() } catch { throw .notValid(error) }
      return .success(event)
    } catch {
      return .failure(error)
    }
  }

  /// The unsigned event for a request; parameters as for ``verified(header:method:url:bodyHash:now:)``.
  public static func template(
    method: String, url: String, bodyHash: Octets32?, by author: PublicKey, createdAt: Int64
  ) -> UnsignedEvent {
    UnsignedEvent(
      pubkey: author, createdAt: createdAt, kind: EventKind.httpAuthorization,
      tags: [["u", url], ["method", method]] + (bodyHash.map { [["payload", $0.description]] } ?? []))
  }

  /// The value of `Authorization` for a signed event.
  public static func header(of event: Event) -> String { "Nostr \(Base64.encode(event.json))" }

  private static func event(in header: String) throws(HTTPAuthorizationFault) -> Event {
    let byteCount = header.utf8.count
    guard byteCount <= headerByteCountMaximum else { throw .headerTooLong(byteCount: byteCount) }
    let words = header.split(separator: " ")
    // Names of schemes are case-insensitive (RFC 9110, 11.1).
    guard let scheme = words.first, scheme.utf8.elementsEqual("nostr".utf8, by: { $0 | 0x20 == $1 }) else {
      throw .wrongScheme
    }
    guard words.count == 2, let json = Base64.decode(words[1]), !json.isEmpty else { throw .notBase64 }
    do throws(EventFault) { return try Event(json: json) } catch { throw .notValid(error) }
  }

  /// The value of the one tag with this name; nil if it is missing, or has no value.
  private static func value(of name: String, in event: Event) throws(HTTPAuthorizationFault) -> String? {
    let tags = event.tags.filter { $0.first?.hasSameBytes(as: name) == true }
    guard tags.count <= 1 else { throw .repeatedTag(name) }
    return tags.first.flatMap { $0.count > 1 ? $0[1] : nil }
  }

  private static func check(_ payload: String?, bodyHash: Octets32?) throws(HTTPAuthorizationFault) {
    // Some clients send a hash with every request: without a body, the hash of nothing.
    guard payload != nil || bodyHash != nil else { return }
    guard let payload, Octets32(payload) == bodyHash ?? SHA256.hash([]) else { throw .wrongBody }
  }
}

/// Why a request's authorization is refused.
public enum HTTPAuthorizationFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The header is longer than ``HTTPAuthorization/headerByteCountMaximum``.
  case headerTooLong(byteCount: Int)
  /// Another scheme than `Nostr`, or no scheme.
  case wrongScheme
  /// What follows `Nostr` is not one word of padded Base64.
  case notBase64
  /// Not kind 27235.
  case wrongKind(UInt16)
  /// The time is further from now than ``HTTPAuthorization/toleranceSeconds``.
  case wrongTime
  /// Two tags of this name.
  case repeatedTag(String)
  /// Another address, or no address.
  case wrongAddress
  /// Another method, or no method.
  case wrongMethod
  /// The hash of another body; or no hash although there is a body.
  case wrongBody
  /// Not an event, or its id or signature is wrong.
  case notValid(EventFault)

  /// The end of a sentence, for the body of an answer 401.
  public var description: String {
    switch self {
    case .headerTooLong(let count):
      "the Authorization header has \(count) bytes; at most \(HTTPAuthorization.headerByteCountMaximum) are read"
    case .wrongScheme: "the Authorization header is not of the scheme Nostr"
    case .notBase64: "what follows \"Nostr\" in the Authorization header is not Base64 with padding"
    case .wrongKind(let kind): "the event is of kind \(kind), not \(EventKind.httpAuthorization)"
    case .wrongTime: "the event's time is more than \(HTTPAuthorization.toleranceSeconds) seconds from now"
    case .repeatedTag(let name): "the event has the tag \"\(name)\" twice"
    case .wrongAddress: "the event's tag \"u\" is not the address of this request"
    case .wrongMethod: "the event's tag \"method\" is not the method of this request"
    case .wrongBody: "the event's tag \"payload\" is not the SHA-256 of this request's body"
    case .notValid(let fault): "\(fault)"
    }
  }
}
