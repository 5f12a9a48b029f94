/// Why a request has no answer.
public struct HTTPFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, for programs.
  public enum Code: String, Sendable {
    /// The address, a header field or the body cannot be sent as it is; nothing was done.
    case badRequest = "bad-request"
    /// More requests are in hand than ``HTTPClientLimits/requestMaximum``; nothing was done.
    case full
    /// There is no libcurl that can be used on this machine; nothing was done.
    case unavailable
    /// The authorities that are to be trusted cannot be read; nothing was done.
    case trust
    /// The host's name could not be looked up, in time or at all.
    case nameLookup = "name-lookup"
    /// The host has no address of the internet, and only such are to be dialled.
    case privateAddress = "private-address"
    /// No address of the host took the connection, in time or at all.
    case unreachable
    /// The certificate or the TLS handshake was not good.
    case tls
    /// There was no whole answer before the deadline.
    case timedOut = "timed-out"
    /// The connection ended before the answer did.
    case cut
    /// The answer, as sent or inflated, is longer than was wanted, or its head is too long.
    case tooLarge = "too-large"
    /// The answer points elsewhere; ``HTTPFault/location`` says where. It is not followed.
    case redirected
    /// What came is no answer of HTTP, or is encoded in a way that was not asked for.
    case badAnswer = "bad-answer"
    /// The task was cancelled.
    case cancelled
  }

  /// What went wrong.
  public let code: Code
  /// What was asked for, cut to 200 characters.
  public let url: String
  /// A sentence's end: what was seen. Texts of the other side are cut and printable.
  public let detail: String
  /// Where the answer points, of `redirected` only; cut and printable.
  public let location: String?

  /// A fault with an address.
  public init(_ code: Code, url: String, detail: String, location: String? = nil) {
    self.code = code
    self.url = url.count > 200 ? String(url.prefix(199)) + "…" : url
    self.detail = detail
    self.location = location
  }

  /// `https://host.example/: nobody answers at host.example port 443: Connection refused`.
  public var description: String { "\(url): \(detail)" }
}

/// A text of the other side as it may be shown: at most 200 characters, all of them printable ASCII.
func printable(_ text: String) -> String {
  let bytes = text.utf8.prefix(201).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }
  return String(decoding: bytes.prefix(200), as: UTF8.self) + (bytes.count > 200 ? "…" : "")
}
