import Cryptography
import Feeds
import Nostr
import Testing

/// People with keys that are always the same.
struct FeedWorld {
  let me = FeedWorld.key(1)
  let bob = FeedWorld.key(2)
  let carol = FeedWorld.key(3)
  let dave = FeedWorld.key(4)

  static func key(_ number: Int) -> SecretKey {
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * (31 - $0))) }
    guard let key = bytes.withUnsafeBytes({ SecretKey(bytes: $0) }) else { preconditionFailure("a number from 1") }
    return key
  }

  func event(
    _ author: SecretKey, kind: UInt16 = 1, _ tags: [[String]] = [], _ content: String = "", at time: Int64 = 1_000
  ) -> Event {
    UnsignedEvent(pubkey: author.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
      .signed(by: author)
  }

  func follows(_ people: SecretKey..., at time: Int64 = 1) -> Event {
    event(me, kind: 3, people.map { ["p", "\($0.publicKey)"] }, at: time)
  }

  func mutes(_ tags: [[String]], hidden: String = "", at time: Int64 = 1) -> Event {
    event(me, kind: 10_000, tags, hidden, at: time)
  }
}

extension FeedCourse.Verdict {
  var isShown: Bool { if case .leftOut = self { false } else { true } }
  var finding: InboxJudge.Finding? { if case .found(let finding) = self { finding } else { nil } }
}
