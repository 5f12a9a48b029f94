internal import Addresses
internal import Contracts
public import Cryptography
public import Nostr

// What is awaited from the network: answers to requests, and receipts for zaps. They arrive through the store.

extension JobTable {
  /// What is awaited from the network: events of these kinds that name these events.
  public struct Interest: Sendable, Hashable {
    /// The kinds.
    public var kinds: [UInt16]
    /// Where they are to be published; empty: where the account reads.
    public var relays: [String]
    /// Their possible authors; empty: any author.
    public var authors: [PublicKey]
    /// What they name (`e`), in order: requests, or zapped events.
    public var events: [EventID]
    /// When the earliest of these was made, seconds since 1970.
    public var since: Int64
  }

  /// Most events of one interest.
  public static let interestMaximum = 200

  /// What is awaited from the network.
  public var interests: [Interest] {
    var groups: [Group: [(id: EventID, createdAt: Int64)]] = [:]
    for record in records.values {
      let isOpen = record.picture.endedAt == nil
      guard isOpen || record.picture.isReceiptDue else { continue }
      let kinds = [record.order.kind + 1_000, EventKind.jobFeedback]
      if !record.order.isLocal, isOpen {
        let group = Group(
          kinds: kinds, relays: (record.order.submit.relays ?? []).sorted(), authors: record.order.providers.sorted())
        groups[group, default: []] += record.picture.requests.map { ($0.id, $0.createdAt) }
      }
      for zap in record.picture.zaps {
        // Receipts are published where the request says, even if the job stays here.
        let relays = (zap.request?.relays ?? []).map(\.text).sorted()
        groups[Group(kinds: [EventKind.zapReceipt], relays: relays, authors: []), default: []]
          .append((zap.target, zap.createdAt))
      }
    }
    return groups.flatMap { $0.parts(of: $1) }.sorted { $0.events[0] < $1.events[0] }
  }

  private struct Group: Hashable {
    var kinds: [UInt16]
    var relays: [String]
    var authors: [PublicKey]

    func parts(of events: [(id: EventID, createdAt: Int64)]) -> [Interest] {
      var found: [Interest] = []
      var rest = events.sorted { $0.id < $1.id }[...]
      while !rest.isEmpty {
        let part = rest.prefix(interestMaximum)
        rest = rest.dropFirst(part.count)
        found.append(
          Interest(
            kinds: kinds, relays: relays, authors: authors, events: part.map(\.id),
            since: part.map(\.createdAt).min() ?? 0))
      }
      return found
    }
  }
}
