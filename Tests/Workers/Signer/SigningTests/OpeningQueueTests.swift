import Clocks
import Frames
import Signing
import TestSupport
import Testing

@Suite("Turns of runs of gift wraps") struct OpeningQueueTests {
  private func key(_ number: UInt64) -> SignerMachine.Key { SignerMachine.Key(number) }

  @Test("A run is opened in slices, two for each core at once, and answered when the last one is done")
  func slices() {
    var queue = OpeningQueue(coreCount: 1)
    #expect(queue.received(key(1), wrapCount: 50, byteCount: 100) == [.open(key(1), 0..<16), .open(key(1), 16..<32)])
    #expect(queue.finished(key(1)) == [.open(key(1), 32..<48)])
    #expect(queue.finished(key(1)) == [.open(key(1), 48..<50)])
    #expect(queue.finished(key(1)) == [])
    #expect(queue.runCount == 1)
    #expect(queue.finished(key(1)) == [.answer(key(1))])
    #expect(queue.runCount == 0)
    #expect(queue.received(key(2), wrapCount: 0, byteCount: 36) == [.answer(key(2))])
  }

  @Test("However many cores there are, no more slices are in flight than the pool has threads")
  func cores() {
    for (cores, expected) in [(-1, 2), (1, 2), (2, 4), (64, 4)] {
      var queue = OpeningQueue(coreCount: cores)
      #expect(queue.received(key(1), wrapCount: 256, byteCount: 1).count == expected)
    }
  }

  @Test("Runs take turns: a short one is not behind a long one")
  func turns() {
    var queue = OpeningQueue(coreCount: 1)
    _ = queue.received(key(1), wrapCount: 256, byteCount: 1)
    #expect(queue.received(key(2), wrapCount: 1, byteCount: 1) == [])
    #expect(queue.finished(key(1)) == [.open(key(1), 32..<48)])
    #expect(queue.finished(key(1)) == [.open(key(2), 0..<1)])
    #expect(queue.finished(key(2)) == [.answer(key(2)), .open(key(1), 48..<64)])
  }

  @Test("What is too much is refused as full, with a time; a single run of any size is taken")
  func full() throws {
    var queue = OpeningQueue(coreCount: 1)
    _ = queue.received(key(0), wrapCount: 1, byteCount: 100 << 20)
    for (count, bytes) in [(1, 1), (256, 100)] {
      guard case .refuse(_, let refusal)? = queue.received(key(1), wrapCount: count, byteCount: bytes).first else {
        Issue.record("it is taken")
        return
      }
      #expect(refusal.code == .full && refusal.retryAfterMilliseconds == OpeningQueue.retryMilliseconds)
    }
    #expect(queue.finished(key(0)) == [.answer(key(0))])
    for number in 0..<UInt64(OpeningQueue.runMaximum) {
      #expect(!queue.received(key(number), wrapCount: 16, byteCount: 10).contains { $0.isRefusal })
    }
    #expect(queue.received(key(99), wrapCount: 16, byteCount: 10).contains { $0.isRefusal })
    #expect(queue.runCount == OpeningQueue.runMaximum)
  }

  @Test("A run that has ended is given no more slices, and no answer")
  func ended() {
    var queue = OpeningQueue(coreCount: 1)
    _ = queue.received(key(1), wrapCount: 100, byteCount: 1)
    _ = queue.received(key(2), wrapCount: 1, byteCount: 1)
    queue.ended(key(1))
    #expect(queue.finished(key(1)) == [.open(key(2), 0..<1)])
    #expect(queue.finished(key(1)) == [])
    #expect(queue.finished(key(2)) == [.answer(key(2))])
  }

  @Test("In any order of events each wrap is opened once, and each run ends once", arguments: seeds(16))
  func model(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = OpeningQueue(coreCount: Int.random(in: 1...3, using: &random))
    var opened: [SignerMachine.Key: Set<Int>] = [:]
    var sizes: [SignerMachine.Key: Int] = [:]
    var over: Set<SignerMachine.Key> = []
    var flying: [SignerMachine.Key] = []
    func take(_ actions: [OpeningQueue.Action]) {
      for action in actions {
        switch action {
        case .open(let key, let slice):
          #expect(!over.contains(key) && opened[key, default: []].isDisjoint(with: slice))
          opened[key, default: []].formUnion(slice)
          flying.append(key)
        case .answer(let key):
          #expect(over.insert(key).inserted && opened[key, default: []] == Set(0..<(sizes[key] ?? -1)))
        case .refuse(let key, _): #expect(over.insert(key).inserted)
        }
      }
      #expect(flying.count <= OpeningQueue.slicesMaximum && queue.runCount <= OpeningQueue.runMaximum)
    }
    for number in 0..<UInt64(400) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0...1:
        sizes[key(number)] = Int.random(in: 0...256, using: &random)
        take(queue.received(key(number), wrapCount: sizes[key(number)] ?? 0, byteCount: 1_000))
      case 2:
        guard let some = sizes.keys.sorted(by: { $0.number < $1.number }).randomElement(using: &random),
          over.insert(some).inserted
        else { continue }
        queue.ended(some)
      default:
        guard !flying.isEmpty else { continue }
        take(queue.finished(flying.remove(at: Int.random(in: flying.indices, using: &random))))
      }
    }
    while let key = flying.popLast() { take(queue.finished(key)) }
    #expect(queue.runCount == 0 && over == Set(sizes.keys))
  }
}

extension OpeningQueue.Action {
  fileprivate var isRefusal: Bool { if case .refuse = self { true } else { false } }
}
