public import Cryptography
public import Nostr
import NostrContracts
public import PushDelivery

// Whether an event wakes the owner of a key, and as which topic. The cheap checks come first; the check of a zap comes
// last.
//
//   kind          with `p` = the owner       wakes as
//   1059, 4                                  message
//   1, 11, 20…    and names a parent         reply
//                 otherwise                  mention
//   1111          the parent's author        reply
//   9735          and its request is sound   zap
//   7             the last `p`               reaction
//   6, 16                                    repost
//
// The judge believes the tags of a text. If they do not name the author of the parent, the text counts as a reply,
// unless its content names the owner: then it is a mention. The judge looks nothing up for this, and only a word in the
// push depends on it.
//
// Old events do not wake: an event that a relay has kept for a year is not news. The date of a gift wrap is invented,
// up to two days in the past (NIP-59), so for gift wraps the time of arrival counts.

/// Why an event does not wake.
public enum EventDismissal: String, Hashable, Sendable, CaseIterable {
  /// It is not for the owner.
  case unrelated
  /// The owner does not want to be woken for this topic.
  case off
  /// The owner wrote it, or paid the zap.
  case own
  /// It is too old to be news, or dated in the future; or it is a gift wrap that arrived while no stream was open.
  case old
  /// Its author, its conversation or its words are muted.
  case muted
  /// It names too many people to mean one of them.
  case crowd
  /// It is not what its kind promises: a zap receipt without an invoice, or without the payer's request.
  case malformed
}

/// What becomes of an event.
public enum EventVerdict: Hashable, Sendable {
  /// It wakes.
  case wakes(WakeTopic)
  /// It does not.
  case dismissed(EventDismissal)
}

/// When an event arrived.
public enum EventArrival: Hashable, Sendable {
  /// Now, or so recently that it is news.
  case live
  /// While no stream was open, at an unknown time.
  case past
}

/// Judges events.
public struct EventJudge: Hashable, Sendable {
  /// The oldest event that wakes, in seconds by its author's clock.
  public var ageSeconds: Int64

  /// How far into the past the date of a gift wrap is moved (NIP-59), in seconds.
  public static let wrapSeconds: Int64 = 2 * 86_400
  /// How far an author's clock may be ahead, in seconds.
  public static let aheadSeconds: Int64 = 900
  /// Most people that an event may name and still mean one of them.
  public static let crowdMaximum = 100
  /// Bytes of a text in which muted words are searched.
  public static let textByteCountMaximum = 16 << 10
  /// Texts that are mentions or replies: notes, threads, pictures, videos, polls, comments, voice messages, highlights.
  public static let textKinds: Set<UInt16> = [
    EventKind.textNote, 11, 20, 21, 22, 1_068, EventKind.comment, 1_222, 1_244, 9_802,
  ]
  /// All kinds that can wake, in order: the kinds that the event store gives to push-relay.
  public static let kinds = EventKind.wakingKinds.sorted()

  /// A judge. `ageSeconds`: the greatest age of news.
  public init(ageSeconds: Int64 = 600) { self.ageSeconds = ageSeconds }

  /// Judges one event, whose signature was verified, for one key.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - owner: the key that may be woken.
  ///   - rules: what its owner wants.
  ///   - mutes: the owner's public mute list, if there is one.
  ///   - arrival: when the event arrived; matters for gift wraps only.
  ///   - now: Unix seconds.
  public func judge(
    _ event: Event, for owner: PublicKey, _ rules: WakeRules, _ mutes: MuteList?, arrival: EventArrival, now: Int64
  ) -> EventVerdict {
    guard event.pubkey != owner else { return .dismissed(.own) }
    guard let topic = Self.topic(of: event, for: owner) else { return .dismissed(.unrelated) }
    guard rules.topics.contains(topic) else { return .dismissed(.off) }
    guard isNews(event, arrival, now: now) else { return .dismissed(.old) }
    let muted = Mutes(rules: rules, list: mutes)
    guard !muted.people(event.pubkey), !muted.tags(of: event) else { return .dismissed(.muted) }
    guard topic == .message || event.values(of: "p").count <= Self.crowdMaximum else { return .dismissed(.crowd) }
    switch topic {
    case .message, .repost: return .wakes(topic)
    case .mention, .reply, .reaction: return muted.text(event.content) ? .dismissed(.muted) : .wakes(topic)
    case .zap: return zap(event, for: owner, muted)
    }
  }

