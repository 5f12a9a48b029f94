import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging

/// Requests the list of accounts from the signer: at intervals, and when an author is unknown.
@EventLoopActor
final class AccountSource {
  /// Called with all accounts.
  var onAccounts: (@EventLoopActor ([SignerAccount]) -> Void)?
  /// Whether the configuration has a signer that is to run.
  var hasSigner = true

  private let bus: BusConnection
  private let log: Logger
  private let settled: Instant
  private let timer = LoopTimer()
  private var isAsking = false
  /// Raised at the end of each request, answered or failed.
  private let answered = Signal()
  /// Authors that are no accounts, with the time when the signer said so.
  private var strangersAskedAt: [PublicKey: Instant] = [:]

  /// How often the list is requested again, in case a message of the signer's topic was lost.
  private static let intervalMilliseconds: UInt64 = 30_000
  /// How long the signer may take to answer.
  private static let answerMilliseconds: UInt32 = 5_000
  /// How long an unknown author counts as a stranger before the next request.
  static let strangerMilliseconds: UInt64 = 1_000
  /// Strangers remembered; at the limit all are forgotten.
  private static let strangerMaximum = 1_024

  /// - Parameter settled: until then, a missing signer may only be late.
  init(_ bus: BusConnection, settled: Instant, _ log: Logger) {
    (self.bus, self.settled, self.log) = (bus, settled, log)
  }

  /// Requests the accounts, unless a request is in flight.
  func ask() {
    timer.set(afterMilliseconds: Self.intervalMilliseconds) { [unowned self] in ask() }
    guard !isAsking else { return }
    let signers = bus.registry.members.filter { $0.role == Role.signer.name }
    guard hasSigner || signers.contains(where: \.isReady) else {
      // No signer is configured, and no other one is attached: there is no account.
      onAccounts?([])
      return
    }
    // Right after a start the signer may only be late.
    if EventLoop.process.now < settled, signers.isEmpty {
      return timer.set(at: settled) { [unowned self] in ask() }
    }
    isAsking = true
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let answer = try await bus.request(
          SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.answerMilliseconds)
        onAccounts?(answer.accounts)
      } catch  where error.reason == .notConfigured {
        // No signer is configured, so there is no account. After other errors the accounts stay: the signer may return.
        onAccounts?([])
      } catch {
        log.debug("the signer does not say which accounts there are", metadata: ["why": "\(error.message)"])
      }
      isAsking = false
      answered.raise()
    }
  }

  /// Requests the accounts, and waits for the answer. An earlier request may be answered with an older list, so its end
  /// is awaited first.
  func askAfresh() async {
    if isAsking { _ = await answered.wait() }
    ask()
    if isAsking { _ = await answered.wait() }
  }

  /// Stops the requests.
  func end() { timer.cancel() }

  // MARK: Strangers

  /// Whether the signer has just said that it does not know this author. Events of strangers may arrive by the
  /// thousand.
  func isStranger(_ author: PublicKey) -> Bool {
    strangersAskedAt[author].map {
      EventLoop.process.now.milliseconds(since: $0) < Self.strangerMilliseconds
    } ?? false
  }

  /// The signer does not know this author.
  func noteStranger(_ author: PublicKey) {
    if strangersAskedAt.count >= Self.strangerMaximum { strangersAskedAt = [:] }
    strangersAskedAt[author] = EventLoop.process.now
  }
}
