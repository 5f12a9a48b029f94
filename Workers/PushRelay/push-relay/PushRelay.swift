import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Glibc
import HTTP2Client
import HTTPClient
import LinuxSystem
import WorkerLedger
import Logging
import PushAdmission
import PushDelivery
import PushLedger
import PushRequests
import PushRules
import Storage
import TLS
import WorkerKit

// The push relay: HTTP on one side, the platforms on the other, the ledger between them.
//
//    phones, senders ─▶ PushServer ─▶ PushFront ─▶ PushWriter ─▶ ledger ─▶ Dispatcher ─▶ APNs, FCM, Web Push
//                       HTTP        signatures,   one commit             DeliveryQueue
//                                   rules         for many
//
// A wake is answered when it is in the ledger, never when it is delivered: so the answer reveals nothing of the phone,
// and a platform that is away delays no sender.

/// Serves phones and senders, and `push.*`.
@EventLoopActor
final class PushRelay {
  let worker: Worker
  let log = Logger(label: "push")
  let settings: PushSettings
  let directory: String
  let ledger: PushLedger
  let writer: PushWriter
  let desk: SharedAdmission
  /// When this process began to count, Unix seconds.
  let startedAt = WallClock.seconds
  private(set) var dispatcher: Dispatcher?
  private(set) var front: PushFront?
  var follower: EventFollower?
  var nostrOwners: NostrOwners?
  private(set) var addresses: [String] = []
  private var server: PushServer?
  private let loop = HTTP2Loop()
  private var security: TLSClient?
  private(set) var identity: ListenerIdentity?
  private let sweepTimer = LoopTimer()
  private let limitsTimer = LoopTimer()
  private let challenges = WaitingChallenges()
  private var readFaultToldAt: Int64?
  /// Since when, in Unix seconds, the Web Push key differs from the one that devices subscribed with; nil: it does not.
  var webPushChangedAt: Int64?
  private var isDraining = false
  private var isDoorClosing = false

  /// The ledger's file in the worker's directory.
  private static let fileName = "push.db"
  private static let sweepMilliseconds: UInt64 = 30_000
  private static let sweepCount = 1_000
  private static let limitsMilliseconds: UInt64 = 10_000
  /// The shortest time between two log lines that say that the ledger cannot be read, in seconds.
  private static let readFaultSeconds: Int64 = 10
  /// Connections of libcurl beyond those that the delivery queue may use: for requests outside it, such as those for
  /// Google's token and challenges. If one were missing, a push would wait in a queue without turns while its time runs
  /// out.
  private static let connectionReserve = 32

