import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import WorkerLedger
import Logging
import PushDelivery
import PushLedger
import Storage

// The shell of the delivery queue (`board`): it hands in the wakes of the ledger's queue, sends what the delivery queue
// decides, and writes the results.
//
//    ledger's queue ─▶ DeliveryQueue ─▶ Courier of the platform ─▶ verdict ─▶ DeliveryQueue ─▶ PushWriter
//
// The ledger is read in the order of its numbers, each wake once; wakes for which the delivery queue had no room are
// read again when it asks for more. An ended wake stays in the ledger until its end is written, so a second reading
// asks the writer which wakes have ended.

/// Delivers the waiting wakes.
@EventLoopActor
final class Dispatcher {
  private(set) var board: DeliveryQueue
  private(set) var figures: [PushPlatform: Figures] = [:]
  private(set) var ended: [WakeOutcome: UInt64] = [:]
  /// What is wrong with a provider now, by platform.
  private(set) var troubles: [PushPlatform: PushReason] = [:]
  /// The reasons for which a working platform refuses single pushes.
  private(set) var remarks = PlatformRemarks()
  /// Called when a wake reached no device because its platforms refuse it.
  var onFailed: ((Wake) -> Void)?
  /// Wakes whose outcome a caller waits for.
  var trials = SendTrials()
  /// Raised when a platform has answered.
  let verdictNoted = Signal()
  let couriers: Couriers

  private let ledger: PushLedger
  private let writer: PushWriter
  private let classes: WakeClasses
  private let messages: PushMessageSettings
  private let proved: ProvedPlatforms
  private let log: Logger
  private let timer = LoopTimer()
  /// The pause before the queue is read.
  private let pause = LoopTimer()
  /// Wakes up to this number were handed to the delivery queue: it has them, had them, or will ask for them.
  private var lastNumber: Int64 = 0
  private var news = DeviceNews()
  private var isReading = false
  private var isAskedAgain = false
  private var isClosed = false

  /// What became of pushes to one platform.
  struct Figures {
    var delivered: UInt64 = 0
    var repeated: UInt64 = 0
    var failed: UInt64 = 0
    var pruned: UInt64 = 0
  }

  /// How long new wakes stay in the queue before it is read.
  private static let pauseMilliseconds: ClosedRange<UInt64> = 5...25
  /// Wakes that are read at once.
  private static let pageCount = 500
  /// The pause after a failure until the queue is read again.
  private static let retryMilliseconds: UInt64 = 1_000

  init(
    ledger: PushLedger, writer: PushWriter, couriers: Couriers, classes: WakeClasses, messages: PushMessageSettings,
    proved: ProvedPlatforms, log: Logger
  ) {
    self.ledger = ledger
    self.writer = writer
    self.couriers = couriers
    self.classes = classes
    self.messages = messages
    self.proved = proved
    self.log = log
    var generator = SystemRandomNumberGenerator()
    board = DeliveryQueue(seed: generator.next())
    for platform in PushPlatform.allCases {
      figures[platform] = Figures()
      if couriers.running[platform] == nil { board.platformDown(platform) }
      if proved.atStart.contains(platform) { board.wentThroughBefore(platform) }
    }
  }

  /// Whether pushes are in flight.
  var isBusy: Bool { board.inFlightCount > 0 }

  /// Continues where the last process ended: with everything in the queue.
  func begin() { read() }

  /// There are new wakes in the queue. They are read after a short random pause: otherwise the work for a wake that is
  /// delivered would coincide with its answer and with the sender's next request, and both would take longer than for a
  /// wake that is not delivered.
  func wakesQueued() {
    guard !isClosed, !pause.isSet else { return }
    pause.set(afterMilliseconds: UInt64.random(in: Self.pauseMilliseconds)) { [unowned self] in read() }
  }

  private func read() {
    guard !isReading else {
      isAskedAgain = true
      return
    }
    isReading = true
    EventLoopActor.task { [self] in
      isAskedAgain = false
      await readOn()
      isReading = false
      if isAskedAgain { wakesQueued() }
    }
  }

  /// A device registered again.
  func changed(_ device: PushDevice) {
    news.changed(device)
    perform { $0.deviceChanged(device, at: $1) }
  }

  /// Devices were removed: what waits for them is not delivered.
  func removed(_ devices: [Int64]) {
    for device in devices {
      news.removed(device)
      perform { $0.deviceRemoved(device, at: $1) }
    }
  }

  /// Nothing new is sent from now on.
  func close() {
    isClosed = true
    writer.roomMade.raise()
    board.close()
    timer.cancel()
    pause.cancel()
  }

  // MARK: The queue

