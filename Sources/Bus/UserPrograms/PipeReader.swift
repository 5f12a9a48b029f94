internal import EventLoop
internal import Glibc
internal import LinuxSystem

/// Reads what a program writes into a pipe, in small portions, so that a program that writes without end does not
/// occupy the loop.
@EventLoopActor
final class PipeReader {
  /// Whether the pipe has ended, or was closed.
  var isClosed: Bool { descriptor < 0 }

  private var descriptor: Int32
  private var watcher: DescriptorWatcher?
  private let onBytes: @EventLoopActor (ArraySlice<UInt8>) -> Void
  private let onEnd: @EventLoopActor () -> Void
  private var buffer = [UInt8](repeating: 0, count: PipeReader.byteCountMaximum)

  /// Most bytes read in one turn of the loop.
  private static let byteCountMaximum = 64 << 10

  /// Reads `descriptor` from now on. Owns and closes it, even if this throws.
  init(
    descriptor: Int32, onBytes: @escaping @EventLoopActor (ArraySlice<UInt8>) -> Void,
    onEnd: @escaping @EventLoopActor () -> Void
  ) throws(LoopFault) {
    self.descriptor = descriptor
    self.onBytes = onBytes
    self.onEnd = onEnd
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    do throws(LoopFault) {
      watcher = try DescriptorWatcher(descriptor: descriptor) { [unowned self] in readSome() }
    } catch {
      close()
      throw error
    }
  }

  isolated deinit { close() }

  /// Stops reading.
  func close() {
    watcher?.close()
    watcher = nil
    if descriptor >= 0 { Descriptors.close(descriptor) }
    descriptor = -1
  }

  private func readSome() {
    let count = read(descriptor, &buffer, buffer.count)
    if count > 0 { return onBytes(buffer[..<count]) }
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    close()
    onEnd()
  }
}
