import Contracts

/// Notices that wait to be shown. When there is no room, the oldest is dropped: the newest is the one that a person
/// wants to see, and the page has them all.
struct NoticeQueue {
  private var notices: [LinkChange.Notice] = []
  private var dropped = 0

  private static let countMaximum = 32

  /// Adds a notice.
  mutating func append(_ notice: LinkChange.Notice) {
    if notices.count >= Self.countMaximum {
      notices.removeFirst()
      dropped += 1
    }
    notices.append(notice)
  }

  /// The next notice, and how many were dropped since the one before it; nil if the queue is empty.
  mutating func next() -> (notice: LinkChange.Notice, dropped: Int)? {
    guard !notices.isEmpty else { return nil }
    defer { dropped = 0 }
    return (notices.removeFirst(), dropped)
  }

  /// Drops all of them.
  mutating func removeAll() { (notices, dropped) = ([], 0) }
}
