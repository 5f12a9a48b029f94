internal import CTLS

// One connection of libssl, between buffers: it knows no socket, no loop and no clock.
//
// Input is lent, not copied: `lend` puts a BIO over the caller's bytes for the length of a call, and returns how many
// libssl has left. libssl takes a record's header, then its body, and no byte after it. So when the consumer wants no
// more, everything that it has not seen yet is still ciphertext in the caller's hands, and at most one record (16 KB)
// is on the way. A record that has arrived in part is in libssl's own buffer, at most 17 KB, which is freed once the
// record is complete.
//
// Output goes to a memory BIO, and is taken out after each step. One step writes at most one record, or the few of the
// handshake, so that BIO stays small.
//
// libssl's errors are in a queue of the thread, which other code of this thread uses too. The queue is emptied before
// each call, so that `SSL_get_error` sees the errors of this call, and after it.

/// One side of TLS, a client's or a server's, fed from memory.
///
/// Handshake → open → over, by the other side's close_notify or by a failure. It belongs to one thread.
final class TLSEngine {
  /// The state of the handshake.
  enum Handshake: Equatable {
    /// The stream is encrypted, and the other side has the right identity.
    case done
    /// It continues when more input has arrived.
    case needsInput
    /// It has failed; an alert may be in the output.
    case refused(TLSRefusal)
  }

  /// The result of reading.
  enum Reading: Equatable {
    /// This many bytes were decrypted.
    case bytes(Int)
    /// Reading continues when more input has arrived.
    case needsInput
    /// The other side has announced that it sends nothing more.
    case ended
    /// A record was not what the other side can have sent, or it sent an alert; with libssl's description.
    case failed(String)
  }

  private let context: TLSContext
  private let connection: OpaquePointer
  /// The BIO that libssl reads from while nothing is lent.
  private let nothing: OpaquePointer
  private var output: OpaquePointer
  private var flaw: TLSRefusal?
  /// The first bytes that arrived, at most two: they show whether this is TLS at all.
  private var greeting: [UInt8] = []
  private var isOpen = false
  private var hasFailed = false

  /// The maximum of bytes in one record.
  static let recordByteCountMaximum = 16 << 10
  /// An output BIO that has grown larger than this is replaced, because it would keep its memory.
  private static let keptOutputByteCount = 4 << 10

  private init(_ context: TLSContext) {
    ERR_clear_error()
    guard let connection = SSL_new(context.raw), let nothing = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
    else { preconditionFailure("libssl could not allocate a connection") }
    self.context = context
    self.connection = connection
    self.nothing = nothing
    self.output = output
    BIO_up_ref(nothing)
    SSL_set0_rbio(connection, nothing)
    SSL_set0_wbio(connection, output)
  }

  /// The engine of a client that accepts only `host`, a name or an address without brackets.
  convenience init(_ context: TLSContext, host: String, isAddress: Bool) {
    self.init(context)
    SSL_set_connect_state(connection)
    let isExpecting = expect(host, isAddress: isAddress)
    precondition(isExpecting, "a host that was looked up can be expected")
    // Without ALPN an intermediary that speaks HTTP/2 may expect that.
    let protocols = TLSContext.applicationProtocol
    SSL_set_alpn_protos(connection, protocols, UInt32(protocols.count))
    SSL_set_ex_data(connection, 0, Unmanaged.passUnretained(self).toOpaque())
    SSL_set_verify(connection, SSL_VERIFY_PEER) { isGood, store in noteFlaw(isGood, store) }
  }

  /// The engine of a server, which accepts any client.
  convenience init(accepting context: TLSContext) {
    self.init(context)
    SSL_set_accept_state(connection)
  }

  deinit {
    SSL_free(connection)
    BIO_free(nothing)
  }

  private func expect(_ host: String, isAddress: Bool) -> Bool {
    requireHost(host, isAddress: isAddress, SSL_get0_param(connection))
      && (isAddress || roost_tls_name_host(connection, host) == 1)
  }

  // MARK: Input

