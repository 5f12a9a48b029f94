import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import KeyStore
import Logging
import Nostr
import Signing
import WorkerKit

// The shell around `SignerMachine`: reads requests, performs the machine's actions, and holds the keys, which the
// machine does not know. An open key is in `SecretMemory` and in `open`. Locking an account drops it, and the last
// reference wipes it.

/// Serves `signer.*`.
@EventLoopActor
final class SignerService {
  /// An account, with its key if it is open.
  struct Account {
    var stored: StoredKey
    var origin: SignerAccount.Origin
    var open: SecretKey?
  }
  private struct InHand {
    let request: BusRequest
    let job: SignerJob
    let method: SignerOperation
  }

  let worker: Worker
  let log = Logger(label: "signer")
  var machine: SignerMachine
  var accounts: [String: Account] = [:] {
    didSet { conversations.keep(only: Set(accounts.values.compactMap { $0.open?.publicKey })) }
  }
  /// Keys of conversations of the accounts that are open.
  let conversations = ConversationCache()
  /// Which wraps are opened next, and the runs that they are of.
  var opening = OpeningQueue(coreCount: coreCount)
  var openings: [SignerMachine.Key: Opening] = [:]
  /// Problems of the key files at the last check, and of credentials at the start.
  var fileProblems: [KeyProblem] = []
  var credentialProblems: [KeyProblem] = []
  let directory: KeyDirectory
  /// As in the file.
  var choices = AccountChoices()
  /// Made at each start; callers encrypt passphrases for it.
  let sealingKey = SecretKey.generate()
  /// Whether a key is being made, unlocked, stored or removed: one at a time, because each may take 2 GiB and ten
  /// seconds.
  var isHandlingKeys = false
  /// Counts these operations.
  var keyChangeCount: UInt64 = 0

  private let audit = Logger(label: "audit")
  private let credentials: String?
  private var callers: CallerTable
  private var inHand: [SignerMachine.Key: InHand] = [:]
  private var nextKey: UInt64 = 1
  private let timer = LoopTimer()
  private var lastAccounts: [SignerAccount] = []
  /// The last publication to the topic, while it is in flight.
  private var telling: Task<Void, Never>?

