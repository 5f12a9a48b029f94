internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Nostr
internal import Rendering
internal import RoostClient

/// What those write whom one person follows (kind 3). When the list changes, added people are observed in addition, and
/// removed people are no longer shown. The others are not requested again.
@EventLoopActor
final class FollowedObserve {
  /// People who are observed together.
  private final class Group {
    let people: [PublicKey]
    var task: Task<Void, Never>?

    init(_ people: [PublicKey]) { self.people = people }
  }

  private let session: CommandSession
  private let person: PublicKey
  private let filters: [Filter]
  private let after: Int64?
  private let options: ObserveOptions
  private let show: @EventLoopActor (ObservedItem) async -> Void
  /// Called for the people who are observed first.
  private let begun: @EventLoopActor ([Filter]) -> Void
  private var groups: [Group] = []
  private var followed: Set<PublicKey> = []
  private var newest: (createdAt: Int64, id: EventID)?
  private var groupsInStore = 0
  private var storedSeq: Int64?
  private var lastSeq: Int64?
  private var failure: Refusal?
  private let hasFailed = Signal()

  /// People of one observation: their keys and the filter fit a frame.
  private static let groupMaximum = 8_192
  /// Groups after which they are observed together again.
  private static let groupCountMaximum = 16

  init(
    _ session: CommandSession, _ person: PublicKey, _ filters: [Filter], after: Int64?, _ options: ObserveOptions,
    begun: @escaping @EventLoopActor ([Filter]) -> Void, show: @escaping @EventLoopActor (ObservedItem) async -> Void
  ) {
    (self.session, self.person, self.filters, self.after, self.options) = (session, person, filters, after, options)
    (self.begun, self.show) = (begun, show)
  }

  /// Runs until the command is interrupted, or an observation is refused.
  func run() async throws(Refusal) {
    let list = EventLoopActor.task { [self] in await followList() }
    while failure == nil { _ = await hasFailed.wait() }
    list.cancel()
    for group in groups { group.task?.cancel() }
    if let failure { throw failure }
  }

  private func followList() async {
    do throws(Refusal) { try await observeList() } catch { failed(error) }
  }

  private func observeList() async throws(Refusal) {
    let list = Filter(authors: [person], kinds: [EventKind.follows], limit: 1)
    var listOptions = options
    (listOptions.relays, listOptions.isExclusive) = ([], false)
    var stored: Event?
    var isStored = false
    for try await item in session.client.observe([list], options: listOptions) {
      switch item {
      case .storedEnd:
        isStored = true
        if let stored {
          take(stored)
        } else {
          let rest = options.policy == .cacheOnly ? "" : " yet; relays are asked"
          session.note("-- whom \(person.npub) follows is not known here\(rest)", .warning)
        }
      case .event(let received):
        // The newest one decides, and before the end of the stored ones it is not known which that is.
        if isStored { take(received.event) } else { stored = received.event }
      }
    }
  }

  private func take(_ event: Event) {
    // The filter asks for this kind.
    guard let list = try? FollowList(event) else { return }
    if let newest, (event.createdAt, newest.id) <= (newest.createdAt, event.id) { return }
    let newestWasKnown = newest != nil
    newest = (event.createdAt, event.id)
    let now = Set(list.follows.map(\.pubkey))
    let (new, gone) = (now.subtracting(followed), followed.subtracting(now))
    if newestWasKnown, !new.isEmpty || !gone.isEmpty {
      session.note("-- the list of follows has changed: \(new.count) more, \(gone.count) fewer")
    }
    if now.isEmpty { session.note("-- \(person.npub) follows no key", .warning) }
    let isFirst = groups.isEmpty
    followed = now
    if groups.count + new.count / Self.groupMaximum >= Self.groupCountMaximum {
      for group in groups { group.task?.cancel() }
      groups = []
      if storedSeq == nil { groupsInStore = 0 }
      add(now, after: storedSeq == nil ? after : lastSeq)
    } else {
      add(new, after: after)
    }
    if isFirst, let group = groups.first { begun(narrowed(to: group.people)) }
  }

  private func narrowed(to people: [PublicKey]) -> [Filter] {
    filters.map { filter in
      var filter = filter
      filter.authors = people
      return filter
    }
  }

  private func add(_ people: Set<PublicKey>, after seq: Int64?) {
    let sorted = people.sorted()
    for start in stride(from: 0, to: sorted.count, by: Self.groupMaximum) {
      let group = Group(Array(sorted[start..<min(start + Self.groupMaximum, sorted.count)]))
      groups.append(group)
      if storedSeq == nil { groupsInStore += 1 }
      group.task = EventLoopActor.task { [self] in await observe(group, after: seq) }
    }
  }

  private func observe(_ group: Group, after seq: Int64?) async {
    do throws(Refusal) {
      for try await item in session.client.observe(narrowed(to: group.people), after: seq, options: options) {
        guard !Task.isCancelled else { return }
        await took(item)
      }
    } catch { if !Task.isCancelled { failed(error) } }
  }

  private func took(_ item: ObservedItem) async {
    switch item {
    case .event(let received):
      if let seq = received.seq { lastSeq = max(lastSeq ?? 0, seq) }
      if followed.contains(received.event.pubkey) { await show(item) }
    case .storedEnd(let seq):
      guard storedSeq == nil else { return }
      groupsInStore -= 1
      lastSeq = max(lastSeq ?? 0, seq)
      guard groupsInStore == 0 else { return }
      storedSeq = seq
      await show(item)
    }
  }

  /// An observation was refused, which ends the command.
  private func failed(_ refusal: Refusal) {
    failure = failure ?? refusal
    hasFailed.raise()
  }
}
