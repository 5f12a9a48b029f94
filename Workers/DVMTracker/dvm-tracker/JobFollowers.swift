import Bus
import Contracts
import EventLoop
import Frames
import JobTracking
import WorkerKit

/// The callers that follow jobs (`job.follow`).
@EventLoopActor
struct JobFollowers {
  typealias Follower = ChangeFollower<Job>

  private var followers: [JobID: [Follower]] = [:]
  private var count = 0

  /// A caller follows a job from now on.
  ///
  /// - Throws: `full` when as many follow as may.
  mutating func add(_ request: BusRequest, of id: JobID) throws(Refusal) -> Follower {
    guard count < Follower.maximum else {
      throw Refusal(.full, "\(count) jobs are followed already", outcome: .notStarted)
    }
    count += 1
    let follower = Follower(request)
    followers[id, default: []].append(follower)
    return follower
  }

  /// A caller follows no longer.
  mutating func remove(_ follower: Follower, of id: JobID) {
    followers[id]?.removeAll { $0 === follower }
    if followers[id]?.isEmpty == true { followers[id] = nil }
    count -= 1
  }

  /// A job may have changed.
  func changed(_ id: JobID) {
    for follower in followers[id] ?? [] { follower.changed() }
  }

  /// These jobs may have changed.
  func changed(where isChanged: (JobID) -> Bool) {
    for id in followers.keys where isChanged(id) { changed(id) }
  }

  /// Ends all with this answer.
  func end(_ refusal: Refusal) {
    for follower in followers.values.joined() { follower.end(refusal) }
  }
}