  init(_ worker: Worker, _ paths: SignerPaths) throws(Refusal) {
    self.worker = worker
    credentials = paths.credentials
    callers = CallerTable(worker.bus.registry)
    machine = SignerMachine(policy: try Self.policy(of: worker))
    guard let state = paths.state else {
      throw Refusal(.failed, "ROOST_STATE is not set to a directory: there is no place for keys")
    }
    do throws(KeyStoreFault) { directory = try KeyDirectory(path: state + "/keys") } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, "\(error)")
    }
  }

  private static func policy(of worker: Worker) throws(Refusal) -> SigningPolicy {
    let settings = try worker.settings(of: SignerSettings.self)
    do throws(PolicyFault) {
      return try SigningPolicy(rules: settings.signKinds, providerAccounts: settings.workerAccounts)
    } catch {
      throw Refusal(.failed, "\(error)")
    }
  }

  /// Reads the keys, unlocks those with a credential, and serves.
  func start() async throws(Refusal) {
    if !SecretMemory.isLocked {
      log.warning("keys are not locked into memory and may come to a swap partition; raise LimitMEMLOCK (ulimit -l)")
    }
    loadChoices()
    try loadKeys()
    if let credentials { await takeCredentials(credentials) }
    // Only now all accounts are known.
    adoptChosen()
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onDrain = { [unowned self] in perform(machine.draining()) }
    worker.bus.onRegistry = { [unowned self] in registryChanged($0) }
    for operation in SignerOperation.allCases {
      worker.serve(operation.method) { [unowned self] request throws(Refusal) in try received(operation, request) }
    }
    serveBackup()
    tellStatus()
  }

  /// Serves `backup.*`: the key files, as encrypted as they are.
  private func serveBackup() {
    worker.serveBackup(in: directory.path) { [directory] _ throws(Refusal) in
      let names: [String]
      do throws(KeyStoreFault) { names = try directory.names() } catch { throw Self.refusal(error) }
      var files: [String: HeldFile] = [:]
      if let choices = directory.choices(), choices != AccountChoices() {
        files["keys/\(KeyDirectory.choicesName)"] = .small { () throws(Refusal) in choices.contents }
      }
      for name in names {
        files["keys/\(name)"] = .small { () throws(Refusal) in
          do throws(KeyStoreFault) { return try directory.bytes(of: name) } catch { throw Self.refusal(error) }
        }
      }
      return files
    }
  }

  private nonisolated static func refusal(_ fault: KeyStoreFault) -> Refusal {
    Refusal(fault.mayPass ? .unavailable : .failed, "\(fault)", outcome: .notStarted)
  }

  private func settingsChanged() {
    do throws(Refusal) { machine.policy = try Self.policy(of: worker) } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  private func registryChanged(_ registry: Registry) {
    callers.adopt(registry)
    machine.connectorsChanged(callers.connectors)
  }

  // MARK: Requests

  private func received(_ method: SignerOperation, _ request: BusRequest) throws(Refusal) -> BusPayload? {
    let (job, use) = try SignerJob.read(method, request, from: callers.caller(request.caller, role: request.callerRole))
    let key = SignerMachine.Key(nextKey)
    nextKey += 1
    inHand[key] = InHand(request: request, job: job, method: method)
    perform(machine.received(key, use, at: EventLoop.process.now))
    return nil
  }

  func perform(_ actions: [SignerMachine.Action]) {
    for action in actions {
      switch action {
      case .perform(let key, let account): begin(key, account)
      case .refuse(let key, let refusal): inHand.removeValue(forKey: key)?.request.refuse(refusal)
      case .hold(let key): hold(key)
      case .audit(let line): write(line)
      case .setTimer(let instant): setTimer(instant)
      }
    }
    if !actions.isEmpty { tellStatus() }
  }

  private func hold(_ key: SignerMachine.Key) {
    guard let item = inHand[key] else { return }
    // It waits for a person, so the hub must not take the worker for stuck.
    item.request.accept()
    item.request.onCancel = { [unowned self] in perform(machine.cancelled(key)) }
  }

  private func setTimer(_ instant: Instant?) {
    guard let instant else {
      timer.cancel()
      return
    }
    let now = EventLoop.process.now
    // One more, because a started millisecond counts as over.
    timer.set(afterMilliseconds: instant > now ? instant.milliseconds(since: now) + 1 : 1) { [unowned self] in
      perform(machine.timerFired(at: EventLoop.process.now))
    }
  }

  private func begin(_ key: SignerMachine.Key, _ account: String?) {
    guard let item = inHand[key] else { return }
    item.request.onCancel = nil
    if item.method.needsKey {
      guard let name = account, let secret = accounts[name]?.open else {
        preconditionFailure("the machine lets only uses of open keys through")
      }
      if case .open(let run) = item.job { return beginOpening(key, run, of: name, for: item.request) }
      let maximum = EventLimit.byteCountMaximum(frameLimit: worker.bus.welcome.frameLimit)
      let use = KeyUse(key: secret, eventByteCountMaximum: maximum)
      finish(key, Result { () throws(Refusal) in try sendable(try use.perform(item.job, item.method)) })
      return
    }
    // It may take as long as deriving a key from a passphrase.
    item.request.accept()
    EventLoopActor.task { [self] in
      do throws(Refusal) { finish(key, .success(try await handle(item.job))) } catch { finish(key, .failure(error)) }
    }
  }

  /// An answer too large for a frame is refused: the use of a key counts as done only if the caller receives its
  /// result.
  private func sendable(_ answer: BusPayload) throws(Refusal) -> BusPayload {
    let maximum = worker.bus.welcome.frameLimit - FrameHeader.lengthMinimum
    guard answer.bytes.count > maximum else { return answer }
    throw Refusal(
      .badRequest,
      "the answer would have \(answer.bytes.count) bytes, and a frame carries at most \(maximum): nothing was signed or "
        + "encrypted; 'frame-limit' in supervisor.conf is how much that is", outcome: .notStarted)
  }

  func finish(_ key: SignerMachine.Key, _ result: Result<BusPayload, Refusal>) {
    guard let item = inHand.removeValue(forKey: key) else { return }
    // Write the audit line first: then it records the signature even if the process dies right after the answer.
    switch result {
    case .success(let payload):
      perform(machine.finished(key))
      item.request.respond(payload)
    case .failure(let refusal):
      perform(machine.finished(key, refusal: refusal.code))
      item.request.refuse(refusal)
    }
  }

  private func write(_ line: AuditLine) {
    var fields: Logger.Metadata = [
      "who": "\(line.use.caller.name)", "role": "\(line.use.caller.role)", "result": "\(line.result)",
    ]
    // A name that is no account may be anything the caller typed, so it is not logged.
    if let account = line.account ?? line.use.account, line.result == "done" || accounts[account] != nil {
      fields["account"] = "\(account)"
    }
    if let kind = line.use.kind { fields["kind"] = "\(kind)" }
    if line.use.method == .open { fields["wraps"] = "\(line.use.wrapCount)" }
    if let relay = line.use.relay { fields["relay"] = "\(relay)" }
    // Listing the accounts uses no key, and idle workers do it all day.
    let level: Logger.Level = line.use.method == .accounts && line.result == "done" ? .debug : .info
    audit.log(level: level, "\(line.use.method.name)", metadata: fields)
  }

  // MARK: Status

  private var lastStatus = ""

  func tellStatus() {
    tellAccounts()
    var text = machine.summary + problemSummary
    if !SecretMemory.isLocked { text += ", memory not locked" }
    guard text != lastStatus else { return }
    lastStatus = text
    worker.bus.sendStatus(StatusReport(text: text))
  }

  /// Waits until the topic's message has left. A caller that changes accounts is answered after that, so its next
  /// request reaches workers that know the change.
  func awaitTelling() async { await telling?.value }

  /// Publishes the accounts if they have changed since the last time.
  private func tellAccounts() {
    let present = overview.accounts
    guard present != lastAccounts else { return }
    lastAccounts = present
    telling = EventLoopActor.task { [worker, telling] in
      await telling?.value
      // A subscriber that misses it requests the accounts at intervals.
      do throws(Refusal) {
        try await worker.bus.publish(SignerTopic.changes, SignerChanges(accounts: present))
      } catch {}
    }
  }
}
