internal import CLibUV

/// The memory of one libuv handle, kept until libuv has called back after `uv_close`.
///
/// libuv refers to a handle until its close callback. So the handle itself owns the memory, not the Swift object that
/// uses it: `close` forgets the owner at once, and the callback frees the memory. The owner may be released at any time
/// after `close`, and no callback will use it.
struct Handle<Raw> {
  let raw: UnsafeMutablePointer<Raw>

  init() {
    raw = .allocate(capacity: 1)
    UnsafeMutableRawPointer(raw).initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<Raw>.size)
  }

  var handle: UnsafeMutablePointer<uv_handle_t> {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
  }
  var stream: UnsafeMutablePointer<uv_stream_t> {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_stream_t.self)
  }

  /// Lets callbacks find `owner`; unretained, so the owner must call ``close()`` before it is released.
  func setOwner(_ owner: AnyObject) { handle.pointee.data = Unmanaged.passUnretained(owner).toOpaque() }

  /// Closes and frees. The handle must have been initialised by libuv, and must not be used again.
  func close() {
    handle.pointee.data = nil
    uv_close(handle) { UnsafeMutableRawPointer($0)?.deallocate() }
  }

  /// Frees a handle that libuv never initialised.
  func discard() { raw.deallocate() }
}

/// The owner of a handle; nil once the handle was closed.
@inline(__always)
func owner<Owner: AnyObject>(of data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner? {
  data.map { Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue() }
}
