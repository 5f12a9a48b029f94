internal import CCurl
internal import EventLoop

// libcurl's multi interface on our loop. It says which of its sockets to watch for what, and when it wants to be called
// at the latest; we tell it what has happened. Everything of it runs within those calls, on the loop's thread, except
// looking names up, for which it starts a thread each.
//
//    watcher fires, timer fires ──▶ curl_multi_socket_action ──▶ callbacks: watch, set the timer, bytes came
//                                          └──▶ then: which transfers are over?
//
// Who is resumed when a transfer is over runs later, as a job: so nobody calls libcurl from within its own calls.

/// Connections and the transfers that use them. To be closed before it is released.
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

  /// Ends all transfers without a word, and closes all connections.
  func close() {
    for transfer in transfers.values { release(transfer) }
    // It fails for a handle that is none only, as does removing.
    _ = curl.table.pointee.curl_multi_cleanup(raw)
    timer.cancel()
    for watcher in watchers.values { watcher.close() }
    watchers = [:]
  }

  // MARK: Transfers

  /// Starts a transfer. Its `onEnd` is called once it is over, never within this call.
  ///
  /// - Returns: false when libcurl does not take it, for want of memory; it is then free again.
  func start(_ transfer: CurlTransfer) -> Bool {
    // libcurl sets its timer in there, and begins when that fires.
    guard curl.table.pointee.curl_multi_add_handle(raw, transfer.easy) == CURLM_OK else {
      transfer.free()
      return false
    }
    transfers[transfer.easy] = transfer
    return true
  }

  /// Ends a transfer, over or not: nothing of it is called any more.
  func release(_ transfer: CurlTransfer) {
    guard transfers.removeValue(forKey: transfer.easy) != nil else { return }
    _ = curl.table.pointee.curl_multi_remove_handle(raw, transfer.easy)
    transfer.free()
  }

  private func act(_ socket: Int32, _ events: Int32) {
    var running: Int32 = 0
    // What goes wrong in there is a transfer's, and told as its end.
    _ = curl.table.pointee.curl_multi_socket_action(raw, socket, events, &running)
    var result = CURLE_OK
    while let easy = roost_curl_ended(curl.table, raw, &result) { transfers[easy]?.ended(result) }
  }

  // MARK: What libcurl wants

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
        // Without being watched the transfer stands still, and its deadline ends it.
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

  /// libcurl's number for "it is the timer" (CURL_SOCKET_TIMEOUT).
  private static let noSocket: Int32 = -1
}
