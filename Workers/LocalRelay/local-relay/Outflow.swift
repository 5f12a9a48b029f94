import Clocks
import EventLoop
import WebSocket

// What goes out to one client, and does not go.
//
//   flowing ── more waits than the mark ──▶ stalled ── it has read, down to the mark ──▶ flowing
//                                              │
//                                              └── it reads nothing for too long ──▶ cut
//
// While it is stalled nothing is read from it and nothing taken for it from the store. What can gather for one client
// is bounded so; what can gather for all is, because few may be stalled for long: beyond ``crowd`` of them, whoever has
// read nothing for two seconds is cut, instead of `slow-client`, and the mark is an eighth of what it was. The rest of
// the world does not wait for those who do not read.

/// Watches whether a client reads.
@EventLoopActor
final class Outflow {
  /// What the watch needs of its relay.
  @EventLoopActor
  protocol Owner: AnyObject {
    /// How long a client may read nothing while something waits for it.
    var slowMilliseconds: UInt64 { get }
    /// Clients that are stalled.
    var stalledCount: Int { get set }
  }

  /// Bytes that may wait before the client counts as stalled.
  nonisolated static let mark = 1 << 20
  /// Clients that may be stalled for as long as `slow-client` says.
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

  /// Called when it stalls, and when it flows again.
  var onStall: (@EventLoopActor (Bool) -> Void)?
  /// Called when it is to be cut, with a sentence's end.
  var onCut: (@EventLoopActor (String) -> Void)?

  init(_ connection: WebSocketConnection, _ owner: any Owner) {
    self.connection = connection
    self.owner = owner
    connection.onDrained = { [weak self] in self?.drained() }
    connection.onReplied = { [weak self] in self?.sent() }
  }

  /// Whether more may be brought for it.
  var hasRoom: Bool { isOver || connection.pendingByteCount <= mark }

  /// Of many that do not read each gets less.
  private var mark: Int { owner.stalledCount > Self.crowd ? Self.mark / Self.crowdedShare : Self.mark }

  /// Waits until more may be, or nothing matters any more.
  func awaitRoom() async {
    while !hasRoom { await withCheckedContinuation { waiters.append($0) } }
  }

  /// Something was sent.
  func sent() {
    guard !isOver, unreadSince == nil, connection.pendingByteCount > 0 else { return noteStall() }
    unreadSince = EventLoop.process.now
    lastPending = connection.pendingByteCount
    look()
    noteStall()
  }

  /// The connection is over.
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