  /// Opens the ledger in `directory`.
  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    self.directory = directory
    settings = try worker.settings(of: PushSettings.self)
    let ring = try Self.ring(settings, in: directory)
    let rescue: LedgerRescue?
    let limits: SavedLimits?
    do throws(StorageFault) {
      (ledger, rescue) = try PushLedger.openOrRescue(
        path: directory + "/" + Self.fileName, keyRing: ring, now: WallClock.seconds,
        requestsPerMinute: settings.limits.globalPerMinute)
      limits = try ledger.takeLimitsNow()
    } catch { throw Refusal(error.mayPass ? .unavailable : .failed, error.description) }
    writer = PushWriter(ledger, log)
    desk = SharedAdmission(
      settings.limits, snapshot: limits?.snapshot, isClean: limits?.isClean ?? true, now: WallClock.seconds)
    rescue?.tell("the push relay's ledger", log)
  }

  /// The key ring in its file now.
  static func ring(_ settings: PushSettings, in directory: String) throws(Refusal) -> TokenKeyRing {
    try SecretFiles.ring(
      PushSettings.file(settings.keyRingFile), in: directory, ledger: directory + "/" + fileName,
      date: "k\(WallClock.seconds / 86_400)")
  }

  /// Listens, and begins to deliver.
  func start() async throws(Refusal) {
    let classes = try PushSettings.classes(worker)
    try settings.checkAuthorities()
    let google = try GoogleAccount(settings)
    let couriers = try await couriers(google)
    let messages = PushMessageSettings(
      topic: settings.apnsTopic, project: google?.project ?? "", disclosure: settings.shown)
    let proved = try await ProvedPlatforms(couriers, topic: messages.topic, ledger: ledger, writer: writer)
    let dispatcher = Dispatcher(
      ledger: ledger, writer: writer, couriers: couriers, classes: classes, messages: messages, proved: proved,
      log: log)
    dispatcher.onFailed = { [desk] in desk.failed($0) }
    self.dispatcher = dispatcher
    writer.onQueued = { [unowned dispatcher] in dispatcher.wakesQueued() }
    let front = PushFront(
      try rules(classes, messages, couriers), desk: desk, backend: PushProcess(relay: self))
    self.front = front
    try prepareEvents(classes)
    serve()
    challenges.onDue = { [unowned self] owner, challenge in challengeDue(owner, challenge) }
    worker.onSettings = { [unowned self] _ in reload() }
    worker.onDrain = { [unowned self] in drain() }
    worker.isBusy = { [unowned self] in isBusy }
    worker.onEnd = { [unowned self] in end() }
    worker.onClockSet = { [unowned self] in follower?.clockSet() }
    try await listen(front)
    dispatcher.begin()
    follower?.begin()
    sweep()
    keepLimits()
    tellStatus()
  }

  private func rules(
    _ classes: WakeClasses, _ messages: PushMessageSettings, _ couriers: Couriers
  ) throws(Refusal) -> FrontRules {
    let limits = settings.limits
    var info = PushRelayInfo(
      software: "roost/\(RoostVersion.text)", rules: settings.signatureRules,
      platforms: PushPlatform.allCases.filter { couriers.running[$0] != nil }, disclosure: settings.disclosurePolicy,
      registrationSeconds: FrontRules.registrationSeconds, wakeSeconds: classes.standard.timeToLiveSeconds,
      webPushKey: (couriers.running[.webPush] as? WebCourier)?.publicKey,
      limits: PushRelayInfo.Limits(
        senderPerMinute: limits.senderPerMinute, senderPerHour: limits.senderPerHour,
        recipientPerHour: limits.recipientPerHour), serverTime: WallClock.seconds)
    info.nostrURL = settings.nostr.publicURL.map { $0 + PushMount().prefix }
    return FrontRules(
      mount: PushMount(acceptsPrefixedSignatures: settings.prefixedPaths),
      signatures: settings.signatureRules, proxies: try settings.proxies(), disclosure: settings.disclosurePolicy,
      admission: settings.admissionPolicy, classes: classes, messages: messages,
      allowsPrivateEndpoints: settings.webPushNeighbours, info: info, nostr: settings.nostr,
      origins: try settings.crossOrigin(),
      deviceMaximum: settings.devicesMaximum,
      nostrKeyMaximum: settings.nostrKeysMaximum)
  }

  // MARK: Platforms

  private func couriers(_ google: GoogleAccount?) async throws(Refusal) -> Couriers {
    var couriers = Couriers()
    if let account = try AppleAccount(settings) {
      let kept: SavedBytes?
      do throws(StorageFault) { kept = try await ledger.credential(AppleCourier.credentialName) } catch {
        throw Refusal(.unavailable, "\(error)")
      }
      let trust = PushSettings.file(settings.caFile).map { HTTP2Trust.authorities(file: $0) } ?? .system
      couriers.running[.ios] = try AppleCourier(
        account, kept: kept?.bytes, writer: writer, log: log, trust: trust, on: loop)
    } else {
      couriers.reasons[.ios] = "apns-key-file is not set"
    }
    var limits = HTTPClientLimits()
    limits.requestMaximum = 1_024
    let share = DeliveryLimits()
    limits.connectionMaximum = share.googleInFlightMaximum + Self.connectionReserve
    limits.connectionPerHostMaximum = limits.connectionMaximum
    limits.keptConnectionMaximum = share.googleInFlightMaximum
    if let google {
      couriers.running[.android] = GoogleCourier(google, client: client(limits), log: log)
    } else {
      couriers.reasons[.android] = "fcm-account-file is not set"
    }
    if settings.webPush {
      limits.connectionMaximum = share.webInFlightMaximum + Self.connectionReserve
      couriers.running[.webPush] = WebCourier(
        key: try await webPushKey(), contact: settings.webPushContact,
        client: client(limits), dialsNeighbours: settings.webPushNeighbours)
    } else {
      couriers.reasons[.webPush] = "web-push is false"
    }
    return couriers
  }

  /// A client for each platform: requests that wait for one must not delay those for another.
  private func client(_ limits: HTTPClientLimits) -> HTTPClient {
    HTTPClient(limits: limits) { [unowned self] () throws(TrustFault) in
      if let security { return security }
      let made = try TLSClient(authorityFile: PushSettings.file(settings.caFile))
      security = made
      return made
    }
  }

  // MARK: The listener

  private func listen(_ front: PushFront) async throws(Refusal) {
    let server = PushServer(front, connectionMaximum: settings.connectionsMaximum, log) {
      [log] address, fault in
      // A relay that no client can reach is useless. What was accepted is in the ledger; the next process continues.
      log.critical(
        "no client is let in any longer: starting again",
        metadata: ["address": "\(address)", "why": "\(fault.map { "\($0)" } ?? "the server has ended")"])
      exit(Worker.ExitCode.unavailable)
    }
    self.server = server
    if let file = PushSettings.file(settings.certificateFile) {
      identity = try ListenerIdentity(
        certificateFile: file, keyFile: PushSettings.file(settings.keyFile) ?? file, log)
    }
    for address in try settings.addresses() {
      if !address.isLoopback, identity == nil, settings.trustedProxies.isEmpty {
        throw Refusal(
          .failed, "listen: \(address) is open to others: that needs certificate-file and key-file, or trusted-proxies")
      }
      do {
        addresses.append(try await server.open(address, security: identity?.shown))
      } catch { throw ListenFault.refusal(error, at: address) }
    }
  }

  /// What `roost reload` does when no setting has changed: it reads changed files again. A changed setting restarts the
  /// worker.
  private func reload() {
    identity?.renew()
    EventLoopActor.task { [self] in
      do throws(Refusal) { try await turnRing() } catch {
        log.error("the key ring is not taken, and the old one stays in use", metadata: ["why": "\(error.message)"])
      }
    }
  }

  // MARK: Time

  /// Removes what has expired, in parts.
  private func sweep() {
    EventLoopActor.task { [self] in
      while !isDraining {
        let command = PushWrite.sweep(now: WallClock.milliseconds, limit: Self.sweepCount)
        guard case .success(.swept(let swept)) = await writer.perform(command), swept.isMore else { break }
      }
      if !isDraining { sweepTimer.set(afterMilliseconds: Self.sweepMilliseconds) { [unowned self] in sweep() } }
    }
  }

  /// Saves from time to time what is spent of the limits: a crash must not reset the limits.
  private func keepLimits() {
    limitsTimer.set(afterMilliseconds: Self.limitsMilliseconds) { [unowned self] in
      EventLoopActor.task { [self] in
        _ = await writer.perform(
          .saveLimits(snapshot: desk.snapshot(), savedAt: WallClock.seconds, isClean: false))
        identity?.renew()
        tellStatus()
        if !isDraining { keepLimits() }
      }
    }
  }

  func tellStatus() {
    let place = addresses.map { "http\(!settings.certificateFile.isEmpty ? "s" : "")://\($0)/v1" }
    let waiting = dispatcher?.board.count ?? 0
    let words = place.joined(separator: ", ")
    worker.bus.sendStatus(
      StatusReport(text: waiting == 0 ? words : "\(words), \(Amount.count(waiting, "wake")) under way"))
  }

  // MARK: The end

  private var isBusy: Bool { isDoorClosing || follower?.isBusy == true || dispatcher?.isBusy == true || writer.isBusy }

  private func drain() {
    isDraining = true
    sweepTimer.cancel()
    limitsTimer.cancel()
    challenges.close()
    follower?.close()
    isDoorClosing = true
    EventLoopActor.task { [self] in
      await server?.close()
      dispatcher?.close()
      isDoorClosing = false
    }
  }

  private func end() {
    dispatcher?.close()
    writer.finish(limits: desk.snapshot(), place: follower?.last, now: WallClock.seconds)
    do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
  }

  /// A device was registered, and its owner may have to prove its token.
  func registered(_ registration: PushRegistration, by owner: PushOwner) async {
    if let challenge = registration.challenge { challenges.add(challenge, for: owner) }
    guard let device = await devices(of: owner)?.first(where: { $0.relayID == registration.relayID }) else { return }
    // A device with an unproved token gets no wakes.
    if device.isVerified { dispatcher?.changed(device) } else { dispatcher?.removed([device.number]) }
  }

  /// A challenge's minute has come. If its device is gone, or has another token, nothing is sent.
  private func challengeDue(_ owner: PushOwner, _ challenge: PushChallenge) {
    EventLoopActor.task { [self] in
      let device = await devices(of: owner)?.first { $0.number == challenge.device && $0.token == challenge.token }
      if let device, !device.isVerified { dispatcher?.send(challenge, to: device) }
    }
  }

  private func devices(of owner: PushOwner) async -> [PushDevice]? {
    do throws(StorageFault) { return try await ledger.devices(of: owner, now: WallClock.seconds) } catch {
      cannotRead(error)
      return nil
    }
  }

  /// The ledger cannot be read, and the client must try again later. A damaged file ends the process.
  func cannotRead(_ fault: StorageFault) {
    writer.health.leaveIfDamaged(fault)
    let now = WallClock.seconds
    // One line from time to time, not one for each request.
    if let told = readFaultToldAt, now >= told, now - told < Self.readFaultSeconds { return }
    readFaultToldAt = now
    log.warning("the push relay's ledger cannot be read", metadata: ["why": "\(fault)"])
  }
}

