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

  /// Called when the files were others than before and were read again by themselves: whom the certificate is for now,
  /// or why all stays as it was.
  public var onRenewal: (@EventLoopActor (Result<String, IdentityFault>) -> Void)?

  private let identity: TLSIdentity
  private var context: TLSContext
  private var stamps: TLSIdentity.Stamps
  private var nextLook: Instant

  /// How often it is looked, when somebody comes, whether the files are others than before.
  private static let lookMilliseconds: UInt64 = 5_000

  /// A server with a certificate.
  ///
  /// - Parameters:
  ///   - certificateFile: in PEM, the server's own first, then those that vouch for it.
  ///   - keyFile: the key in PEM, without a passphrase; may be the same file.
  /// - Throws: in words for whoever keeps the files: one that cannot be read or holds something else, a key that does
  ///   not belong to the certificate, a certificate whose time is over or has not come.
  public init(certificateFile: String, keyFile: String) throws(IdentityFault) {
    identity = TLSIdentity(certificateFile: certificateFile, keyFile: keyFile)
    stamps = identity.stamps
    nextLook = EventLoop.process.now.advanced(milliseconds: Self.lookMilliseconds)
    context = try TLSContext(identity)
    certificate = Self.words(context)
  }

  /// Reads the files again, for the connections that come from now on. If it throws, all stays as it was.
  ///
  /// - Returns: whether they are others than before.
  @discardableResult
  public func reload() throws(IdentityFault) -> Bool {
    let present = identity.stamps
    defer { stamps = present }
    context = try TLSContext(identity)
    certificate = Self.words(context)
    return present != stamps
  }

  /// A certificate is renewed every few weeks, by a program that need not know of us. Two looks at the file system for
  /// whoever comes first after a while find that out, and an idle server does nothing. Files that cannot be taken, the
  /// certificate before its key perhaps, are told once and looked at again when they change.
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
    guard let certificate = SSL_CTX_get0_certificate(context.raw) else { return "nobody" }
    let glance = CertificateGlance(certificate)
    return "\(glance.nameList), until \(glance.lastDay)"
  }
}
