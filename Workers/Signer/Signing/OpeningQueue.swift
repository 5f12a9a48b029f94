public import Frames

// Which gift wraps of which run are opened next. A run of 256 takes some 20 ms, so it is opened on other threads, a
// slice at a time; runs take turns, slice by slice, so a short one is not behind a long one. The shell performs the
// slices and keeps the outcomes; keys and wraps are not known here.
//
//     received ─► full: refuse
//              └► open(slice) … finished ─► open(next slice) … ─► answer
//              ended (cancelled, or the account was locked) ─► no further slice, no answer

/// The turns of the runs that are being opened.
public struct OpeningQueue: Sendable {
  /// What the shell must do, in this order.
  public enum Action: Hashable, Sendable {
    /// Open these wraps of a run on another thread; then call ``OpeningQueue/finished(_:)``.
    case open(SignerMachine.Key, Range<Int>)
    /// All wraps of the run have their outcomes.
    case answer(SignerMachine.Key)
    /// Answer the run with this refusal; none of its wraps was opened.
    case refuse(SignerMachine.Key, Refusal)
  }

  private struct Run {
    var key: SignerMachine.Key
    var wrapCount: Int
    var byteCount: Int
    var begun = 0
    var inFlight = 0
  }

  /// In the order of their turns.
  private var runs: [Run] = []
  private var slicesInFlight = 0
  private let sliceMaximum: Int

  /// The wraps of a slice: 1 to 2 ms of work, of which handing it to a thread and back is a hundredth.
  public static let sliceWrapCount = 16
  /// The maximum number of slices in flight for each core: while the loop takes one back, the next is worked on.
  public static let slicesPerCore = 2
  /// The maximum number of slices in flight on any machine: the threads of the pool.
  public static let slicesMaximum = 4
  /// The maximum number of runs in hand; a further one is refused as `full`.
  public static let runMaximum = 16
  /// The maximum number of bytes of runs in hand, with the same effect, unless it is the only one.
  public static let runByteCountMaximum = 8 << 20
  /// When a run that was refused as `full` should come again.
  public static let retryMilliseconds: UInt32 = 100

  /// A queue for a machine with so many cores.
  public init(coreCount: Int) {
    sliceMaximum = min(Self.slicesMaximum, Self.slicesPerCore * max(1, coreCount))
  }

  /// How many runs are in hand.
  public var runCount: Int { runs.count }

  /// A run has arrived that may be opened.
  public mutating func received(_ key: SignerMachine.Key, wrapCount: Int, byteCount: Int) -> [Action] {
    guard wrapCount > 0 else { return [.answer(key)] }
    let bytes = runs.reduce(byteCount) { $0 + $1.byteCount }
    guard runs.count < Self.runMaximum, runs.isEmpty || bytes <= Self.runByteCountMaximum else {
      return [
        .refuse(
          key,
          Refusal(
            .full, "\(runs.count) runs of gift wraps are being opened already", outcome: .notStarted,
            retryAfterMilliseconds: Self.retryMilliseconds))
      ]
    }
    runs.append(Run(key: key, wrapCount: wrapCount, byteCount: byteCount))
    return next()
  }

  /// A slice of this run is done, or could not be begun.
  public mutating func finished(_ key: SignerMachine.Key) -> [Action] {
    precondition(slicesInFlight > 0, "a slice is finished once")
    slicesInFlight -= 1
    var actions: [Action] = []
    if let index = runs.firstIndex(where: { $0.key == key }) {
      runs[index].inFlight -= 1
      if runs[index].inFlight == 0, runs[index].begun == runs[index].wrapCount {
        runs.remove(at: index)
        actions.append(.answer(key))
      }
    }
    return actions + next()
  }

  /// A run is over before all of it is opened: its caller has cancelled it, or its account was locked. Slices of it in
  /// flight still end with ``finished(_:)``.
  public mutating func ended(_ key: SignerMachine.Key) { runs.removeAll { $0.key == key } }

  private mutating func next() -> [Action] {
    var actions: [Action] = []
    while slicesInFlight < sliceMaximum, let index = runs.firstIndex(where: { $0.begun < $0.wrapCount }) {
      var run = runs.remove(at: index)
      let slice = run.begun..<min(run.wrapCount, run.begun + Self.sliceWrapCount)
      run.begun = slice.upperBound
      run.inFlight += 1
      slicesInFlight += 1
      runs.append(run)
      actions.append(.open(run.key, slice))
    }
    return actions
  }
}
