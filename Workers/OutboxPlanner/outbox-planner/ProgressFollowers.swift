import Bus
import Contracts
import EventLoop
import Frames
import WorkerKit

/// The callers that follow the progress of an observe (`plan.progress`).
@EventLoopActor
struct ProgressFollowers {
  typealias Follower = ChangeFollower<ObserveProgress>

  private var followers: [UInt64: (key: String, follower: Follower)] = [:]
  private var lastNumber: UInt64 = 0

  /// Adds a caller that follows the progress of an observe.
  ///
  /// - Returns: its number, for ``remove(_:)``.
  /// - Throws: `full` at the limit of followers.
  mutating func add(_ request: BusRequest, of key: String) throws(Refusal) -> (number: UInt64, follower: Follower) {
    guard followers.count < Follower.maximum else {
      throw Refusal(.full, "\(followers.count) follow the progress already", outcome: .notStarted)
    }
    lastNumber += 1
    let follower = Follower(request)
    followers[lastNumber] = (key, follower)
    return (lastNumber, follower)
  }

  /// Removes a caller.
  mutating func remove(_ number: UInt64) { followers[number] = nil }

  /// The progress of these observes may have changed.
  func changed(_ keys: Set<String>) {
    for (key, follower) in followers.values where keys.contains(key) { follower.changed() }
  }

  /// Ends all with this refusal.
  func end(_ refusal: Refusal) {
    for (_, follower) in followers.values { follower.end(refusal) }
  }
}