  /// Lets libssl read `bytes` in the calls that `body` makes.
  ///
  /// - Returns: how many bytes it has not read. The caller must lend them again, with those that follow.
  func lend(_ bytes: UnsafeRawBufferPointer, _ body: () -> Void) -> Int {
    guard bytes.count > 0, let input = roost_bio_lend(bytes.baseAddress, Int32(bytes.count)) else {
      body()
      return bytes.count
    }
    if greeting.count < 2 { greeting += bytes.prefix(2 - greeting.count) }
    SSL_set0_rbio(connection, input)
    body()
    var start: UnsafeMutablePointer<CChar>?
    let unread = roost_bio_contents(input, &start)
    BIO_up_ref(nothing)
    SSL_set0_rbio(connection, nothing)
    return unread
  }

  // MARK: Steps

  /// Continues the handshake with the input that has arrived.
  func shakeHands() -> Handshake {
    if !isTLS { return .refused(.noTLS) }
    ERR_clear_error()
    let status = SSL_do_handshake(connection)
    if status == 1 {
      isOpen = true
      return .done
    }
    let kind = SSL_get_error(connection, status)
    if kind == SSL_ERROR_WANT_READ { return .needsInput }
    hasFailed = true
    defer { ERR_clear_error() }
    return .refused(refusal())
  }

  /// Decrypts into `buffer`, at most one record.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
    ERR_clear_error()
    var count = 0
    if SSL_read_ex(connection, buffer.baseAddress, buffer.count, &count) == 1 { return .bytes(count) }
    switch SSL_get_error(connection, 0) {
    case SSL_ERROR_WANT_READ: return .needsInput
    case SSL_ERROR_ZERO_RETURN: return .ended
    default:
      hasFailed = true
      defer { ERR_clear_error() }
      return .failed(reason(of: ERR_peek_error()))
    }
  }

  /// Encrypts one record's contents; does nothing after a failure, which reading reports.
  func write(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= Self.recordByteCountMaximum, "one record at a time")
    guard isOpen, !hasFailed, bytes.count > 0 else { return }
    ERR_clear_error()
    var count = 0
    if SSL_write_ex(connection, bytes.baseAddress, bytes.count, &count) != 1 { hasFailed = true }
    ERR_clear_error()
  }

  /// Announces that nothing more comes from this side (close_notify).
  func sayGoodbye() {
    guard isOpen, !hasFailed else { return }
    ERR_clear_error()
    SSL_shutdown(connection)
    ERR_clear_error()
  }

  /// Passes the output to `body`, and forgets it.
  func takeOutput(_ body: (UnsafeRawBufferPointer) -> Void) {
    var start: UnsafeMutablePointer<CChar>?
    let count = roost_bio_contents(output, &start)
    guard count > 0, let start else { return }
    body(UnsafeRawBufferPointer(start: start, count: count))
    guard count > Self.keptOutputByteCount, isOpen, let fresh = BIO_new(BIO_s_mem()) else {
      roost_bio_empty(output)
      return
    }
    SSL_set0_wbio(connection, fresh)
    output = fresh
  }

  // MARK: Refusals

  /// Whether the first bytes can be a record of TLS: a handshake or an alert, of any version from SSL 3 on.
  private var isTLS: Bool {
    if let kind = greeting.first, kind != 22, kind != 21 { return false }
    return greeting.count < 2 || greeting[1] == 3
  }

  private func refusal() -> TLSRefusal {
    let error = ERR_peek_error()
    if roost_error_reason(error) == Int32(roost_tls_certificate_refused), let flaw { return flaw }
    return TLSRefusal(error: error, isAlert: greeting == [21, 3])
  }

  /// Called once for each fault of a certificate; the first one ends the handshake.
  fileprivate func note(_ code: Int32, of certificate: OpaquePointer?, depth: Int) {
    guard flaw == nil else { return }
    self.flaw = .certificate(
      CertificateFlaw(code), certificate.map { CertificateGlance($0) } ?? CertificateGlance(), depth: depth,
      knowsAuthorities: context.knowsAuthorities)
  }
}

/// libssl calls this for each certificate that it has checked. A C function cannot capture, so the engine is stored
/// with the connection.
private func noteFlaw(_ isGood: Int32, _ store: OpaquePointer?) -> Int32 {
  guard isGood != 1 else { return 1 }
  guard let connection = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
    let engine = SSL_get_ex_data(OpaquePointer(connection), 0)
  else { return 0 }
  Unmanaged<TLSEngine>.fromOpaque(engine).takeUnretainedValue().note(
    X509_STORE_CTX_get_error(store), of: X509_STORE_CTX_get_current_cert(store),
    depth: Int(X509_STORE_CTX_get_error_depth(store)))
  return 0
}
