internal import CTLS
internal import Glibc

// The identity of a server: its certificate, those between it and an authority, and its key. Faults in the files are
// found when they are read, not when the first client complains, and the message says which file to check.

/// Why a server has no usable identity.
public struct IdentityFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// What is wrong with it, as the end of a sentence.
  public let detail: String

  /// `/etc/roost/key.pem: the key does not belong to the certificate in /etc/roost/certificate.pem`.
  public var description: String { "\(path): \(detail)" }
}

/// The files of a server's certificate and key.
struct TLSIdentity {
  /// The server's certificate in PEM, then the intermediate ones, the nearest first.
  let certificateFile: String
  /// The key in PEM, without a passphrase. May be the same file.
  let keyFile: String

  /// What shows that the files have changed.
  struct Stamps: Equatable {
    fileprivate var values: [Int] = []
  }

  /// The stamps of the files now; a file that does not exist has a stamp too.
  var stamps: Stamps {
    var stamps = Stamps()
    for path in [certificateFile, keyFile] {
      var status = stat()
      guard stat(path, &status) == 0 else {
        stamps.values.append(-1)
        continue
      }
      stamps.values += [
        Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), Int(status.st_size),
        status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
      ]
    }
    return stamps
  }

  /// Reads both into a context and checks them.
  ///
  /// - Throws: for a file that cannot be read or is not what it should be, for a key of another certificate, and for a
  ///   certificate that has expired or is not valid yet.
  func load(into context: OpaquePointer) throws(IdentityFault) {
    for path in [certificateFile, keyFile] where access(path, R_OK) != 0 {
      throw IdentityFault(path: path, detail: "it cannot be read: \(String(cString: strerror(errno)))")
    }
    ERR_clear_error()
    guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1,
      let certificate = SSL_CTX_get0_certificate(context)
    else { throw fault(certificateFile, missing: "there is no certificate in PEM in it") }
    // libssl would ask for a passphrase at the terminal.
    SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
    ERR_clear_error()
    let status = SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM)
    let error = ERR_peek_last_error()
    let isKey = status == 1 || roost_error_library(error) == Int32(roost_library_x509)
    guard isKey else { throw fault(keyFile, missing: "there is no key in PEM in it") }
    guard status == 1, X509_check_private_key(certificate, SSL_CTX_get0_privatekey(context)) == 1 else {
      throw IdentityFault(path: keyFile, detail: "the key does not belong to the certificate in \(certificateFile)")
    }
    let glance = CertificateGlance(certificate)
    if X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0 {
      throw IdentityFault(path: certificateFile, detail: "the certificate has expired (\(glance.lastDay))")
    }
    if X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0 {
      throw IdentityFault(
        path: certificateFile,
        detail: "the certificate is not valid before \(glance.firstDay); is the clock here right?")
    }
  }

  /// The fault of a file that holds something else: whatever libssl says, the message names what is missing. The
  /// exceptions are a key that needs a passphrase, and a file that a sandbox denies although its mode allows reading.
  /// libssl may have several reasons in its queue.
  private func fault(_ path: String, missing: String) -> IdentityFault {
    var isClosed = false
    var number: Int32 = 0
    while case let error = ERR_get_error(), error != 0 {
      if roost_error_reason(error) == Int32(roost_tls_bad_passphrase) { isClosed = true }
      if number == 0 { number = roost_error_of_system(error) }
    }
    guard number == 0 else {
      return IdentityFault(path: path, detail: "it cannot be read: \(String(cString: strerror(number)))")
    }
    return IdentityFault(
      path: path, detail: isClosed ? "the key is under a passphrase, which cannot be entered here" : missing)
  }
}
