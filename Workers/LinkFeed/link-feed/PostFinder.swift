import Contracts
import Cryptography
import EventLoop
import Frames
import LinkLedger
import Nostr
import Storage

// A post or message as callers name it: by its id, or by the first digits of it. The ledger has ids as keyed hashes, so
// it has a second hash of the first eight digits; what has that is opened and compared.

/// A post or message that a caller has named.
struct FoundPost {
  /// Its row.
  let row: LinkLedger.Row
  /// What belongs to it, as a keyed hash.
  let thread: [UInt8]
  /// What it is.
  let rumor: KeptRumor
}

extension LinkFeed {
  /// Rows with the same first eight digits that are opened at most: only a stranger who looks for such ids makes more.
  private static let sameDigitsMaximum = 64

  /// The post or message that a text names.
  ///
  /// - Parameters:
  ///   - typed: its id, or the first ``LinkRow/idDigitsMinimum`` digits of it or more.
  ///   - member: the member of the request, for a refusal.
  ///   - family: whether a post or a message is meant.
  ///   - vault: the account's.
  /// - Throws: `bad-request` for what is no id, and for digits with which several begin; `no-such-post`.
  func post(
    _ typed: String, as member: String = "post", _ family: LinkLedger.Family, _ vault: LinkVault
  ) async throws(Refusal) -> FoundPost {
    let text = typed.lowercased()
    let count = text.utf8.count
    guard (LinkRow.idDigitsMinimum...LinkRow.idDigitCount).contains(count),
      text.allSatisfy({ $0.isASCII && $0.isHexDigit })
    else {
      throw Refusal(
        .badRequest,
        "'\(member)' is no id: \(LinkRow.idDigitCount) hexadecimal digits are expected, or the first "
          + "\(LinkRow.idDigitsMinimum) of them or more", outcome: .notStarted)
    }
    let id = EventID(text)
    let limit = Self.sameDigitsMaximum
    let rows = try await ledgered { () async throws(StorageFault) in
      if let id { return try await self.ledger.item(vault.hash(ofItem: id), of: vault.account).map { [$0] } ?? [] }
      return try await self.ledger.items(
        digits: vault.hash(ofFirstDigits: text), of: vault.account, limit: limit + 1)
    }
    let found = rows.compactMap { row, thread -> FoundPost? in
      guard let sort = row.sort, sort.isRoot, sort.family == family, let rumor = vault.rumor(row),
        "\(rumor.id)".hasPrefix(text)
      else { return nil }
      return FoundPost(row: row, thread: thread, rumor: rumor)
    }
    guard found.count < 2, rows.count <= limit else {
      let naming = rows.count <= limit ? "more digits name" : "only the whole id names"
      throw Refusal(
        .badRequest, "'\(text)' is ambiguous: several \(family.word)s begin with it; \(naming) one",
        outcome: .notStarted)
    }
    guard let one = found.first else { throw Self.noPost(text, family) }
    return one
  }

  /// There is no such post or message.
  static func noPost(_ text: String, _ family: LinkLedger.Family) -> Refusal {
    let begins = text.utf8.count < LinkRow.idDigitCount ? "no \(family.word) begins with" : "there is no \(family.word)"
    let command = family == .links ? "links" : "messages"
    return Refusal(
      .noSuchPost,
      "\(begins) \(text.prefix(LinkRow.idDigitCount)); 'roost \(command) show WHO' shows those of a conversation, and "
        + "with --json their whole ids", outcome: .notStarted)
  }
}

extension LinkLedger.Family {
  /// What a conversation of it consists of.
  fileprivate var word: String {
    switch self {
    case .links: "post"
    case .messages: "message"
    }
  }
}
