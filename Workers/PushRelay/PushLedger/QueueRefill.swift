public import PushDelivery

// The queue is read in two ways, and each wake comes to the board by one of them at a time:
//
//     number  1 ………………………………… frontier ………………………………… newest
//             what the board had no     what it was never handed:
//             room for: a refill        read on, in order
//
// A refill is for one platform, passes over what is for others, and so must not move the frontier.

extension OpenWake {
  /// The devices that it is still to be brought to, of its recipient's: those whose token is shown to be his.
  public func devices(of known: [PushDevice]) -> [PushDevice] {
    known.filter { $0.isVerified && !settledDevices.contains($0.number) }
  }
}

/// One reading of the queue, from its beginning, for a platform that has room again.
public struct QueueRefill: Sendable {
  /// Whose room it is.
  public let platform: PushPlatform
  /// Wakes for that platform that the board had not when they were read, each with its devices, in their order.
  public private(set) var found: [(wake: Wake, devices: [PushDevice])] = []
  /// Whether the queue, up to the frontier, has no other.
  public private(set) var isAll = false
  /// Whether nothing more is to be read.
  public private(set) var isDone = false
  /// The next page begins behind this number.
  public private(set) var after: Int64 = 0
  private let count: Int
  private let frontier: Int64

  /// A reading of so many wakes, or a page more, of those up to the frontier.
  public init(_ count: Int, on platform: PushPlatform, upTo frontier: Int64) {
    self.platform = platform
    self.count = count
    self.frontier = frontier
    if frontier <= 0 { (isAll, isDone) = (true, true) }
  }

  /// The next page was read.
  ///
  /// - Parameters:
  ///   - page: wakes behind ``after``.
  ///   - isWhole: whether the page has as many as it was to have, so that there may be more.
  ///   - isKnown: whether the board has a wake of this number, or it has ended.
  /// - Returns: those whose devices are to be looked up, for ``add(_:devices:)``.
  public mutating func read(_ page: [OpenWake], isWhole: Bool, isKnown: (Int64) -> Bool) -> [OpenWake] {
    let page = page.prefix { $0.wake.number <= frontier }
    // What is not handed in is read when the board asks again: no queue is read through for a part of it.
    if found.count >= count {
      isDone = true
      isAll = page.isEmpty
      return []
    }
    after = page.last?.wake.number ?? after
    if !isWhole || page.isEmpty || after >= frontier { (isAll, isDone) = (true, true) }
    // Those that are brought nowhere were settled when they were read the first time.
    return page.filter { !$0.isDropped && !isKnown($0.wake.number) }
  }

  /// Wakes of a page, with what is known of their recipients' devices.
  public mutating func add(_ wakes: [OpenWake], devices: [PushOwner: [PushDevice]]) {
    for open in wakes {
      let wanted = open.devices(of: devices[open.wake.recipient] ?? [])
      if wanted.contains(where: { $0.token.platform == platform }) { found.append((open.wake, wanted)) }
    }
  }
}
