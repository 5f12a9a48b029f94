public import Contracts

/// What is observed, as the store tells it: a list, and changes since then by the topic.
///
/// Changes are numbered. One that is left out, another life of the store, or a gap of the topic make a new list
/// necessary; what comes while the list is on its way is kept, and counts if the list did not have it.
public struct ObserveMirror: Sendable {
  /// What is to be done.
  public enum Step: Sendable, Hashable {
    /// Nothing: it was known.
    case nothing
    /// Take over these, and forget those.
    case take(changed: [ActiveObserve], removed: [String])
    /// Ask for a list: ``listBegins()``.
    case list
  }

  private var known: [String: ActiveObserve] = [:]
  private var generation: Int64?
  private var version: Int64 = 0
  private var isListing = false
  private var early: [ObserveChanges] = []

  /// Changes kept while a list is on its way. Beyond that they are dropped, and another list is asked for.
  private static let earlyMaximum = 256

  /// Nothing is known; the first step is a list.
  public init() {}

  /// What is observed, by key.
  public var observes: [String: ActiveObserve] { known }

  /// A list is asked for now.
  public mutating func listBegins() {
    isListing = true
    early = []
  }

  /// The list could not be had.
  public mutating func listFailed() { isListing = false }

  /// The list is here, whole.
  public mutating func listed(_ observes: [ActiveObserve], _ end: ObserveListEnd) -> Step {
    let before = self
    let step = taken(observes, end)
    guard case .list = step else { return step }
    // Nothing of it was told, so nothing of it is known: the next list would hide what is in both.
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

  /// A message of the topic.
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
