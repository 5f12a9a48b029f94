public import PushDelivery

// The stored queue is read in two ways, and at any time each wake gets into the delivery queue by one of them:
//
//     number  1 ………………………………… frontier ………………………………… newest
//             no room for it in the     never in the delivery
//             delivery queue: a refill  queue: read on, in order
//
// A refill is for one platform and skips the wakes for others, so it must not move the frontier.

extension OpenWake {
  /// The devices that still need it: those of its recipient with a proved token.
  public func devices(of known: [PushDevice]) -> [PushDevice] {
    known.filter { $0.isVerified && !settledDevices.contains($0.number) }
  }
}

/// One reading of the stored queue, from its beginning, for a platform that has room again.
public struct QueueRefill: Sendable {
  /// The platform.
  public let platform: PushPlatform
  /// Wakes for that platform that were not in the delivery queue when they were read, with their devices, in order.
  public private(set) var found: [(wake: Wake, devices: [PushDevice])] = []
  /// Whether the stored queue, up to the frontier, has no other.
  public private(set) var isAll = false
  /// Whether the reading is complete.
  public private(set) var isDone = false
  /// The next page begins after this number.
  public private(set) var after: Int64 = 0
  private let count: Int
  private let frontier: Int64

  /// A reading of `count` wakes, or up to a page more, of those up to the frontier.
  public init(_ count: Int, on platform: PushPlatform, upTo frontier: Int64) {
    self.platform = platform
    self.count = count
    self.frontier = frontier
    if frontier <= 0 { (isAll, isDone) = (true, true) }
  }

  /// The next page was read.
  ///
  /// - Parameters:
  ///   - page: wakes after ``after``.
  ///   - isWhole: whether the page is full, so that there may be more.
  ///   - isKnown: whether the delivery queue has a wake of this number, or it has ended.
  /// - Returns: the wakes whose devices the caller must look up, for ``add(_:devices:)``.
  public mutating func read(_ page: [OpenWake], isWhole: Bool, isKnown: (Int64) -> Bool) -> [OpenWake] {
    let page = page.prefix { $0.wake.number <= frontier }
    // The rest is read when the delivery queue asks again: one refill does not read the whole stored queue.
    if found.count >= count {
      isDone = true
      isAll = page.isEmpty
      return []
    }
    after = page.last?.wake.number ?? after
    if !isWhole || page.isEmpty || after >= frontier { (isAll, isDone) = (true, true) }
    // Wakes that are not delivered were settled when they were read for the first time.
    return page.filter { !$0.isDropped && !isKnown($0.wake.number) }
  }

  /// Wakes of a page, with the known devices of their recipients.
  public mutating func add(_ wakes: [OpenWake], devices: [PushOwner: [PushDevice]]) {
    for open in wakes {
      let wanted = open.devices(of: devices[open.wake.recipient] ?? [])
      if wanted.contains(where: { $0.token.platform == platform }) { found.append((open.wake, wanted)) }
    }
  }
}
