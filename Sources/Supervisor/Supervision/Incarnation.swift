public import Clocks

/// One process of a worker, from the wish to spawn it until nothing of it is left.
struct Incarnation: Hashable, Sendable {
  /// Its number; the next has a greater one.
  let generation: UInt32
  /// The leader; nil until the spawn is answered.
  var pid: Int32?
  /// When the process was made.
  var spawnedAt: Instant?
  /// Whether HELLO came.
  var hasSaidHello = false
  /// When READY came.
  var readyAt: Instant?
  /// Whether its bus was read to the end.
  var busHasEnded = false
  /// How its leader ended.
  var exit: WorkerExit?
  /// When its leader ended.
  var exitedAt: Instant?
  /// Whether nothing of it runs any more.
  var groupIsEmpty = false
  /// Who wants it to end.
  var ending = Ending.ownAccord
  /// An EXTEND cannot move a deadline beyond this instant.
  var extensionLimit: Instant?
  /// When the breaker wrote its start down as a restart; nil when it did not.
  var countedAt: Instant?
  /// Whether one poisoned message is to blame for its death.
  var isChargedToPoison = false

  /// Who wants a life to end, which decides what comes after it.
  enum Ending: Hashable, Sendable {
    /// Nobody; its exit status decides.
    case ownAccord
    /// The operator. If it is still wanted afterwards, it starts at once.
    case asked
    /// The supervisor, because of this; it counts as a crash. Reads after "it".
    case fault(String)
  }

  /// A life that is about to begin.
  init(generation: UInt32) { self.generation = generation }

  /// Whether it was ready for so long that its end says nothing about its start.
  func wasStable(after period: Duration) -> Bool {
    guard let readyAt, let exitedAt else { return false }
    return exitedAt.milliseconds(since: readyAt) >= period.wholeMilliseconds
  }

  /// Whether there is nothing left to wait for.
  var isOver: Bool { exit != nil && busHasEnded && groupIsEmpty }
}

/// How the last life of a worker ended.
public struct LastExit: Hashable, Sendable {
  /// Which life it was.
  public var generation: UInt32
  /// How its leader ended; nil when there never was a process.
  public var status: WorkerExit?
  /// When.
  public var at: Instant
  /// Milliseconds from spawn to end.
  public var lifetimeMilliseconds: UInt64
  /// What it did, and why the supervisor ended it if that is so: `was killed by SIGABRT: it was not ready within 10 s`.
  public var sentence: String
  /// Whether there was a process that left of its own accord and had never said HELLO.
  public var wasSilent = false
}

/// The hand-started instance that had a worker's place last.
public struct LastVisit: Hashable, Sendable {
  /// Its process.
  public var pid: Int32
  /// When it left.
  public var at: Instant
  /// How, in a few words.
  public var why: String
}
