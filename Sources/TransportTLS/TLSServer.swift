internal import CTLS
public import Clocks
public import EventLoop
public import WebSocket

/// TLS for a `WebSocketServer`, by OpenSSL: version 1.2 or 1.3, with the server's certificate and key.
///
/// Clients are asked for no certificate; `http/1.1` is the only protocol inside. One of it serves all connections of a
/// process; each takes some 20 KB during its life (decision 0010).
@EventLoopActor
public final class TLSServer: ServerSecurity {
  /// Whom the certificate is for, and until when: `localhost, 127.0.0.1, until 2027-11-21`.
  public private(set) var certificate: String

  private let identity: TLSIdentity
  private var context: TLSContext

  /// A server with a certificate.
  ///
  /// - Parameters:
  ///   - certificateFile: in PEM, the server's own first, then those that vouch for it.
  ///   - keyFile: the key in PEM, without a passphrase; may be the same file.
  /// - Throws: in words for whoever keeps the files: one that cannot be read or holds something else, a key that does
  ///   not belong to the certificate, a certificate whose time is over or has not come.
  public init(certificateFile: String, keyFile: String) throws(IdentityFault) {
    identity = TLSIdentity(certificateFile: certificateFile, keyFile: keyFile)
    context = try TLSContext(identity)
    certificate = Self.words(context)
  }

  /// Reads the files anew, for the connections that come from now on. If it throws, all stays as it was.
  public func reload() throws(IdentityFault) {
    context = try TLSContext(identity)
    certificate = Self.words(context)
  }

  /// Encrypts a connection that was accepted; see `ServerSecurity`.
  ///
  /// - Throws: `tls` for a client that speaks no proper TLS or refuses the certificate; `cut`, `timed-out`,
  ///   `cancelled`.
  public func accept(_ stream: ByteStream, deadline: Instant) async throws(WebSocketFault) -> any ByteTransport {
    let peer = stream.peerAddress.map { "\($0)" } ?? "a client"
    switch await HandshakeExchange(stream, TLSEngine(accepting: context)).run(until: deadline) {
    case .success(let encrypted): return encrypted
    case .failure(let failure): throw failure.fault(peer: peer)
    }
  }

  private static func words(_ context: TLSContext) -> String {
    guard let certificate = SSL_CTX_get0_certificate(context.raw) else { return "nobody" }
    let glance = CertificateGlance(certificate)
    return "\(glance.nameList), until \(glance.lastDay)"
  }
}