  private func isNews(_ event: Event, _ arrival: EventArrival, now: Int64) -> Bool {
    let isWrap = event.kind == EventKind.giftWrap
    if isWrap, arrival == .past { return false }
    let age = now.subtractingReportingOverflow(event.createdAt)
    guard !age.overflow else { return false }
    return (-Self.aheadSeconds...(ageSeconds + (isWrap ? Self.wrapSeconds : 0))).contains(age.partialValue)
  }

  private func zap(_ event: Event, for owner: PublicKey, _ muted: Mutes) -> EventVerdict {
    let receipt: ZapReceipt
    do throws(ZapFault) {
      receipt = try ZapReceipt(event)
      if let amount = receipt.amountMillisatoshis { try receipt.request.check(amountMillisatoshis: amount) }
    } catch { return .dismissed(.malformed) }
    let sender = receipt.request.sender
    guard receipt.recipient == owner else { return .dismissed(.unrelated) }
    guard sender != owner else { return .dismissed(.own) }
    return muted.people(sender) || muted.text(receipt.request.comment) ? .dismissed(.muted) : .wakes(.zap)
  }

  // MARK: Topic

  private static func topic(of event: Event, for owner: PublicKey) -> WakeTopic? {
    let people = event.values(of: "p").compactMap { PublicKey($0) }
    guard people.contains(owner) else { return nil }
    switch event.kind {
    case EventKind.giftWrap, EventKind.encryptedDirectMessage: return .message
    case EventKind.zapReceipt: return .zap
    case EventKind.repost, EventKind.genericRepost: return .repost
    // Clients name all participants of the conversation; the last `p` is the author of what was reacted to (NIP-25).
    case EventKind.reaction: return people.last == owner ? .reaction : nil
    case EventKind.comment: return people.first == owner ? .reply : .mention
    case _ where textKinds.contains(event.kind):
      guard let parent = ThreadPlace(tags: event.tags).parent else { return .mention }
      if let author = parent.author { return author == owner ? .reply : .mention }
      return names(owner, in: event.content) ? .mention : .reply
    default: return nil
    }
  }

  /// Whether a text names the owner (NIP-27).
  private static func names(_ owner: PublicKey, in text: String) -> Bool {
    ByteSearch.contains(Array("nostr:\(owner.npub)".utf8), in: Array(text.utf8.prefix(textByteCountMaximum)))
  }
}

/// What is muted, by the rules and by the mute list.
private struct Mutes {
  let rules: WakeRules
  let list: MuteList?

  func people(_ key: PublicKey) -> Bool { rules.mutedPeople.contains(key) || list?.people.contains(key) == true }

  func tags(of event: Event) -> Bool {
    let threads = (event.values(of: "e") + event.values(of: "E")).compactMap { EventID($0) }
    if threads.contains(where: { rules.mutedThreads.contains($0) || list?.threads.contains($0) == true }) {
      return true
    }
    return event.values(of: "t").contains { tag in
      let tag = tag.lowercased()
      return rules.mutedHashtags.contains(tag) || list?.hashtags.contains(tag) == true
    }
  }

  func text(_ text: String) -> Bool {
    guard !rules.mutedWords.isEmpty || list?.words.isEmpty == false else { return false }
    let bytes = Array(text.lowercased().utf8.prefix(EventJudge.textByteCountMaximum))
    func isIn(_ word: String) -> Bool { ByteSearch.contains(Array(word.utf8), in: bytes) }
    return rules.mutedWords.contains(where: isIn) || list?.words.contains(where: isIn) == true
  }
}

enum ByteSearch {
  /// Whether `bytes` contains `needle`.
  static func contains(_ needle: [UInt8], in bytes: [UInt8]) -> Bool {
    guard let first = needle.first, needle.count <= bytes.count else { return false }
    var start = 0
    let end = bytes.count - needle.count
    while start <= end {
      if bytes[start] == first, bytes[start..<(start + needle.count)].elementsEqual(needle) { return true }
      start += 1
    }
    return false
  }
}
