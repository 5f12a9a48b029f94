import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging

/// Which accounts there are, as the signer says: asked now and then, and when an author is not known.
@EventLoopActor
final class AccountSource {
  /// Called with all accounts.
  var onAccounts: (@EventLoopActor ([SignerAccount]) -> Void)?
  /// Whether the configuration has a signer that runs.
  var hasSigner = true

  private let bus: BusConnection
  private let log: Logger
  private let settled: Instant
  private let timer = LoopTimer()
  private var isAsking = false
  /// Raised when the signer has answered, or has not.
  private let answered = Signal()
  /// Authors who are no accounts, and when the signer said so.
  private var strangersAskedAt: [PublicKey: Instant] = [:]

  /// How often the signer is asked again, should its topic have said something that was not heard.
  private static let intervalMilliseconds: UInt64 = 30_000
  /// How long the signer may take.
  private static let answerMilliseconds: UInt32 = 5_000
  /// How long an author whom the signer does not know stays a stranger.
  static let strangerMilliseconds: UInt64 = 1_000
  /// Strangers remembered; then all are forgotten, and asked about again.
  private static let strangerMaximum = 1_024

  /// - Parameter settled: until then a signer that is not there may only be late.
  init(_ bus: BusConnection, settled: Instant, _ log: Logger) {
    (self.bus, self.settled, self.log) = (bus, settled, log)
  }

  /// Asks, unless the signer is being asked already.
  func ask() {
    timer.set(afterMilliseconds: Self.intervalMilliseconds) { [unowned self] in ask() }
    guard !isAsking else { return }
    let signers = bus.registry.members.filter { $0.role == Role.signer.name }
    guard hasSigner || signers.contains(where: \.isReady) else {
      // None is to run, and none was attached: there is no account.
      onAccounts?([])
      return
    }
    // Right after a start it may be only late.
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
        // No signer holds keys here, and so there is no account. One that was stopped, or has failed, may be back.
        onAccounts?([])
      } catch {
        log.debug("the signer does not say which accounts there are", metadata: ["why": "\(error.message)"])
      }
      isAsking = false
      answered.raise()
    }
  }

  /// Asks, and waits for an answer to a question of now: an answer on its way may be from before.
  func askAfresh() async {
    if isAsking { _ = await answered.wait() }
    ask()
    if isAsking { _ = await answered.wait() }
  }

  /// Asks no more.
  func end() { timer.cancel() }

  // MARK: Strangers

  /// Whether the signer has just said that it does not know this author: events of strangers may come by the thousand.
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
