public import Contracts
public import Cryptography
internal import Frames
public import Nostr

// What an event that names an account is to it. What others claim is believed, except of a zap: its request is signed
// by the payer and has to fit the receipt and the invoice (NIP-57). Only the payee's wallet may claim that it was paid,
// and which key that is only a page on the web says; so an item has the key, and the reader decides.

/// Tells what an event is to an account.
public struct InboxJudge: Sendable {
  private let account: PublicKey

  /// What an event is.
  public struct Finding: Hashable, Sendable {
    /// What it is.
    public var sort: InboxItem.Sort
    /// Who wrote it, or paid.
    public var author: PublicKey
    /// What it is about: an event's id or an address.
    public var about: String?
    /// What a reaction or a payer says.
    public var text: String?
    /// Of a zap: the amount.
    public var amountMillisatoshis: Int64?
    /// Of a zap: the key that claims the payment.
    public var wallet: PublicKey?

    /// A finding.
    init(_ sort: InboxItem.Sort, by author: PublicKey, about: String?) {
      (self.sort, self.author, self.about) = (sort, author, about)
    }

    /// The item as it is sent.
    public func item(seq: Int64, _ json: [UInt8]) -> InboxItem {
      var item = InboxItem(seq: seq, sort: sort, author: "\(author)", about: about, event: RawJSON(json))
      item.text = text
      item.amountMillisatoshis = amountMillisatoshis
      item.wallet = wallet.map { "\($0)" }
      return item
    }
  }

  /// Texts that answer, mention or quote.
  private static let textKinds: Set<UInt16> = [1, 11, 20, 21, 22, 1_068, 1_111, 1_222, 1_244, 9_802, 30_023]
  /// All kinds that an inbox has.
  public static let kinds: [UInt16] = (Array(textKinds) + [6, 7, 16, 9_735]).sorted()
  /// Most people that a text names and still means one of them: what names more is spam, or an answer in a crowd.
  public static let crowdMaximum = 100

  /// The judge of an account.
  public init(_ account: PublicKey) { self.account = account }

  /// The filter for all that may be for the account.
  public var filter: Filter {
    guard let letter = TagLetter("p") else { preconditionFailure("p is a letter") }
    return Filter(kinds: Self.kinds, tags: [letter: [TagValue("\(account)")]])
  }

  /// What an event is; nil if it is the account's own, is not for it, or is not what its kind requires.
  public func judge(_ event: Event) -> Finding? {
    let people = event.values(of: "p").compactMap { PublicKey($0) }
    guard people.contains(account), event.pubkey != account else { return nil }
    switch event.kind {
    case EventKind.zapReceipt: return zap(event)
    // Some clients name all who took part: the last one wrote what is meant (NIP-25).
    case EventKind.reaction: return people.last == account ? reaction(event) : nil
    case EventKind.repost, EventKind.genericRepost:
      return Finding(.repost, by: event.pubkey, about: Self.last("a", "e", of: event))
    default: return people.count <= Self.crowdMaximum ? text(event, people) : nil
    }
  }

  private func reaction(_ event: Event) -> Finding? {
    guard let content = ReactionContent(event) else { return nil }
    var finding = Finding(.reaction, by: event.pubkey, about: Self.last("a", "e", of: event))
    finding.text = content.text
    return finding
  }

  private func text(_ event: Event, _ people: [PublicKey]) -> Finding {
    if event.tags.contains(where: isQuoteOfMine) {
      return Finding(.quote, by: event.pubkey, about: event.firstValue(of: "q"))
    }
    if event.kind == EventKind.comment {
      let about = Self.last("a", "e", "i", of: event)
      // The first `p` wrote what is answered (NIP-22).
      return Finding(people.first == account ? .reply : .mention, by: event.pubkey, about: about)
    }
    guard event.kind == EventKind.textNote, let parent = ThreadPlace(tags: event.tags).parent else {
      return Finding(.mention, by: event.pubkey, about: nil)
    }
    // Without an author in the tag, the first `p` is taken: clients write that of the answered text first.
    let author = parent.author ?? people.first
    return Finding(author == account ? .reply : .mention, by: event.pubkey, about: "\(parent.id)")
  }

  /// `["q", id, relay, author]`, or `["q", address]`.
  private func isQuoteOfMine(_ tag: [String]) -> Bool {
    guard tag.count > 1, tag[0] == "q" else { return false }
    if let address = EventAddress(tag[1]) { return address.pubkey == account }
    return tag.count > 3 && PublicKey(tag[3]) == account
  }

  private func zap(_ event: Event) -> Finding? {
    // `try?`: what is not a valid receipt is not shown.
    guard let receipt = try? ZapReceipt(event), receipt.recipient == account, receipt.request.sender != account,
      let amount = receipt.amountMillisatoshis, receipt.isPreimageRight != false,
      receipt.request.wallet ?? receipt.wallet == receipt.wallet,
      receipt.request.amountMillisatoshis ?? amount == amount
    else { return nil }
    let about = receipt.request.targetAddress.map { "\($0)" } ?? receipt.request.target.map { "\($0)" }
    var finding = Finding(.zap, by: receipt.request.sender, about: about)
    finding.text = receipt.request.comment.isEmpty ? nil : receipt.request.comment
    finding.amountMillisatoshis = amount
    finding.wallet = receipt.wallet
    return finding
  }

  /// The last usable value of the first of these tags that has one.
  private static func last(_ names: String..., of event: Event) -> String? {
    for name in names {
      let values = event.values(of: name)
      let isUsable: (String) -> Bool = { TagReference(tagName: name)?.accepts($0) ?? !$0.isEmpty }
      if let value = values.last(where: isUsable) { return value }
    }
    return nil
  }
}
