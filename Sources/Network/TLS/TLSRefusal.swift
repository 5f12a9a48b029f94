internal import CTLS

// Why a handshake failed, in words for a person who wants to reach a relay. libssl's own words ("wrong version number",
// "unable to get local issuer certificate") name the symptom and not its meaning.

/// What is wrong with the certificate of the other side.
enum CertificateFlaw: Equatable {
  /// It has expired.
  case expired
  /// It is not valid yet.
  case notYetValid
  /// It is for other hosts.
  case wrongHost
  /// It is signed with its own key.
  case selfSigned
  /// Its signer is not known here.
  case unknownAuthority
  /// Another flaw, with libssl's description.
  case other(String)
}

/// Why a handshake ended without a stream.
enum TLSRefusal: Error, Equatable {
  /// The certificate, or one between it and an authority (`depth` above 0), is not good.
  case certificate(CertificateFlaw, CertificateGlance, depth: Int, knowsAuthorities: Bool)
  /// What arrived was not TLS.
  case noTLS
  /// The other side speaks only versions older than TLS 1.2.
  case tooOld
  /// The other side's alert (RFC 8446, 6.2), with its number.
  case alert(UInt8, String)
  /// The stream ended during the handshake.
  case cut
  /// Another reason, with libssl's description.
  case other(String)

  /// The end of a sentence for a person, with the host as it was dialled, and how to dial a server without TLS.
  func words(host: String, plain: String = "a relay without it is dialled as ws://") -> String {
    switch self {
    case .certificate(let flaw, let certificate, let depth, let knowsAuthorities):
      depth == 0
        ? Self.words(host, flaw, certificate) + Self.hint(flaw, knowsAuthorities)
        : Self.words(host, flaw, authority: certificate) + Self.hint(flaw, knowsAuthorities)
    case .noTLS: "\(host) speaks no TLS on this port (\(plain))"
    case .tooOld: "\(host) speaks no TLS of version 1.2 or later; earlier versions are no longer safe"
    case .alert(112, _): "the server knows no host of the name \(host)"
    case .alert(116, _): "\(host) wants a client certificate, and Roost has none"
    case .alert(_, let words): "\(host) refused the TLS handshake: \(words)"
    case .cut: "the connection to \(host) ended in the middle of the TLS handshake"
    case .other(let words): "the TLS handshake with \(host) failed: \(words)"
    }
  }

  /// The end of a sentence about a client.
  var wordsOfServer: String {
    switch self {
    case .noTLS: "what came is no TLS"
    case .tooOld: "the client speaks no TLS of version 1.2 or later"
    case .alert(_, let words): "the client refused the TLS handshake: \(words)"
    case .cut: "the connection ended in the middle of the TLS handshake"
    case .other(let words): "the TLS handshake failed: \(words)"
    case .certificate: "the certificate of the client is not good"
    }
  }

  private static func words(_ host: String, _ flaw: CertificateFlaw, _ certificate: CertificateGlance) -> String {
    switch flaw {
    case .expired: "the certificate of \(host) has expired (\(certificate.lastDay))"
    case .notYetValid:
      "the certificate of \(host) is not valid before \(certificate.firstDay); is the clock here right?"
    case .wrongHost: "the certificate is for \(certificate.nameList), not \(host)"
    case .selfSigned: "the certificate of \(host) is from no authority that this machine trusts (self-signed)"
    case .unknownAuthority:
      "the certificate of \(host) is from no authority that this machine trusts (by \"\(certificate.issuer)\")"
    case .other(let words): "the certificate of \(host) is not good: \(words)"
    }
  }

  /// The end of a sentence about a certificate between the server's and an authority's.
  private static func words(
    _ host: String, _ flaw: CertificateFlaw, authority: CertificateGlance
  ) -> String {
    let which = "of \"\(authority.subject)\", which vouches for \(host),"
    switch flaw {
    case .expired: return "the certificate \(which) has expired (\(authority.lastDay))"
    case .notYetValid:
      return "the certificate \(which) is not valid before \(authority.firstDay); is the clock here right?"
    case .selfSigned:
      return "the certificate of \(host) is from no authority that this machine trusts (by \"\(authority.subject)\")"
    case .unknownAuthority:
      return
        "the certificate of \(host) is from no authority that this machine trusts (by \"\(authority.issuer)\" in the end)"
    case .wrongHost, .other: return "the certificate \(which) is not good: \(words(of: flaw))"
    }
  }

  private static func words(of flaw: CertificateFlaw) -> String {
    if case .other(let words) = flaw { words } else { "it is for others" }
  }

  private static func hint(_ flaw: CertificateFlaw, _ knowsAuthorities: Bool) -> String {
    switch flaw {
    case .selfSigned, .unknownAuthority:
      knowsAuthorities ? "" : "; no authority at all was found here (Debian: install ca-certificates)"
    default: ""
    }
  }
}

// MARK: What libssl says

extension CertificateFlaw {
  /// The meaning of libssl's number for a flaw.
  init(_ code: Int32) {
    switch code {
    case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
    case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .wrongHost
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: self = .selfSigned
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
      self = .unknownAuthority
    default: self = .other(String(cString: X509_verify_cert_error_string(Int(code))))
    }
  }
}

extension TLSRefusal {
  /// libssl's reasons from this number on are alerts of the other side (SSL_AD_REASON_OFFSET).
  private static let alertOffset: Int32 = 1_000
  private static let protocolVersionAlert: Int32 = 70

  /// The meaning of libssl's error, if it is not about a certificate.
  ///
  /// - Parameter isAlert: whether the first bytes were an alert. Then an unsupported version is an old TLS, and not
  ///   another protocol.
  init(error: UInt, isAlert: Bool = false) {
    let number = roost_error_reason(error)
    switch number {
    case Int32(roost_tls_unsupported_protocol), Self.alertOffset + Self.protocolVersionAlert: self = .tooOld
    case Int32(roost_tls_wrong_version): self = isAlert ? .tooOld : .noTLS
    case Self.alertOffset...(Self.alertOffset + 255):
      let alert = number - Self.alertOffset
      self = .alert(UInt8(alert), String(cString: SSL_alert_desc_string_long(alert)))
    default: self = .other(reason(of: error))
    }
  }
}
