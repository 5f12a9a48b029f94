internal import CSodium

// A stream of messages under one key (libsodium's secretstream, XChaCha20-Poly1305): each message is authenticated, and
// none can be changed, removed, repeated or moved without notice. The last one is marked, so an end that is missing is
// noticed too.
//
// The state after n messages is the same at both ends. So a stream that was cut off is continued by reading what is
// there, and then writing with the same state.

/// One end of an encrypted stream: it writes the messages, or reads them in their order. For one thread at a time.
public final class SecretStream {
  /// The bytes of a key.
  public static let keyByteCount = 32
  /// The bytes of the header, which comes before the first message. They are not secret.
  public static let headerByteCount = 24
  /// How many bytes longer a sealed message is.
  public static let addedByteCount = 17

  /// The stream's header.
  public let header: [UInt8]
  private let state = UnsafeMutablePointer<crypto_secretstream_xchacha20poly1305_state>.allocate(capacity: 1)

  private static let messageTag: UInt8 = 0
  private static let finalTag: UInt8 = 3

  /// Begins a stream of 32 bytes of key, with a random header.
  public init(key: UnsafeRawBufferPointer) {
    let key = Self.bytes(of: key)
    var header = [UInt8](repeating: 0, count: Self.headerByteCount)
    let result = crypto_secretstream_xchacha20poly1305_init_push(state, &header, key)
    precondition(result == 0, "a stream can always begin")
    self.header = header
  }

  /// Begins to read a stream with this header of 24 bytes.
  public init(key: UnsafeRawBufferPointer, header: [UInt8]) {
    precondition(header.count == Self.headerByteCount, "a header has 24 bytes")
    let result = crypto_secretstream_xchacha20poly1305_init_pull(state, header, Self.bytes(of: key))
    precondition(result == 0, "a stream can always begin")
    self.header = header
  }

  deinit {
    UnsafeMutableRawBufferPointer(start: state, count: MemoryLayout.size(ofValue: state.pointee)).wipe()
    state.deallocate()
  }

  private static func bytes(of key: UnsafeRawBufferPointer) -> UnsafePointer<UInt8> {
    precondition(sodium_init() >= 0, "libsodium can always begin")
    guard key.count == keyByteCount, let address = key.baseAddress else { preconditionFailure("a key has 32 bytes") }
    return address.assumingMemoryBound(to: UInt8.self)
  }

  /// The next message, encrypted: 17 bytes longer.
  public func seal(_ message: ArraySlice<UInt8>, isLast: Bool) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: message.count + Self.addedByteCount)
    let result = message.withUnsafeBufferPointer { bytes in
      crypto_secretstream_xchacha20poly1305_push(
        state, &sealed, nil, bytes.baseAddress, UInt64(bytes.count), nil, 0, isLast ? Self.finalTag : Self.messageTag)
    }
    precondition(result == 0, "a message of this length can always be sealed")
    return sealed
  }

  /// Opens the next message; nil if it is not the next one of this stream, unchanged.
  public func open(_ sealed: ArraySlice<UInt8>) -> (message: [UInt8], isLast: Bool)? {
    guard sealed.count >= Self.addedByteCount else { return nil }
    let byteCount = sealed.count - Self.addedByteCount
    // One byte more: a message of no bytes would have no address, and libsodium wants one.
    var message = [UInt8](repeating: 0, count: byteCount + 1)
    var tag: UInt8 = 0
    let result = sealed.withUnsafeBufferPointer { bytes in
      crypto_secretstream_xchacha20poly1305_pull(
        state, &message, nil, &tag, bytes.baseAddress, UInt64(bytes.count), nil, 0)
    }
    guard result == 0 else { return nil }
    message.removeLast()
    return (message, tag == Self.finalTag)
  }
}
