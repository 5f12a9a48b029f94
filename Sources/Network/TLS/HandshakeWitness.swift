internal import CTLS
internal import EventLoop

// libcurl does its own handshakes, with a libssl context of its own for each connection. This type gives such a context
// the authorities that the rest of the process trusts, which were read once, and the same conditions. It also records
// what was wrong, so that every client describes a bad certificate in the same words.

/// Gives the TLS of another library the settings of ``TLSClient``, for one connection, and describes a failure. It
/// belongs to one thread.
public final class HandshakeWitness {
  private let trust: TLSContext
  private let host: String
  private let isAddress: Bool
  private var flaw: TLSRefusal?

  /// The index of a witness in a context of libssl. The context retains the witness until it is freed.
  private static let place = roost_tls_place_in_contexts { _, witness, _, _, _, _ in
    if let witness { Unmanaged<HandshakeWitness>.fromOpaque(witness).release() }
  }

  init(_ trust: TLSContext, host: String) {
    self.trust = trust
    self.host = host
    isAddress = SocketAddress(literal: host, port: 0) != nil
  }

  /// Prepares a context before its connection is made: TLS 1.2 or later, a chain to an authority that this process
  /// trusts, and a certificate for the host.
  ///
  /// - Parameter context: an `SSL_CTX` of the libssl of this process, with no connection yet.
  /// - Returns: false if libssl rejects a condition; the connection must not be made then.
  public func attend(_ context: UnsafeMutableRawPointer) -> Bool {
    let context = OpaquePointer(context)
    guard roost_tls_require(context, TLSContext.versionMinimum) == 1,
      requireHost(host, isAddress: isAddress, SSL_CTX_get0_param(context)),
      SSL_CTX_get_ex_data(context, Self.place) == nil
    else { return false }
    let kept = Unmanaged.passRetained(self)
    guard SSL_CTX_set_ex_data(context, Self.place, kept.toOpaque()) == 1 else {
      kept.release()
      return false
    }
    SSL_CTX_set_options(context, UInt64(roost_tls_no_renegotiation))
    SSL_CTX_set1_cert_store(context, SSL_CTX_get_cert_store(trust.raw))
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER) { isGood, store in HandshakeWitness.note(isGood, store) }
    return true
  }

  /// What was wrong, as the end of a sentence for a person.
  ///
  /// - Parameter report: the other library's message. A libssl error number in it (`error:0A00010B:…`) is understood.
  public func words(_ report: String) -> String {
    var refusal = flaw ?? Self.errorNumber(in: report).map { TLSRefusal(error: $0) }
    // libssl has no error of its own if the stream has ended.
    if refusal == nil, report.hasPrefix("OpenSSL SSL_connect") { refusal = .cut }
    return (refusal ?? .other(plainText(report.utf8)))
      .words(host: host, plain: "without it an address begins with http://")
  }

  private static func errorNumber(in report: String) -> UInt? {
    report.firstRange(of: "error:").flatMap { UInt(report[$0.upperBound...].prefix { $0.isHexDigit }, radix: 16) }
  }

  /// libssl calls this for each certificate that it has checked. A C function cannot capture, so the witness is in the
  /// context.
  private static func note(_ isGood: Int32, _ store: OpaquePointer?) -> Int32 {
    guard isGood != 1 else { return 1 }
    guard let connection = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
      let witness = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(OpaquePointer(connection)), place)
    else { return 0 }
    Unmanaged<HandshakeWitness>.fromOpaque(witness).takeUnretainedValue().note(
      X509_STORE_CTX_get_error(store), X509_STORE_CTX_get_current_cert(store),
      depth: Int(X509_STORE_CTX_get_error_depth(store)))
    return 0
  }

  private func note(_ code: Int32, _ certificate: OpaquePointer?, depth: Int) {
    guard flaw == nil else { return }
    flaw = .certificate(
      CertificateFlaw(code), certificate.map { CertificateGlance($0) } ?? CertificateGlance(), depth: depth,
      knowsAuthorities: trust.knowsAuthorities)
  }
}

extension TLSClient {
  /// A witness for one connection of another library to this host, a name or an address without brackets.
  public func witness(host: String) -> HandshakeWitness { HandshakeWitness(context, host: host) }
}
