import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import ListEditing
import Nostr
import NostrContracts
import PeopleLedger
import WorkerKit

/// Has relays asked for the newest version of lists, and remembers which have answered.
@EventLoopActor
final class FreshnessAsker {
  /// What is asked for at once: all lists of which an account has one, or one other list.
  private struct Question: Hashable {
    var account: PublicKey
    var kind: UInt16?
    var identifier: String
  }
  /// What became of a question.
  struct Finding {
    /// Whether it is proven.
    var freshness: ListFreshness
    /// When relays were asked last, seconds since 1970.
    var at: Int64
  }

  private let worker: Worker
  private var answers: [Question: [RelayURL: ListFreshness.Answer]] = [:]
  private var times: [Question: Int64] = [:]
  private var connectedSince: [RelayURL: Int64] = [:]
  /// Questions that relays are being asked.
  private var asking: Set<Question> = []
  private let asked = Signal()

  /// How long relays have to answer, in seconds.
  private static let seconds = 15
  /// How long a connector has for ending a back-off.
  private static let retryMilliseconds: UInt32 = 1_000
  /// How long the planner has for hearing that a relay is dialled.
  private static let reportMilliseconds: UInt64 = 300
  /// The most relays that an account is taken to write to, as the planner has it.
  private static let relayMaximum = 16
  /// The most relays whose connections are remembered.
  private static let relayTimeMaximum = 10_000
  /// The most questions that are remembered.
  private static let questionMaximum = 1_000
  private static let single = Set(ListEntries.kinds.filter { KindClass($0) == .replaceable })

  init(_ worker: Worker) { self.worker = worker }

  private func question(_ key: ListKeeper.ListKey) -> Question {
    Self.single.contains(key.kind)
      ? Question(account: key.account, kind: nil, identifier: "")
      : Question(account: key.account, kind: key.kind, identifier: key.identifier)
  }

  /// Relays are connected since these times, in seconds since 1970. What one has answered before holds no longer: what
  /// has come there between two connections was not seen.
  func connected(_ relays: [RelayURL: Int64]) {
    if connectedSince.count + relays.count > Self.relayTimeMaximum { connectedSince = [:] }
    connectedSince.merge(relays) { _, new in new }
  }

  /// The answers that still hold.
  private func held(_ question: Question) -> [RelayURL: ListFreshness.Answer]? {
    guard var found = answers[question] else { return nil }
    for (relay, answer) in found {
      if case .answered(let at) = answer, let since = connectedSince[relay], at <= since { found[relay] = .silent }
    }
    return found
  }

  /// What is known of a list without asking.
  func known(_ key: ListKeeper.ListKey) -> Finding? {
    let question = question(key)
    guard let answers = held(question), let at = times[question] else { return nil }
    return Finding(
      freshness: ListFreshness(relays: Array(answers.keys), answers: answers, now: WallClock.seconds), at: at)
  }

  /// Whether what is here is the newest version, by the word of relays: they are asked unless they have answered a
  /// short time ago.
  func prove(_ key: ListKeeper.ListKey) async throws(Refusal) -> ListFreshness {
    let question = question(key)
    let relays = try await writes(key.account)
    // A second edit waits for the answers to the first.
    await asked.wait { !asking.contains(question) }
    let present = ListFreshness(relays: relays, answers: held(question) ?? [:], now: WallClock.seconds)
    if present.isFresh || relays.isEmpty { return present }
    asking.insert(question)
    defer {
      asking.remove(question)
      asked.raise()
    }
    // What a relay has answered a short time ago holds when it is away now.
    let first = try await ask(question, relays)
    var found = Self.joined(held(question), first)
    let away = relays.filter { found[$0] == .unreachable }
    if !ListFreshness(relays: relays, answers: found, now: WallClock.seconds).isFresh, !away.isEmpty {
      await endBackOff(of: away)
      found = Self.joined(found, try await ask(question, away))
    }
    // An account moves to other relays.
    found = found.filter { relays.contains($0.key) }
    if answers.count >= Self.questionMaximum { (answers, times) = ([:], [:]) }
    (answers[question], times[question]) = (found, WallClock.seconds)
    return ListFreshness(relays: relays, answers: found, now: WallClock.seconds)
  }

