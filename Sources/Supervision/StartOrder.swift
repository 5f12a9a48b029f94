/// In which order workers start and stop.
///
/// `after` is the only relation: a worker is spawned when all it comes after are ready, and told to stop when all that
/// come after it are gone, so that nobody drains towards somebody who has left. Names keep the order of the
/// configuration where `after` leaves it open; two runs of one configuration look alike.
public struct StartOrder: Hashable, Sendable {
  /// All names, each after those it comes after.
  public let names: [String]
  private let predecessors: [String: [String]]
  private let dependents: [String: [String]]

  /// What is wrong with a set of `after` lists.
  public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Two workers have this name.
    case nameTaken(String)
    /// `after` names a worker that does not exist.
    case unknownName(String, of: String)
    /// Each comes after the next, and the last is the first again.
    case cycle([String])

    /// What happened and what to do.
    public var description: String {
      switch self {
      case .nameTaken(let name): "Two workers are called \(name); rename one."
      case .unknownName(let unknown, let name):
        "\(name) is to start after \(unknown), and no worker has that name."
      case .cycle(let path):
        "These workers wait for each other: \(path.joined(separator: " after ")). Remove one `after`, or none starts."
      }
    }
  }

  /// Sorts the workers, given in the order of the configuration.
  public init(_ workers: [(name: String, after: [String])]) throws(Fault) {
    var predecessors: [String: [String]] = [:]
    for worker in workers {
      guard predecessors.updateValue(worker.after, forKey: worker.name) == nil else {
        throw .nameTaken(worker.name)
      }
    }
    var dependents: [String: [String]] = [:]
    for worker in workers {
      for name in worker.after {
        guard predecessors[name] != nil else { throw .unknownName(name, of: worker.name) }
        dependents[name, default: []].append(worker.name)
      }
    }
    self.predecessors = predecessors
    self.dependents = dependents
    names = try Self.sort(workers.map(\.name), predecessors)
  }

  /// The names the worker comes after that are not among the ready ones: what it waits for.
  public func missing(for name: String, ready: Set<String>) -> [String] {
    predecessors[name, default: []].filter { !ready.contains($0) }
  }

  /// Those not ready yet that nothing keeps from starting.
  public func startable(ready: Set<String>) -> [String] {
    names.filter { !ready.contains($0) && missing(for: $0, ready: ready).isEmpty }
  }

  /// The workers that come after this one, directly.
  public func dependents(of name: String) -> [String] { dependents[name, default: []] }

  /// Of those that run, the ones that nobody who still runs comes after, so they can be told to stop; last started
  /// first.
  public func stoppable(running: Set<String>) -> [String] {
    names.reversed().filter { name in
      running.contains(name) && !dependents(of: name).contains(where: running.contains)
    }
  }

  /// Depth first, without recursion: the depth is bounded by the configuration only.
  private static func sort(_ names: [String], _ predecessors: [String: [String]]) throws(Fault) -> [String] {
    var sorted: [String] = []
    var done: Set<String> = []
    for root in names where !done.contains(root) {
      var path: [(name: String, left: ArraySlice<String>)] = [(root, predecessors[root, default: []][...])]
      while let top = path.indices.last {
        guard let next = path[top].left.popFirst() else {
          done.insert(path[top].name)
          sorted.append(path[top].name)
          path.removeLast()
          continue
        }
        if done.contains(next) { continue }
        if let start = path.firstIndex(where: { $0.name == next }) {
          throw .cycle(path[start...].map(\.name) + [next])
        }
        path.append((next, predecessors[next, default: []][...]))
      }
    }
    return sorted
  }
}
