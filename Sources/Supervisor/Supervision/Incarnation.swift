public import Clocks

/// One process of a worker, from the decision to spawn it until nothing of it is left.
struct Incarnation: Hashable, Sendable {
  /// Its generation; the next has a greater number.
  let generation: UInt32
  /// The leader of its process group; nil until the spawn is answered.
  var pid: Int32?
  /// When the process was made.
  var spawnedAt: Instant?
  /// Whether HELLO has arrived.
  var hasSaidHello = false
  /// When READY arrived.
  var readyAt: Instant?
  /// Whether its bus was read to the end.
  var busHasEnded = false
  /// How its leader ended.
  var exit: WorkerExit?
  /// When its leader ended.
  var exitedAt: Instant?
  /// Whether no process of its group is left.
  var groupIsEmpty = false
  /// Why it ends.
  var ending = Ending.ownAccord
  /// An EXTEND cannot move a deadline beyond this instant.
  var extensionLimit: Instant?
  /// When the breaker recorded its start as a restart; nil if it did not.
  var countedAt: Instant?
  /// Whether a poisoned message caused its death.
  var isChargedToPoison = false

  /// Why a life ends; this decides what comes after it.
  enum Ending: Hashable, Sendable {
    /// No request ended it; its exit status decides.
    case ownAccord
    /// The operator requested it. If the worker is still wanted afterwards, it starts at once.
    case asked
    /// The supervisor ended it, for this reason; it counts as a crash. The text follows the word "it".
    case fault(String)
  }

  /// A life that is about to begin.
  init(generation: UInt32) { self.generation = generation }

  /// Whether it was ready for so long that its end says nothing about its start.
  func wasStable(after period: Duration) -> Bool {
    guard let readyAt, let exitedAt else { return false }
    return exitedAt.milliseconds(since: readyAt) >= period.wholeMilliseconds
  }

  /// Whether nothing is left to wait for.
  var isOver: Bool { exit != nil && busHasEnded && groupIsEmpty }
}

/// How the last life of a worker ended.
public struct LastExit: Hashable, Sendable {
  /// Its generation.
  public var generation: UInt32
  /// How its leader ended; nil if there never was a process.
  public var status: WorkerExit?
  /// When.
  public var at: Instant
  /// Milliseconds from spawn to end.
  public var lifetimeMilliseconds: UInt64
  /// What it did and, if the supervisor ended it, why: `was killed by SIGABRT: it was not ready within 10 s`.
  public var sentence: String
  /// Whether a process left without a request and had never sent HELLO.
  public var wasSilent = false
}

/// The hand-started instance that last had a worker's place.
public struct LastVisit: Hashable, Sendable {
  /// Its process.
  public var pid: Int32
  /// When it left.
  public var at: Instant
  /// Why it left, in a few words.
  public var why: String
}