/// The process, for the front.
struct PushProcess: PushBackend {
  let relay: PushRelay

  func perform(_ command: PushWrite) async -> LedgerAnswer? { await relay.perform(command) }
  func hasDevice(_ owner: PushOwner) async -> Bool? { await relay.hasDevice(owner) }
  func contacts(of owner: PushOwner) async -> PushContacts? { await relay.contacts(of: owner) }
  func nostrStanding(of owner: PushOwner) async -> NostrStanding { await relay.nostrStanding(of: owner) }
  func eventRules(of owner: PushOwner) async -> WakeRules? { await relay.eventRules(of: owner) }
  func state(ofWake id: [UInt8], sender: PushOwner) async -> WakeState? {
    await relay.state(ofWake: id, sender: sender)
  }
  var isHealthy: Bool { get async { await relay.isHealthy } }
  var platformWords: [PushPlatform: String] { get async { await relay.platformWords } }
}

extension PushRelay {
  fileprivate func perform(_ command: PushWrite) async -> LedgerAnswer? {
    guard case .success(let answer) = await writer.perform(command) else { return nil }
    switch (command, answer) {
    case (.register(let asked), .registered(let registration)):
      dispatcher?.removed(registration.removed)
      await registered(registration, by: asked.message.owner)
    case (.unregister, .unregistered(let removed)), (.unregister, .superseded(let removed)):
      dispatcher?.removed(removed)
    default: break
    }
    await eventsChanged(by: command)
    return answer
  }