  /// The later answers; but an answer is not undone by silence.
  private static func joined(
    _ earlier: [RelayURL: ListFreshness.Answer]?, _ later: [RelayURL: ListFreshness.Answer]
  ) -> [RelayURL: ListFreshness.Answer] {
    (earlier ?? [:]).merging(later) { old, new in
      if case .answered = old, new == .unreachable || new == .silent { return old }
      return new
    }
  }

  /// A relay that was away may be back, and its connector waits before it tries again: up to five minutes, which is
  /// long for a person.
  private func endBackOff(of relays: [RelayURL]) async {
    let asked = relays.map { relay in
      EventLoopActor.task { [self] in
        // `try?`: one that no connector dials is still away. Whichever is asked hands it to the one that dials.
        _ = try? await worker.bus.request(
          RelayMethod.retry, RelayRetry(relay: relay.text, onlyBackOff: true),
          ttlMilliseconds: Self.retryMilliseconds)
      }
    }
    for one in asked { await one.value }
    // The planner has to hear of it first.
    await EventLoopActor.sleep(milliseconds: Self.reportMilliseconds)
  }

  private func ask(
    _ question: Question, _ relays: [RelayURL]
  ) async throws(Refusal) -> [RelayURL: ListFreshness.Answer] {
    var filter = Filter(authors: [question.account], kinds: question.kind.map { [$0] } ?? Self.single.sorted())
    if question.kind.map(KindClass.init) == .addressable, let letter = TagLetter("d") {
      filter.tags[letter] = [TagValue(question.identifier)]
    }
    var wanted = PlanWant(filters: [JSONValue(of: filter)], depth: .newest, urgency: .lookUp)
    (wanted.relays, wanted.exclusiveRelays, wanted.seconds) = (relays.map(\.text), true, Self.seconds)
    var answers: [RelayURL: ListFreshness.Answer] = [:]
    let answer = try await worker.bus.ask(PlanMethod.want, wanted)
    while let item = try await answer.next() {
      guard case .end(let end) = item else { continue }
      for relay in end.relays {
        // `try?`: the planner has these URLs from here.
        guard let url = try? RelayURL(relay.relay) else { continue }
        answers[url] =
          switch relay.state {
          case .stored: .answered(at: WallClock.seconds)
          // It cannot be reached, or it does not say what it has.
          case .waiting, .refused: .unreachable
          case .asked: relay.reason == nil ? .silent : .unreachable
          }
      }
    }
    // A relay that no connector dials cannot be reached.
    for relay in relays where answers[relay] == nil { answers[relay] = .unreachable }
    return answers
  }

  /// The relays that an account writes to: those of its list, else the configured ones.
  private func writes(_ account: PublicKey) async throws(Refusal) -> [RelayURL] {
    let filter = Filter(authors: [account], kinds: [EventKind.relayList], limit: 1)
    let answer = try await worker.bus.ask(
      StoreMethod.query, StoreQuery(filters: [JSONValue(of: filter)]), ttlMilliseconds: ListKeeper.answerMilliseconds)
    var list: RelayList?
    while let part = try await answer.nextPart() {
      // `try?`: the store has verified it, and was asked for this kind.
      list = (try? Event(json: part.bytes)).flatMap { try? RelayList($0) }
    }
    let named = list?.writeRelays ?? []
    guard named.isEmpty else { return Array(named.prefix(Self.relayMaximum)) }
    let known = try await worker.bus.request(
      PlanMethod.relays, NoArguments(), ttlMilliseconds: ListKeeper.answerMilliseconds)
    // Those that other accounts name are not this one's. `try?`: the planner gives canonical URLs.
    let own = known.relays.filter { relay in
      relay.writes && relay.sources.contains { $0.hasPrefix("supervisor.conf") || $0 == "added" }
    }
    return own.prefix(Self.relayMaximum).compactMap { try? RelayURL($0.relay) }
  }
}