  private func readOn() async {
    while !isClosed {
      await awaitRoom()
      news.readingBegan()
      defer { news.readingEnded() }
      do throws(StorageFault) {
        let page = try await ledger.openWakes(after: lastNumber, limit: Self.pageCount)
        let devices = try await devices(for: page)
        for open in page where open.wake.number > lastNumber {
          lastNumber = open.wake.number
          if open.isDropped {
            writer.note(WakeSettlement(wake: open.wake.number, devices: [], end: .dropped))
          } else {
            let known = news.current(open.devices(of: devices[open.wake.recipient] ?? []))
            perform { $0.accepted(open.wake, for: known, at: $1) }
          }
        }
        guard page.count == Self.pageCount else { return }
      } catch { return complain(error) { [self] in wakesQueued() } }
    }
  }

  /// Reads the queue from its beginning, and hands in what a platform has room for.
  private func refill(_ count: Int, on platform: PushPlatform) async {
    await awaitRoom()
    var refill = QueueRefill(count, on: platform, upTo: lastNumber)
    writer.readingBegan()
    news.readingBegan()
    defer {
      writer.readingEnded()
      news.readingEnded()
    }
    do throws(StorageFault) {
      while !isClosed, !refill.isDone {
        let page = try await ledger.openWakes(after: refill.after, limit: Self.pageCount)
        let wanted = refill.read(page, isWhole: page.count == Self.pageCount) { board.has($0) || writer.hasEnded($0) }
        refill.add(wanted, devices: try await devices(for: wanted))
      }
    } catch {
      // The delivery queue asks once, and waits for the answer.
      return complain(error) { [self] in EventLoopActor.task { [self] in await self.refill(count, on: platform) } }
    }
    // The reading for another platform may have handed in one of these meanwhile, and it may have ended.
    let found = refill.found.filter { !writer.hasEnded($0.wake.number) }.map {
      (wake: $0.wake, devices: news.current($0.devices))
    }
    perform { $0.restored(found, on: platform, isAll: refill.isAll, at: $1) }
  }

  private func devices(for page: [OpenWake]) async throws(StorageFault) -> [PushOwner: [PushDevice]] {
    let recipients = Set(page.lazy.filter { !$0.isDropped }.map(\.wake.recipient))
    return recipients.isEmpty ? [:] : try await ledger.devices(of: recipients, now: WallClock.seconds)
  }

  /// While too many results are not written, nothing more is begun: a crash would repeat all of it.
  private func awaitRoom() async {
    await writer.roomMade.wait { !writer.isFull || isClosed }
  }

  /// The queue cannot be read now. Its wakes were accepted, so it is read again soon.
  private func complain(_ fault: StorageFault, _ again: @escaping @EventLoopActor () -> Void) {
    writer.health.leaveIfDamaged(fault)
    log.warning("the queue of wakes cannot be read", metadata: ["why": "\(fault)"])
    EventLoopActor.task { [self] in
      await EventLoopActor.sleep(milliseconds: Self.retryMilliseconds)
      if !isClosed { again() }
    }
  }

  // MARK: The delivery queue

  private func perform(_ step: (inout DeliveryQueue, PushMoment) -> [DeliveryAction]) {
    let actions = step(&board, .now)
    for action in actions { perform(action) }
    setTimer()
  }

  private func perform(_ action: DeliveryAction) {
    switch action {
    case .send(let delivery): send(delivery)
    case .done(let wake, let outcome):
      ended[outcome, default: 0] += 1
      writer.note(WakeSettlement(wake: wake, devices: [], end: outcome.end))
    case .ended(let wake, let device): writer.note(WakeSettlement(wake: wake, devices: [device]))
    case .needs(let count, let platform): EventLoopActor.task { [self] in await refill(count, on: platform) }
    case .prune(let device): prune(device)
    case .alarm(let alarm): tell(alarm)
    }
  }

  private func setTimer() {
    guard !isClosed, let deadline = board.deadline else { return timer.cancel() }
    timer.set(at: deadline) { [unowned self] in perform { $0.timerFired(at: $1) } }
  }

  private func send(_ delivery: PushDelivery) {
    let platform = delivery.device.token.platform
    if delivery.attempt > 1 { figures[platform]?.repeated += 1 }
    EventLoopActor.task { [self] in
      FaultPoint.pass(.sending, platform.rawValue)
      let verdict = await post(delivery, to: platform)
      FaultPoint.pass(.answered, platform.rawValue)
      count(verdict, platform)
      trials.note(verdict, of: delivery.wake.id, for: delivery.device.number)
      verdictNoted.raise()
      let wasCarrier = board.standsForOthers(delivery.wake)
      perform { $0.settled(wake: delivery.wake.number, device: delivery.device.number, verdict, at: $1) }
      if wasCarrier, !board.standsForOthers(delivery.wake) { onFailed?(delivery.wake) }
    }
  }

