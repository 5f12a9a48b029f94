public import Contracts

/// A copy of the store's active observes: a list, and then the changes that the topic brings.
///
/// Changes are numbered. A missing number, another generation of the store, or a gap of the topic requires a new list.
/// Changes that arrive while a list is in flight are kept, and apply if the list did not include them.
public struct ObserveMirror: Sendable {
  /// What the caller does next.
  public enum Step: Sendable, Hashable {
    /// Nothing: the change was known.
    case nothing
    /// Take over the changed observes, and forget the removed ones.
    case take(changed: [ActiveObserve], removed: [String])
    /// Request a list: ``listBegins()``.
    case list
  }

  private var known: [String: ActiveObserve] = [:]
  private var generation: Int64?
  private var version: Int64 = 0
  private var isListing = false
  private var early: [ObserveChanges] = []

  /// Changes kept while a list is in flight. Beyond that they are dropped, and another list is requested.
  private static let earlyMaximum = 256

  /// Empty; the first step is a list.
  public init() {}

  /// The active observes, by key.
  public var observes: [String: ActiveObserve] { known }

  /// The caller requests a list now.
  public mutating func listBegins() {
    isListing = true
    early = []
  }

  /// The request for the list failed.
  public mutating func listFailed() { isListing = false }

  /// The list is complete.
  public mutating func listed(_ observes: [ActiveObserve], _ end: ObserveListEnd) -> Step {
    let before = self
    let step = taken(observes, end)
    guard case .list = step else { return step }
    // The caller received nothing of this list, so keep the earlier state: the next list must report the differences
    // again.
    known = before.known
    (generation, isListing) = (nil, false)
    return .list
  }

  private mutating func taken(_ observes: [ActiveObserve], _ end: ObserveListEnd) -> Step {
    isListing = false
    (generation, version) = (end.generation, end.version)
    var changed: [ActiveObserve] = []
    var removed = Set(known.keys)
    for observe in observes {
      removed.remove(observe.key)
      if known.updateValue(observe, forKey: observe.key) != observe { changed.append(observe) }
    }
    for key in removed { known[key] = nil }
    let waiting = early
    early = []
    guard waiting.count < Self.earlyMaximum else { return .list }
    for changes in waiting {
      switch received(changes) {
      case .nothing: continue
      case .list: return .list
      case .take(let more, let gone):
        changed = changed.filter { old in !gone.contains(old.key) && !more.contains { $0.key == old.key } } + more
        removed = removed.subtracting(more.map(\.key)).union(gone)
      }
    }
    return .take(changed: changed, removed: removed.sorted())
  }

  /// Takes a message of the topic.
  public mutating func received(_ changes: ObserveChanges) -> Step {
    if isListing {
      if early.count < Self.earlyMaximum { early.append(changes) }
      return .nothing
    }
    guard changes.generation == generation else { return .list }
    if changes.version <= version { return .nothing }
    guard changes.version == version + 1 else { return .list }
    version = changes.version
    for observe in changes.changed { known[observe.key] = observe }
    for key in changes.removed { known[key] = nil }
    return .take(changed: changes.changed, removed: changes.removed)
  }
}
