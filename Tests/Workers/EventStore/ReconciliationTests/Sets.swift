import Clocks
import Cryptography
import Nostr
import Reconciliation

/// Two sets that have something in common.
struct TwoSets {
  var common: [ReconcileRecord] = []
  var left: [ReconcileRecord] = []
  var right: [ReconcileRecord] = []

  var here: ReconcileRecords { ReconcileRecords((common + left).shuffled()) }
  var there: ReconcileRecords { ReconcileRecords((common + right).shuffled()) }

  /// Sets of any sizes, from empty to some thousands, of many seconds or few, with ids that share long prefixes or
  /// none.
  init(_ random: inout SeededGenerator) {
    let sizes = [0, 0, 1, 2, 31, 32, 33, 100, 1_000, 3_000]
    let seconds = ([1, 3, 1_000, 1 << 63] as [UInt64]).randomElement(using: &random) ?? 1
    let sharedByteCount = [0, 0, 3, 28].randomElement(using: &random) ?? 0
    func records(_ random: inout SeededGenerator) -> [ReconcileRecord] {
      (0..<(sizes.randomElement(using: &random) ?? 0)).map { _ in
        .random(seconds: seconds, sharedByteCount: sharedByteCount, &random)
      }
    }
    // Each once, and in one of the three.
    var seen = Set<ReconcileRecord>()
    common = records(&random).filter { seen.insert($0).inserted }
    left = records(&random).filter { seen.insert($0).inserted }
    right = records(&random).filter { seen.insert($0).inserted }
  }
}

extension ReconcileRecord {
  /// A record of some second, with an id that begins with so many zeros.
  static func random(seconds: UInt64, sharedByteCount: Int = 0, _ random: inout SeededGenerator) -> ReconcileRecord {
    let bytes = (0..<EventID.byteCount).map { index -> UInt8 in
      index < sharedByteCount ? 0 : .random(in: .min ... .max, using: &random)
    }
    guard let octets = Octets32(bytes) else { preconditionFailure("32 bytes are an id") }
    return ReconcileRecord(timestamp: .random(in: 0..<seconds, using: &random), id: EventID(octets))
  }
}

/// What the asking side has found.
struct Found: Equatable {
  var haves: [EventID] = []
  var needs: [EventID] = []
  var rounds = 0
}

/// Lets one side ask until it knows all.
///
/// - Parameter answer: what the other side answers.
func reconcile(_ side: Reconciler, _ answer: ([UInt8]) throws -> [UInt8]) throws -> Found {
  var found = Found()
  var message: [UInt8]? = side.initiate()
  while let sent = message {
    found.rounds += 1
    guard found.rounds < 10_000 else { throw Endless() }
    let step = try side.received(try answer(sent))
    found.haves += step.haves
    found.needs += step.needs
    message = step.next
  }
  return found
}

struct Endless: Error {}
