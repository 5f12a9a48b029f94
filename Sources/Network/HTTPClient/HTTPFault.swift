/// Why a request has no answer.
public struct HTTPFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, for programs.
  public enum Code: String, Sendable {
    /// The address, a header field or the body cannot be sent as given; nothing was done.
    case badRequest = "bad-request"
    /// More than ``HTTPClientLimits/requestMaximum`` requests are in flight; nothing was done.
    case full
    /// This machine has no libcurl that can be used; nothing was done.
    case unavailable
    /// The trusted authorities cannot be read; nothing was done.
    case trust
    /// The host's name could not be looked up, in time or at all.
    case nameLookup = "name-lookup"
    /// The host has no global address, and only such addresses may be dialled.
    case privateAddress = "private-address"
    /// No address of the host accepted the connection, in time or at all.
    case unreachable
    /// The certificate or the TLS handshake was not good.
    case tls
    /// There was no whole answer before the deadline.
    case timedOut = "timed-out"
    /// The connection ended before the answer did.
    case cut
    /// The answer, as sent or inflated, is longer than allowed, or its head is too long.
    case tooLarge = "too-large"
    /// The answer redirects; ``HTTPFault/location`` says where to. It is not followed.
    case redirected
    /// What arrived is not an HTTP answer, or has an encoding that was not requested.
    case badAnswer = "bad-answer"
    /// The task was cancelled.
    case cancelled
  }

  /// What went wrong.
  public let code: Code
  /// The requested URL, cut to 200 characters.
  public let url: String
  /// What was seen, as the end of a sentence. Texts of the other side are cut and printable.
  public let detail: String
  /// The target of a redirect, for `redirected` only; cut and printable.
  public let location: String?

  /// A fault with an address.
  public init(_ code: Code, url: String, detail: String, location: String? = nil) {
    self.code = code
    self.url = url.count > 200 ? String(url.prefix(199)) + "…" : url
    self.detail = detail
    self.location = location
  }

  /// `https://host.example/: host.example port 443 closed the connection without an answer`.
  public var description: String { "\(url): \(detail)" }
}

/// A text of the other side in a form that can be shown: at most 200 characters, all of them printable ASCII.
func printable(_ text: String) -> String {
  let bytes = text.utf8.prefix(201).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }
  return String(decoding: bytes.prefix(200), as: UTF8.self) + (bytes.count > 200 ? "…" : "")
}