  private func post(_ delivery: PushDelivery, to platform: PushPlatform) async -> PushVerdict {
    guard let courier = couriers.running[platform] else { return .retry(afterMilliseconds: nil, "off") }
    do throws(PushMessageFault) {
      let message = try message(for: delivery.wake, to: delivery.device)
      return await courier.send(message)
    } catch { return .messageFault("message") }
  }

  private func message(
    for wake: Wake, to device: PushDevice, _ settings: PushMessageSettings? = nil
  ) throws(PushMessageFault) -> PushMessage {
    try PushMessage(
      of: wake, to: device, as: classes[wake.type], settings ?? messages, unixMilliseconds: WallClock.milliseconds
    ) { X25519.generate() }
  }

  /// Sends the challenge for a token, in the form of a wake, without the queue. Once: an owner that does not receive it
  /// registers again.
  func send(_ challenge: PushChallenge, to device: PushDevice) {
    let now = WallClock.milliseconds
    let wake = Wake(
      id: Wake.makeID(unixMilliseconds: now), recipient: device.owner, sender: nil, type: Self.challengeType,
      payload: Array(challenge.code.utf8), nonce: [], acceptedAt: now, expiresAt: challenge.expiresAt * 1_000)
    EventLoopActor.task { [self] in
      guard let courier = couriers.running[device.token.platform] else { return }
      do throws(PushMessageFault) {
        _ = await courier.send(try message(for: wake, to: device, messages.forChallenges))
      } catch { log.debug("a challenge cannot be sent", metadata: ["why": "\(error)"]) }
    }
  }

  /// The type of a challenge, as the device receives it.
  static let challengeType = "registration_challenge"

  private func count(_ verdict: PushVerdict, _ platform: PushPlatform) {
    switch verdict {
    case .delivered:
      figures[platform]?.delivered += 1
      proved.wentThrough(platform)
      troubles[platform] = nil
      remarks.forget(platform)
    case .tokenSuspect(let reason), .messageFault(let reason):
      figures[platform]?.failed += 1
      remark(reason, platform)
    case .tokenDead: figures[platform]?.failed += 1
    default: break
    }
  }

  private func remark(_ reason: PushReason, _ platform: PushPlatform) {
    guard remarks.isNews(reason, of: platform, at: EventLoop.process.now) else { return }
    log.warning(
      "\(platform.service) refuses a device's token, or a push: its wake is given up",
      metadata: ["why": "\(reason)", "look": "\(PushAdvice.text(reason, of: platform) ?? "roost push")"])
  }

  private func prune(_ device: PushDevice) {
    let platform = device.token.platform
    EventLoopActor.task { [self] in
      // If the owner registered the same token again while the push was in flight, the token is alive.
      let command = PruneCommand(device: device.number, token: device.token, goneSince: device.registeredAt)
      guard case .success(.pruned(true)) = await writer.perform(.prune(command)) else { return }
      figures[platform]?.pruned += 1
      removed([device.number])
    }
  }

  private func tell(_ alarm: PushAlarm) {
    let (provider, reason, text): (PushProvider, PushReason, String) =
      switch alarm {
      case .fault(let provider, let reason): (provider, reason, "refuses our pushes; look at its settings")
      case .everyTokenRefused(let provider, let reason):
        (provider, reason, "refuses every token: another environment or project, most likely; none was forgotten")
      case .trouble(let provider, let reason): (provider, reason, "is in trouble, and is left alone for a while")
      case .message(let provider, let reason):
        (provider, reason, "does not understand a push: a fault of the relay, or a token that is malformed")
      }
    if alarm.concernsPlatform { troubles[provider.platform] = reason }
    var metadata: Logger.Metadata = ["why": "\(reason)"]
    if let advice = advice(on: reason, of: provider.platform) { metadata["look"] = "\(advice)" }
    if alarm.concernsPlatform, let seconds = board.secondsLeft(of: provider, at: EventLoop.process.now) {
      metadata["again-in"] = "\(seconds) s"
    }
    log.log(level: alarm.isForOperator ? .warning : .debug, "\(provider) \(text)", metadata: metadata)
  }
}

extension WakeOutcome {
  /// The outcome in the ledger's terms.
  var end: WakeEnd {
    switch self {
    case .delivered: .delivered
    case .expired: .expired
    case .coalesced: .coalesced
    case .undeliverable: .failed
    }
  }
}
