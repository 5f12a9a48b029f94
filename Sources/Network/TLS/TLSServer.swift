internal import CTLS
public import Clocks
public import EventLoop
public import WebSocket

/// TLS for a `WebSocketServer`, by OpenSSL: version 1.2 or 1.3, with the server's certificate and key.
///
/// It requests no certificate from clients; `http/1.1` is the only protocol inside. One server serves all connections
/// of a process; each takes some 20 KB during its life (decision 0010).
@EventLoopActor
public final class TLSServer: ServerSecurity {
  /// The hosts of the certificate, and its end: `localhost, 127.0.0.1, until 2027-11-21`.
  public private(set) var certificate: String

  /// Called when the files have changed and the server has read them again without a request: with the hosts of the
  /// certificate now, or with the reason why it keeps the old one.
  public var onRenewal: (@EventLoopActor (Result<String, IdentityFault>) -> Void)?

  private let identity: TLSIdentity
  private var context: TLSContext
  private var stamps: TLSIdentity.Stamps
  private var nextLook: Instant

  /// How often a new connection checks whether the files have changed.
  private static let lookMilliseconds: UInt64 = 5_000

  /// A server with a certificate.
  ///
  /// - Parameters:
  ///   - certificateFile: in PEM, the server's own certificate first, then the intermediate ones.
  ///   - keyFile: the key in PEM, without a passphrase; may be the same file.
  /// - Throws: in words for the person who keeps the files: for a file that cannot be read or holds something else, a
  ///   key that does not belong to the certificate, a certificate that has expired or is not valid yet.
  public init(certificateFile: String, keyFile: String) throws(IdentityFault) {
    identity = TLSIdentity(certificateFile: certificateFile, keyFile: keyFile)
    stamps = identity.stamps
    nextLook = EventLoop.process.now.advanced(milliseconds: Self.lookMilliseconds)
    context = try TLSContext(identity)
    certificate = Self.words(context)
  }

  /// Reads the files again, for the connections from now on. If it throws, nothing changes.
  ///
  /// - Returns: whether the files have changed.
  @discardableResult
  public func reload() throws(IdentityFault) -> Bool {
    let present = identity.stamps
    defer { stamps = present }
    context = try TLSContext(identity)
    certificate = Self.words(context)
    return present != stamps
  }

  /// Another program renews a certificate every few weeks and need not know of this one. The first connection after a
  /// while checks the two files, which finds the renewal, and an idle server does nothing. Files that cannot be used,
  /// perhaps because the certificate was written before its key, are reported once and read again when they change.
  private func renewWhenChanged() {
    let now = EventLoop.process.now
    guard now >= nextLook else { return }
    nextLook = now.advanced(milliseconds: Self.lookMilliseconds)
    guard identity.stamps != stamps else { return }
    do throws(IdentityFault) {
      try reload()
      onRenewal?(.success(certificate))
    } catch { onRenewal?(.failure(error)) }
  }

  /// Encrypts a connection that was accepted; see `ServerSecurity`.
  ///
  /// - Throws: `tls` for a client that speaks no proper TLS or refuses the certificate; `cut`, `timed-out`,
  ///   `cancelled`.
  public func accept(_ stream: ByteStream, deadline: Instant) async throws(WebSocketFault) -> any ByteTransport {
    let peer = stream.peerAddress.map { "\($0)" } ?? "a client"
    renewWhenChanged()
    switch await HandshakeExchange(stream, TLSEngine(accepting: context)).run(until: deadline) {
    case .success(let encrypted): return encrypted
    case .failure(let failure): throw failure.fault(peer: peer)
    }
  }

  private static func words(_ context: TLSContext) -> String {
    guard let certificate = SSL_CTX_get0_certificate(context.raw) else { return "no certificate" }
    let glance = CertificateGlance(certificate)
    return "\(glance.nameList), until \(glance.lastDay)"
  }
}
