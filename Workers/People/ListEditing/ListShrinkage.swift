internal import Nostr

/// What a list would lose by an edit, if that is so much that it asks first.
public struct ListShrinkage: Hashable, Sendable {
  /// The list's kind.
  public let kind: UInt16
  /// Entries of the version before.
  public let before: Int
  /// Entries of the next one.
  public let after: Int
  /// How many of them are lost.
  public let lostCount: Int
  /// For a profile: the lost fields.
  public let lostFields: [String]

  /// A list with fewer entries may lose any of them.
  public static let countMinimum = 4
  /// The part of its entries that a list may not reach without a question: one in so many.
  public static let part = 4
  /// The most fields named in a sentence.
  private static let namedMaximum = 8

  /// - Returns: nil if the list loses less than a quarter of its entries, or had fewer than four.
  public init?(from before: ListContents, to after: ListContents) {
    let old = before.state
    let new = after.state
    let lost = ListState.unlike(old, new).left.filter { new[$0] == nil && $0.isListed }
    kind = before.kind
    self.before = old.listedCount
    self.after = new.listedCount
    lostCount = lost.count
    lostFields = kind == EventKind.metadata ? lost.map(\.name) : []
    guard self.before >= Self.countMinimum, lostCount * Self.part >= self.before else { return nil }
  }

  /// The consequence, without a full stop: `this removes 3 of the list of 4 relays (kind 10002)`.
  public var sentence: String {
    let what = "this removes \(lostCount) of your \(ListLoss.noun(kind, before))"
    guard !lostFields.isEmpty else { return what }
    let more = lostFields.count > Self.namedMaximum ? " and \(lostFields.count - Self.namedMaximum) more" : ""
    return "\(what): \(lostFields.prefix(Self.namedMaximum).map(ListFault.shown).joined(separator: ", "))\(more)"
  }
}

extension EntryKey {
  /// Whether it lists something, and is neither a description nor an unread content.
  var isListed: Bool { place != .content && (place == .field || !Self.describes(name)) }
}
