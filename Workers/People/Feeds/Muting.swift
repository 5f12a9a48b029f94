public import Cryptography
internal import JSON
public import Nostr

// What a mute list keeps out (kind 10000, NIP-51): all that a muted person wrote, also in a repost or with a zap by
// another; all of a muted conversation; all with a muted hashtag or word. Words are looked for in the content, in the
// title of an article, and in the text that a repost contains.

/// What an account has muted, in public and in private.
public struct Muting: Sendable {
  private let list: MuteList?

  /// Bytes of a text in which words are looked for. What is longer is an article, and a word in its middle is not what
  /// it is about.
  public static let textByteCountMaximum = 64 << 10
  /// Tags whose values are shown as text.
  private static let titleTags: Set<String> = ["title", "subject", "summary", "alt"]

  /// Nothing is muted.
  public init() { list = nil }

  /// - Parameters:
  ///   - event: the list, of kind 10000.
  ///   - hidden: its decrypted entries.
  public init(_ event: Event, hidden: [[String]]) {
    do throws(KindFault) { list = try MuteList(event, hidden: hidden) } catch {
      preconditionFailure("it is a list of mutes: \(error)")
    }
  }

  /// Whether nothing is muted.
  public var isEmpty: Bool {
    guard let list else { return true }
    return list.people.isEmpty && list.threads.isEmpty && list.hashtags.isEmpty && list.words.isEmpty
  }

  /// Whether a person is muted.
  public func mutes(_ person: PublicKey) -> Bool { list?.people.contains(person) == true }

  /// Whether an event is kept out.
  public func mutes(_ event: Event) -> Bool {
    guard let list, !isEmpty else { return false }
    if mutesOwn(event, list) { return true }
    switch event.kind {
    case EventKind.repost, EventKind.genericRepost: return mutesReposted(event, list)
    case EventKind.zapReceipt: return mutesZap(event, list)
    default: return false
    }
  }

  private func mutesOwn(_ event: Event, _ list: MuteList) -> Bool {
    if list.people.contains(event.pubkey) || list.threads.contains(event.id) { return true }
    if !list.threads.isEmpty {
      let named = event.values(of: "e") + event.values(of: "E") + event.values(of: "q")
      if named.contains(where: { EventID($0).map(list.threads.contains) ?? false }) { return true }
    }
    if !list.hashtags.isEmpty, event.values(of: "t").contains(where: { list.hashtags.contains($0.lowercased()) }) {
      return true
    }
    guard !list.words.isEmpty else { return false }
    // The content of a repost is an event as JSON; of a zap it is empty.
    let isText = ![EventKind.repost, EventKind.genericRepost, EventKind.zapReceipt].contains(event.kind)
    let titles = event.tags.filter { $0.count > 1 && Self.titleTags.contains($0[0]) }.map { $0[1] }
    return ((isText ? [event.content] : []) + titles).contains { mutes(text: $0, list) }
  }

  /// A repost says with `p` whose event it repeats, and may contain the event.
  private func mutesReposted(_ event: Event, _ list: MuteList) -> Bool {
    let authors = event.values(of: "p").compactMap { PublicKey($0) }
    if authors.contains(where: list.people.contains) { return true }
    guard !event.content.isEmpty else { return false }
    // `try?`: a content that is no event has no author and no text to show.
    guard let inner = try? Event(json: Array(event.content.utf8)) else { return false }
    return mutesOwn(inner, list)
  }

  private func mutesZap(_ event: Event, _ list: MuteList) -> Bool {
    // `try?`: what is no receipt is shown nowhere as one.
    guard let receipt = try? ZapReceipt(event) else { return false }
    return mutesOwn(receipt.request.event, list)
  }

  private func mutes(text: String, _ list: MuteList) -> Bool {
    let bytes = Array(text.lowercased().utf8.prefix(Self.textByteCountMaximum))
    return list.words.contains { word in
      let needle = Array(word.utf8)
      return !needle.isEmpty && bytes.firstRange(of: needle) != nil
    }
  }
}
