public import Clocks
public import EventLoop
public import WebSocket

/// TLS for relays at `wss://`, by OpenSSL: version 1.2 or 1.3, the certificate checked against the machine's
/// authorities and the host's name or address.
///
/// One client serves all connections of a process; it holds the authorities, about 1.5 MB. A connection takes some 20
/// KB during its life (decision 0010).
@EventLoopActor
public final class TLSClient: TransportSecurity {
  let context: TLSContext

  /// A client that trusts the authorities of the machine (`SSL_CERT_FILE` and `SSL_CERT_DIR`, or the system's own), and
  /// the authorities of one more file.
  ///
  /// - Parameter authorityFile: certificates in PEM.
  /// - Throws: if that file cannot be read or contains no certificate. A machine without authorities is no fault here:
  ///   then every certificate is refused, and the refusal says so.
  public init(authorityFile: String? = nil) throws(TrustFault) {
    context = try TLSContext(authorityFile: authorityFile)
  }

  /// Encrypts a fresh connection; see `TransportSecurity`.
  ///
  /// - Throws: `tls` for a certificate that is not good or another side that does not speak proper TLS, in words for a
  ///   person; `cut`, `timed-out`, `cancelled`.
  public func secure(
    _ stream: ByteStream, to endpoint: WebSocketEndpoint, deadline: Instant
  ) async throws(WebSocketFault) -> any ByteTransport {
    let isAddress = SocketAddress(literal: endpoint.host, port: endpoint.port) != nil
    let engine = TLSEngine(context, host: endpoint.host, isAddress: isAddress)
    switch await HandshakeExchange(stream, engine).run(until: deadline) {
    case .success(let encrypted): return encrypted
    case .failure(let failure): throw failure.fault(endpoint)
    }
  }
}
