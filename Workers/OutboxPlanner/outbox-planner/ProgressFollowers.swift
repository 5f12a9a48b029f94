import Bus
import Contracts
import EventLoop
import Frames
import WorkerKit

/// The callers that follow how far relays are with what is observed (`plan.progress`).
@EventLoopActor
struct ProgressFollowers {
  typealias Follower = ChangeFollower<ObserveProgress>

  private var followers: [UInt64: (key: String, follower: Follower)] = [:]
  private var lastNumber: UInt64 = 0

  /// A caller follows the progress of an observe from now on.
  ///
  /// - Returns: its number, for ``remove(_:)``.
  /// - Throws: `full` when as many follow as may.
  mutating func add(_ request: BusRequest, of key: String) throws(Refusal) -> (number: UInt64, follower: Follower) {
    guard followers.count < Follower.maximum else {
      throw Refusal(.full, "\(followers.count) follow the progress already", outcome: .notStarted)
    }
    lastNumber += 1
    let follower = Follower(request)
    followers[lastNumber] = (key, follower)
    return (lastNumber, follower)
  }

  /// A caller follows no longer.
  mutating func remove(_ number: UInt64) { followers[number] = nil }

  /// The progress of these observes may have changed.
  func changed(_ keys: Set<String>) {
    for (key, follower) in followers.values where keys.contains(key) { follower.changed() }
  }

  /// Ends all with this answer.
  func end(_ refusal: Refusal) {
    for (_, follower) in followers.values { follower.end(refusal) }
  }
}
