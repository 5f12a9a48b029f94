internal import CCurl
internal import EventLoop

// libcurl's multi interface on this loop. libcurl says which of its sockets to watch for what, and when it must be
// called at the latest; this class reports to it what has happened. All of libcurl runs within those calls, on the
// loop's thread, except that it looks up each name on a thread of its own.
//
//    watcher fires, timer fires ──▶ curl_multi_socket_action ──▶ callbacks: watch, set the timer, bytes came
//                                          └──▶ then: which transfers are over?
//
// The waiting caller of a finished transfer resumes later, as a job, so no code calls libcurl from within its own
// calls.

/// Connections and the transfers that use them. The owner must close it before releasing it.
@EventLoopActor
final class CurlPool {
  let curl: CurlLibrary
  private let raw: UnsafeMutableRawPointer
  private let timer = LoopTimer()
  private var watchers: [Int32: SocketWatcher] = [:]
  private var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]

  init?(_ curl: CurlLibrary, keptConnectionMaximum: Int) {
    guard let raw = curl.table.pointee.curl_multi_init() else { return nil }
    self.curl = curl
    self.raw = raw
    roost_curl_keep(curl.table, raw, keptConnectionMaximum)
    roost_curl_share(
      curl.table, raw, Unmanaged.passUnretained(self).toOpaque(),
      { _, socket, what, pool, _ in
        EventLoopActor.assumeOnLoop { CurlPool.at(pool)?.watch(socket, what) }
        return 0
      },
      { _, milliseconds, pool in
        EventLoopActor.assumeOnLoop { CurlPool.at(pool)?.wake(afterMilliseconds: milliseconds) }
        return 0
      })
  }

  private static func at(_ pointer: UnsafeMutableRawPointer?) -> CurlPool? {
    pointer.map { Unmanaged<CurlPool>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Ends all transfers without calling `onEnd`, and closes all connections.
  func close() {
    for transfer in transfers.values { release(transfer) }
    // It fails only for an invalid handle, and so does removing.
    _ = curl.table.pointee.curl_multi_cleanup(raw)
    timer.cancel()
    for watcher in watchers.values { watcher.close() }
    watchers = [:]
  }

  // MARK: Transfers

  /// Starts a transfer. Its `onEnd` is called once it is over, never within this call.
  ///
  /// - Returns: false if libcurl does not take it, because memory is short; the transfer is then freed.
  func start(_ transfer: CurlTransfer) -> Bool {
    // libcurl sets its timer in this call, and begins when that fires.
    guard curl.table.pointee.curl_multi_add_handle(raw, transfer.easy) == CURLM_OK else {
      transfer.free()
      return false
    }
    transfers[transfer.easy] = transfer
    return true
  }

  /// Ends a transfer, finished or not: nothing of it is called afterwards.
  func release(_ transfer: CurlTransfer) {
    guard transfers.removeValue(forKey: transfer.easy) != nil else { return }
    _ = curl.table.pointee.curl_multi_remove_handle(raw, transfer.easy)
    transfer.free()
  }

  private func act(_ socket: Int32, _ events: Int32) {
    var running: Int32 = 0
    // A failure in this call belongs to a transfer, and is reported as its end.
    _ = curl.table.pointee.curl_multi_socket_action(raw, socket, events, &running)
    var result = CURLE_OK
    while let easy = roost_curl_ended(curl.table, raw, &result) { transfers[easy]?.ended(result) }
  }

  // MARK: libcurl's requests

  private func wake(afterMilliseconds milliseconds: Int) {
    guard milliseconds >= 0 else {
      timer.cancel()
      return
    }
    timer.set(afterMilliseconds: UInt64(milliseconds)) { [unowned self] in act(Self.noSocket, 0) }
  }

  private func watch(_ socket: Int32, _ what: Int32) {
    guard what != CURL_POLL_REMOVE else {
      watchers.removeValue(forKey: socket)?.close()
      return
    }
    let watcher: SocketWatcher
    if let known = watchers[socket] {
      watcher = known
    } else {
      do throws(LoopFault) {
        watcher = try SocketWatcher(socket: socket) { [unowned self] in act(socket, Self.events($0)) }
      } catch {
        // Without a watcher the transfer makes no progress, and its deadline ends it.
        return
      }
      watchers[socket] = watcher
    }
    var interest: SocketWatcher.Readiness = []
    if what & CURL_POLL_IN != 0 { interest.insert(.readable) }
    if what & CURL_POLL_OUT != 0 { interest.insert(.writable) }
    watcher.watch(for: interest)
  }

  private static func events(_ readiness: SocketWatcher.Readiness) -> Int32 {
    (readiness.contains(.readable) ? CURL_CSELECT_IN : 0) | (readiness.contains(.writable) ? CURL_CSELECT_OUT : 0)
      | (readiness.contains(.broken) ? CURL_CSELECT_ERR : 0)
  }

  /// libcurl's number that means the timer (CURL_SOCKET_TIMEOUT).
  private static let noSocket: Int32 = -1
}
