internal import CZlib

// Compression of outgoing messages: whole messages, each independent, by one compressor for all connections.
//
// A compressor takes 260 KB at a window of 15 bits, and is needed only for the microseconds of one message. Clients
// that have named a smaller window get a compressor of that size; there are at most six such sizes, and all of them
// together take less than the first.

/// Compresses messages that do not refer to other messages.
final class Deflater {
  private var streams: [Int: UnsafeMutablePointer<z_stream>] = [:]

  /// The windows that zlib can write for.
  private static let windowBits = 9...15
  /// Of 1 to 9: level 4 has two thirds of the gain of 9 in a third of its time.
  private static let level: Int32 = 4
  /// The end of every message, which is not sent.
  private static let tailByteCount = 4

  deinit {
    for stream in streams.values {
      deflateEnd(stream)
      stream.deallocate()
    }
  }

  /// The compressed message; nil if it would not be shorter.
  func deflate(_ message: UnsafeRawBufferPointer, windowBits: Int) -> [UInt8]? {
    guard Self.windowBits.contains(windowBits), message.count > Self.tailByteCount,
      message.count <= Int(UInt32.max) >> 1
    else { return nil }
    let stream = streams[windowBits] ?? begin(windowBits)
    defer { deflateReset(stream) }
    // zlib does not write to its input; its type is older than const.
    stream.pointee.next_in = UnsafeMutableRawPointer(mutating: message.baseAddress)?
      .assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(message.count)
    // A result that does not fit is not worth sending.
    let room = message.count + Self.tailByteCount - 1
    let packed = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      stream.pointee.next_out = buffer.baseAddress
      stream.pointee.avail_out = UInt32(room)
      let status = CZlib.deflate(stream, Z_SYNC_FLUSH)
      // After a flush that filled the room to its last byte, more output may follow.
      let isDone = status == Z_OK && stream.pointee.avail_out > 0
      count = isDone ? room - Int(stream.pointee.avail_out) - Self.tailByteCount : 0
    }
    stream.pointee.next_in = nil
    stream.pointee.next_out = nil
    return packed.isEmpty ? nil : packed
  }

  private func begin(_ windowBits: Int) -> UnsafeMutablePointer<z_stream> {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = roost_deflate_start(stream, Self.level, Int32(windowBits))
    precondition(status == Z_OK, "zlib could not allocate its state")
    streams[windowBits] = stream
    return stream
  }
}

/// How the messages of one connection are compressed.
struct FramePacking {
  /// Shared by several connections.
  let deflater: Deflater
  /// The other side's window, as a power of 2.
  let windowBits: Int
  /// Shorter messages are not compressed.
  let byteCountMinimum: Int
}
