import Bus
import Contracts
import Cryptography
import EventArchive
import EventGate
import EventLoop
import Frames
import Nostr
import NostrContracts
import Storage
import WorkerKit

/// Serves `account.forget`: removes the events that only one account wanted.
@EventLoopActor
final class ForgetService {
  private let reads: ArchiveReads
  private let chores: ChoreRunner
  private var isForgetting = false

  /// How long another removal may take before the caller comes again.
  private static let retryMilliseconds: UInt32 = 1_000

  init(_ worker: Worker, _ reads: ArchiveReads, _ chores: ChoreRunner) {
    (self.reads, self.chores) = (reads, chores)
    worker.serve(AccountMethod.forget) { [unowned self] (request, wanted) throws(Refusal) in
      try await forget(request, wanted)
    }
  }

  private func forget(_ request: BusRequest, _ wanted: AccountForget) async throws(Refusal) -> AccountForgotten {
    let account = try Self.key(wanted.account, "account")
    var others: Set<PublicKey> = []
    for text in wanted.others { others.insert(try Self.key(text, "others")) }
    var kept: [Filter] = []
    for (index, value) in (wanted.keep ?? []).enumerated() {
      do throws(FilterFault) { kept.append(try Filter(json: JSONPayload.encode(value))) } catch {
        throw Refusal(.badRequest, "'keep[\(index)]': \(error)", outcome: .notStarted)
      }
    }
    guard !isForgetting, !chores.isBoundedFull else {
      throw Refusal(
        .unavailable, "other removals are under way", outcome: .notStarted,
        retryAfterMilliseconds: Self.retryMilliseconds)
    }
    isForgetting = true
    defer { isForgetting = false }
    // It takes as long as it takes to read all of it, and to remove it.
    request.accept()
    let keptAuthors = chores.schedule.retention.keptAuthors
    let forgotten = ForgottenAccount(account, others: others, keptAuthors: keptAuthors, kept: kept)
    let archive = reads.archive
    let events = try await reads.measured { () throws(StorageFault) in
      try await archive.wanted(only: forgotten, now: Store.now)
    }
    do throws(StorageFault) {
      _ = try await chores.remove(events.seqs, isForgetting: true)
      let notes = try await archive.forgetNotes(of: account, events.people)
      // The lists say whose events are looked for: they go when nothing else is found, as the caller asks again.
      let lists = events.seqs.isEmpty ? events.lists : []
      _ = try await chores.remove(lists, isForgetting: true)
      var isFirst = true
      while try await !archive.mergeWords(isFirst: isFirst) { isFirst = false }
      let result = try await archive.scrubFile()
      return AccountForgotten(
        [
          AccountForgotten.Part("events that it wrote", events.own.count + lists.count),
          AccountForgotten.Part("events that name it, messages to it among them", events.naming.count),
          AccountForgotten.Part("events of people whom only it followed", events.followed.count),
          AccountForgotten.Part("notes on what was fetched for it", notes),
        ], remark: Self.remark(events.sharedCount, keptAuthors.contains(account), result))
    } catch {
      throw reads.health.refusal(error)
    }
  }

  private static func remark(_ sharedCount: Int, _ isKeptAuthor: Bool, _ result: ScrubResult) -> String? {
    var sentences: [String] = []
    if isKeptAuthor {
      sentences.append("'keep-authors' of the event store names it, so what it wrote stays")
    } else if sharedCount > 0 {
      sentences.append(
        "\(Amount.count(sharedCount, "event")) that it wrote, or that name it, stay: they concern another account too, "
          + "or a filter of [worker.mirror.keep] keeps them")
    }
    if result == .tooLarge {
      sentences.append(
        "the database is too large to be built again: every removed event is overwritten, but pages that an earlier "
          + "version of Roost has freed may hold old copies")
    }
    return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
  }

  private static func key(_ text: String, _ name: String) throws(Refusal) -> PublicKey {
    guard let key = PublicKey(text) else {
      throw Refusal(
        .badRequest, "'\(name)': not 64 lower-case hexadecimal digits", outcome: .notStarted)
    }
    return key
  }
}
