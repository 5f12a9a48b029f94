/// The state of a worker, as the supervisor names it. A later supervisor may have words that this library does not
/// know.
public struct WorkerStateWord: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral, CaseIterable,
  CustomStringConvertible
{
  /// The word itself.
  public let rawValue: String
  /// Takes a word as it was received.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes a word of the source code.
  public init(stringLiteral value: String) { rawValue = value }
  /// The word itself.
  public var description: String { rawValue }

  /// A command stopped it, or it is not enabled.
  public static let stopped: Self = "stopped"
  /// It waits for another worker.
  public static let waiting: Self = "waiting"
  /// Its process has started, and has not reported ready.
  public static let starting: Self = "starting"
  /// It takes work.
  public static let ready: Self = "ready"
  /// It finishes what is in flight, and receives nothing new.
  public static let draining: Self = "draining"
  /// It received the order to end.
  public static let stopping: Self = "stopping"
  /// It has ended, and waits for its next start.
  public static let backoff: Self = "backoff"
  /// Its program cannot be started.
  public static let execFailed: Self = "exec-failed"
  /// It has ended too many times, and is not started again.
  public static let failed: Self = "failed"
  /// A person holds it: it is not started.
  public static let held: Self = "held"
  /// A process that was started by hand has taken its place.
  public static let attached: Self = "attached"
  /// It has ended, and will not be started again.
  public static let exited: Self = "exited"
  /// A worker that is in no configuration and not connected.
  public static let absent: Self = "absent"

  /// The words that this library knows, in the order in which commands show them.
  public static let allCases: [Self] = [
    .stopped, .waiting, .starting, .ready, .draining, .stopping, .backoff, .execFailed, .failed, .held, .attached,
    .exited, .absent,
  ]
}

/// The state of a relay's connection, as its connector names it. A later connector may have words that this library
/// does not know.
public struct RelayStateWord: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral, CaseIterable,
  CustomStringConvertible
{
  /// The word itself.
  public let rawValue: String
  /// Takes a word as it was received.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes a word of the source code.
  public init(stringLiteral value: String) { rawValue = value }
  /// The word itself.
  public var description: String { rawValue }

  /// The connection is open.
  public static let open: Self = "open"
  /// The relay is being dialled.
  public static let connecting: Self = "connecting"
  /// It could not be reached, and is retried later.
  public static let waiting: Self = "waiting"
  /// The connection is being closed.
  public static let closing: Self = "closing"
  /// No subscription or request needs it.
  public static let idle: Self = "idle"
  /// It is not dialled, because the connector died while it handled the relay's bytes.
  public static let quarantined: Self = "quarantined"

  /// The words that this library knows.
  public static let allCases: [Self] = [.open, .connecting, .waiting, .closing, .idle, .quarantined]
}
