import Addresses
import Nostr
import OutboxRouting

/// Attempts to publish that are in flight at relays outside the groups. The budget counts each relay and purpose once.
struct PublishDials {
  private struct Dial: Hashable {
    let relay: RelayURL
    let purpose: DialBudget.Purpose
  }

  private var counts: [Dial: Int] = [:]

  /// An attempt has begun.
  mutating func began(at relay: RelayURL, for purpose: DialBudget.Purpose) {
    counts[Dial(relay: relay, purpose: purpose), default: 0] += 1
  }

  /// An attempt has ended. Attempts at relays of a group are not counted here.
  ///
  /// - Returns: whether it was the last attempt at this relay for this purpose.
  mutating func ended(at relay: RelayURL, for purpose: DialBudget.Purpose) -> Bool {
    let dial = Dial(relay: relay, purpose: purpose)
    guard let count = counts[dial] else { return false }
    counts[dial] = count > 1 ? count - 1 : nil
    return count == 1
  }
}
