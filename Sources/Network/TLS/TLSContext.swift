internal import CTLS
internal import Glibc

// What all connections of a process share: the authorities that it trusts, or its own identity, and the least version
// that it accepts.
//
// The system's authorities are read once, when the context is made: about 0.9 MB of heap for the 140 of Debian. A list
// that the system renews later is seen by the next process. libssl's cache of sessions is off, and no session is
// resumed: a relay is dialled rarely and the connection lasts for hours, and a ticket would tell the relay that the
// same Roost has returned.

/// Why the requested trust is not possible: the file of authorities is not what it should be.
public struct TrustFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// What is wrong with it, as the end of a sentence.
  public let detail: String

  /// `the authorities in /etc/ca.pem cannot be read: No such file or directory`.
  public var description: String { "the authorities in \(path) cannot be read: \(detail)" }
}

/// libssl's context, of a client or of a server. Its holders own it together; it is used on one thread.
final class TLSContext {
  let raw: OpaquePointer

  /// The least version that is spoken: older versions have known holes, and no relay needs them.
  static let versionMinimum = TLS1_2_VERSION

  /// The only protocol that is spoken inside, in the form of ALPN (RFC 7301).
  static let applicationProtocol = [UInt8(8)] + Array("http/1.1".utf8)

  private init(_ method: OpaquePointer?) {
    ERR_clear_error()
    guard let raw = SSL_CTX_new(method) else { preconditionFailure("libssl could not make a context") }
    self.raw = raw
    let isSet = roost_tls_require(raw, Self.versionMinimum)
    precondition(isSet == 1, "libssl knows TLS 1.2")
    roost_tls_keep_no_sessions(raw)
    // An idle connection holds no buffer for a record.
    roost_tls_set_mode(raw, Int(SSL_MODE_RELEASE_BUFFERS))
    // A renegotiation could change the other side's identity in the middle of a stream; it is not needed.
    SSL_CTX_set_options(raw, UInt64(roost_tls_no_renegotiation))
  }

  /// The context of a client.
  ///
  /// - Parameter authorityFile: certificates in PEM that are trusted in addition to the system's.
  convenience init(authorityFile: String?) throws(TrustFault) {
    self.init(TLS_client_method())
    // A machine without any list is not reported here: the certificate of each relay is then refused.
    SSL_CTX_set_default_verify_paths(raw)
    if let authorityFile { try trust(authorityFile) }
    ERR_clear_error()
  }

  /// The context of a server. It requests no certificate from clients, and gives no tickets: it keeps nothing for a
  /// return.
  convenience init(_ identity: TLSIdentity) throws(IdentityFault) {
    self.init(TLS_server_method())
    SSL_CTX_set_options(raw, UInt64(roost_tls_no_ticket))
    SSL_CTX_set_num_tickets(raw, 0)
    try identity.load(into: raw)
    SSL_CTX_set_alpn_select_cb(
      raw, { _, chosen, count, offered, length, _ in choose(offered, length, chosen, count) }, nil)
    ERR_clear_error()
  }

  deinit { SSL_CTX_free(raw) }

  /// Whether an authority was found on this machine so far.
  var knowsAuthorities: Bool {
    guard let store = SSL_CTX_get_cert_store(raw) else { return false }
    return OPENSSL_sk_num(X509_STORE_get0_objects(store)) > 0
  }

  private func trust(_ path: String) throws(TrustFault) {
    guard access(path, R_OK) == 0 else { throw TrustFault(path: path, detail: String(cString: strerror(errno))) }
    guard SSL_CTX_load_verify_file(raw, path) == 1 else {
      let error = ERR_peek_last_error()
      ERR_clear_error()
      let isEmpty = roost_error_reason(error) == Int32(roost_tls_no_certificate)
      throw TrustFault(
        path: path, detail: isEmpty ? "there is no certificate in PEM in it" : reason(of: error))
    }
  }
}

/// libssl's description of an error.
func reason(of error: UInt) -> String {
  let number = roost_error_of_system(error)
  if number != 0 { return String(cString: strerror(number)) }
  return ERR_reason_error_string(error).map { String(cString: $0) } ?? "no reason given"
}

/// Makes a certificate valid for this host only; returns whether libssl accepted that.
func requireHost(_ host: String, isAddress: Bool, _ parameters: OpaquePointer?) -> Bool {
  // The host must be in the list of names: the common name is for people. And `*` must be a whole label.
  X509_VERIFY_PARAM_set_hostflags(
    parameters, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
  return isAddress
    ? X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1
    : X509_VERIFY_PARAM_set1_host(parameters, host, host.utf8.count) == 1
}

/// Refuses a client whose offered protocols do not include ours: it would misunderstand everything that it receives.
private func choose(
  _ offered: UnsafePointer<UInt8>?, _ length: UInt32, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ count: UnsafeMutablePointer<UInt8>?
) -> Int32 {
  let list = UnsafeBufferPointer(start: offered, count: Int(length))
  var start = 0
  while start < list.count {
    let end = start + 1 + Int(list[start])
    guard end <= list.count else { break }
    if list[start..<end].elementsEqual(TLSContext.applicationProtocol) {
      chosen?.pointee = offered.map { $0 + start + 1 }
      count?.pointee = list[start]
      return SSL_TLSEXT_ERR_OK
    }
    start = end
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}
