public import HeapModule

/// Causes in the order of their deadlines.
///
/// A deadline that no longer applies is not searched for. It stays until it is due, and its owner then sees that it is
/// void, or until there are so many that ``removeVoid(unless:)`` removes all void ones. Equal deadlines come in the
/// order in which they were added.
public struct Deadlines<Moment: Comparable, Cause> {
  @usableFromInline
  struct Entry: Comparable {
    @usableFromInline let at: Moment
    @usableFromInline let number: UInt64
    @usableFromInline let cause: Cause

    @inlinable
    init(at: Moment, number: UInt64, cause: Cause) { (self.at, self.number, self.cause) = (at, number, cause) }

    @inlinable
    static func < (left: Entry, right: Entry) -> Bool {
      left.at == right.at ? left.number < right.number : left.at < right.at
    }

    @inlinable
    static func == (left: Entry, right: Entry) -> Bool { left.number == right.number }
  }

  @usableFromInline var heap = Heap<Entry>()
  @usableFromInline var lastNumber: UInt64 = 0
  @usableFromInline var voidMaximum: Int
  @usableFromInline let voidMinimum: Int

  /// No deadlines.
  ///
  /// - Parameter voidMinimum: how many deadlines there may be before void ones are searched for.
  public init(voidMinimum: Int = 4_096) { (self.voidMinimum, voidMaximum) = (voidMinimum, voidMinimum) }

  /// How many deadlines there are, including void ones.
  @inlinable
  public var count: Int { heap.count }

  /// The first deadline; nil if there are no deadlines.
  @inlinable
  public var first: Moment? { heap.min?.at }

  /// Adds a deadline.
  @inlinable
  public mutating func add(_ cause: Cause, at moment: Moment) {
    lastNumber &+= 1
    heap.insert(Entry(at: moment, number: lastNumber, cause: cause))
  }

  /// Removes and returns the first deadline if it is due; nil if it is not.
  @inlinable
  public mutating func popDue(at now: Moment) -> (at: Moment, cause: Cause)? {
    guard let first = heap.min, first.at <= now else { return nil }
    heap.removeMin()
    return (first.at, first.cause)
  }

  /// Removes the deadlines that no longer apply, once there are twice as many deadlines as after the last removal.
  @inlinable
  public mutating func removeVoid(unless holds: (Moment, Cause) -> Bool) {
    guard heap.count > voidMaximum else { return }
    heap = Heap(heap.unordered.filter { holds($0.at, $0.cause) })
    voidMaximum = max(voidMinimum, heap.count * 2)
  }
}

extension Deadlines: Sendable where Moment: Sendable, Cause: Sendable {}
extension Deadlines.Entry: Sendable where Moment: Sendable, Cause: Sendable {}
