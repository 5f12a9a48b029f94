import Clocks
import EventLoop
import WebSocket

// The output to one client, and what happens when the client does not read.
//
//   flowing ── more waits than the mark ──▶ stalled ── it has read, down to the mark ──▶ flowing
//                                              │
//                                              └── it reads nothing for too long ──▶ cut
//
// While a client is stalled, nothing is read from it, and nothing is read from the store for it. That bounds the output
// of one client. The output of all clients is bounded because only a few may be stalled for long: beyond ``crowd`` of
// them, a client is cut after two seconds without reading, instead of after `slow-client`, and the mark falls to an
// eighth. Other clients do not wait for clients that do not read.

/// Watches whether a client reads.
@EventLoopActor
final class Outflow {
  /// What the watch needs of its relay.
  @EventLoopActor
  protocol Owner: AnyObject {
    /// How long a client may read nothing while output waits for it.
    var slowMilliseconds: UInt64 { get }
    /// The number of stalled clients.
    var stalledCount: Int { get set }
  }

  /// Bytes of output above which a client counts as stalled.
  nonisolated static let mark = 1 << 20
  /// Most stalled clients for which the full `slow-client` time applies.
  static let crowd = 64
  private static let crowdedShare = 8
  private static let crowdedMilliseconds: UInt64 = 2_000
  private static let lookMilliseconds: UInt64 = 500

  private let connection: WebSocketConnection
  private unowned let owner: any Owner
  private let timer = LoopTimer()
  private var isStalled = false
  private var isOver = false
  private var unreadSince: Instant?
  private var lastPending = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Called when the client stalls, and when it reads again.
  var onStall: (@EventLoopActor (Bool) -> Void)?
  /// Called when the client must be cut, with the reason as the end of a sentence.
  var onCut: (@EventLoopActor (String) -> Void)?

  init(_ connection: WebSocketConnection, _ owner: any Owner) {
    self.connection = connection
    self.owner = owner
    connection.onDrained = { [weak self] in self?.drained() }
    connection.onReplied = { [weak self] in self?.sent() }
  }

  /// Whether there is room for more output.
  var hasRoom: Bool { isOver || connection.pendingByteCount <= mark }

  /// The present mark: lower when many clients are stalled.
  private var mark: Int { owner.stalledCount > Self.crowd ? Self.mark / Self.crowdedShare : Self.mark }

  /// Waits until there is room, or the connection has ended.
  func awaitRoom() async {
    while !hasRoom { await withCheckedContinuation { waiters.append($0) } }
  }

  /// Output was sent.
  func sent() {
    guard !isOver, unreadSince == nil, connection.pendingByteCount > 0 else { return noteStall() }
    unreadSince = EventLoop.process.now
    lastPending = connection.pendingByteCount
    look()
    noteStall()
  }

  /// The connection has ended.
  func end() {
    isOver = true
    timer.cancel()
    noteStall()
    wake()
  }

  private func drained() {
    unreadSince = nil
    timer.cancel()
    noteStall()
    wake()
  }

  private func wake() {
    let due = waiters
    waiters = []
    for waiter in due { waiter.resume() }
  }

  private func noteStall() {
    guard isStalled == hasRoom else { return }
    isStalled.toggle()
    owner.stalledCount += isStalled ? 1 : -1
    if !isOver { onStall?(isStalled) }
  }

  private func look() {
    timer.set(afterMilliseconds: Self.lookMilliseconds) { [weak self] in
      guard let self, !isOver, let since = unreadSince else { return }
      let (pending, now) = (connection.pendingByteCount, EventLoop.process.now)
      if pending < lastPending { unreadSince = now }
      lastPending = pending
      noteStall()
      if hasRoom { wake() }
      let patience =
        isStalled && owner.stalledCount > Self.crowd
        ? min(Self.crowdedMilliseconds, owner.slowMilliseconds) : owner.slowMilliseconds
      guard now.milliseconds(since: unreadSince ?? since) < patience else {
        onCut?("has read nothing for \(patience / 1_000) s")
        return
      }
      look()
    }
  }
}