  fileprivate func hasDevice(_ owner: PushOwner) async -> Bool? { await devices(of: owner).map { !$0.isEmpty } }

  fileprivate func contacts(of owner: PushOwner) async -> PushContacts? {
    do throws(StorageFault) { return try await ledger.contacts(of: owner) } catch {
      cannotRead(error)
      return nil
    }
  }

  fileprivate func state(ofWake id: [UInt8], sender: PushOwner) async -> WakeState? {
    let progress: WakeProgress?
    do throws(StorageFault) {
      progress = try await ledger.progress(ofWake: id, sender: sender, now: WallClock.seconds)
    } catch {
      cannotRead(error)
      return nil
    }
    return switch progress {
    case nil: .unknown
    case .queued: .queued
    case .ended(.delivered), .ended(.coalesced): .sent
    case .ended(.expired): .expired
    case .ended(.failed), .ended(.dropped): .failed
    }
  }

  fileprivate var isHealthy: Bool { writer.health.fault == nil }

  fileprivate var platformWords: [PushPlatform: String] {
    var words: [PushPlatform: String] = [:]
    for platform in PushPlatform.allCases {
      let isOn = dispatcher?.couriers.running[platform] != nil
      words[platform] = isOn ? dispatcher?.troubles[platform]?.description ?? "ok" : "off"
    }
    return words
  }
}
