import Addresses
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import WorkerLedger
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import OutboxRouting
import PublishQueue
import Storage
import WorkerKit

// The methods that answer queries about routes and progress, and the methods that change the relays added by hand.

extension Planner {
  func serve() {
    worker.serve(AccountMethod.forget) { [unowned self] (_, wanted) throws(Refusal) in try await forget(wanted) }
    worker.serve(PlanMethod.route) { [unowned self] (_, wanted) throws(Refusal) in try await route(wanted) }
    worker.serve(PlanMethod.relays) { [unowned self] (_, _) in
      await settled()
      await refreshStates()
      return relayList
    }
    worker.serve(PlanMethod.addRelay) { [unowned self] (_, wanted) throws(Refusal) in try await add(wanted) }
    worker.serve(PlanMethod.removeRelay) { [unowned self] (_, wanted) throws(Refusal) in try await remove(wanted) }
    worker.serve(PlanMethod.progress, progress)
    worker.serve(PlanMethod.want, want)
    worker.serve(PlanMethod.status) { [unowned self] (_, _) in status }
  }

  /// Requests the counters of relays, which connectors otherwise report only when a connection changes. If a connector
  /// does not answer soon, its last values stay.
  private func refreshStates() async {
    for name in connectors.followed.sorted() {
      do throws(Refusal) {
        let states = try await bus.request(
          RelayMethod.list, of: name, NoArguments(), ttlMilliseconds: Self.refreshMilliseconds)
        directory.connectorReported(name, states.relays, isWhole: false, dialsOthers: nil)
        hasChanged.raise()
      } catch {
        log.debug("\(name) does not tell its relays", metadata: ["why": "\(error.message)"])
      }
    }
  }

  /// How long a connector may take to answer.
  private static let refreshMilliseconds: UInt32 = 1_000

  private var status: PlanStatus {
    var status = PlanStatus()
    status.observes = wishes.observeCount
    status.requests = wishes.requestCount
    status.ephemeralRelays = directory.outsideCount
    status.sending = SendingState(of: directory.list())
    publishing?.report(to: &status)
    let silent = isEarly ? [] : directory.configuredConnectors.subtracting(connectors.speaking)
    if !silent.isEmpty, let publishing {
      status.silentConnectors = silent.sorted()
      // `try?`: the queue wrote this URL itself.
      status.waitingForConnectors = publishing.queue.count { relay in
        (try? RelayURL(relay)).flatMap { directory.dialler(of: $0) }.map(silent.contains) ?? false
      }
    }
    if let overdue = publishing?.queue.overdue(acceptedBefore: WallClock.seconds - PlanStatus.overdueSeconds),
      overdue.count > 0
    {
      status.overdue = overdue.count
      status.overdueRelays = Array(overdue.relays.prefix(PlanStatus.overdueRelayMaximum))
    }
    status.fault = status.fault ?? fault?.description
    return status
  }

  // MARK: plan.route

  private func route(_ wanted: PlanRoute) async throws(Refusal) -> Route {
    await settled()
    if let filters = wanted.filters {
      let list = try Filter.list(argument: filters, countMaximum: StoreObserve.filterMaximum)
      return await described(list)
    }
    let given = wanted.event ?? .null
    // The caller may have made the account a moment ago.
    var author: PublicKey?
    if case .string(let text)? = given["pubkey"] { author = PublicKey(text) }
    await recognise(author)
    let event = try unsigned(given)
    await readLists(of: directory.addressees(of: event))
    var route = directory.plan(event)
    if let person = route.problem?.missingList {
      try await lookUpMessageRelays(of: person)
      route = directory.plan(event)
    }
    return Route(
      stops: route.choices.map(stop), skipped: route.skipped.map(stop), problem: route.problem?.description)
  }

  /// Where filters would be asked if they were observed from now on.
  private func described(_ filters: [Filter]) async -> Route {
    directory.book.read(Interest.people(filters).filter { directory.account($0) == nil })
    authors.read()
    let deadline = now.advanced(milliseconds: Self.readMilliseconds)
    await hasChanged.wait(until: deadline) { !directory.book.isRead || isDraining }
    var preview = directory
    preview.want(Interest(own: "route", filters))
    _ = preview.selectRelays(at: WallClock.seconds)
    let route = preview.route(filters)
    let stops = route.stops.map { asked in
      var stop = stop(asked.choice)
      let people = Interest.people(asked.filters).sorted()
      stop.people = people.prefix(Route.peopleMaximum).map(\.description)
      if people.count > Route.peopleMaximum { stop.peopleCount = people.count }
      return stop
    }
    let (cover, skipped) = preview.cover(of: filters, at: WallClock.seconds)
    var described = Route(
      stops: stops, skipped: (route.skipped + skipped).map(stop), problem: route.problem?.description)
    described.cover = cover
    return described
  }

  private func stop(_ choice: RelayChoice) -> Route.Stop {
    let state = directory.state(of: choice.url)
    var stop = choice.stop(state: state?.state)
    stop.reason = state?.state == .open ? nil : state?.reason
    return stop
  }

  /// An event in which missing parts get default values.
  private func unsigned(_ value: JSONValue) throws(Refusal) -> UnsignedEvent {
    guard case .object(var fields) = value else {
      throw Refusal(.badRequest, "'event' is not an object", outcome: .notStarted)
    }
    if fields["pubkey"] == nil {
      let accounts = directory.personalAccounts
      guard let meant = usedAccount ?? (accounts.count == 1 ? accounts[0].key : nil) else {
        let who =
          accounts.isEmpty
          ? "there is no account yet; 'roost account new NAME' makes one"
          : "there are \(accounts.count) accounts it could be by; 'roost plan write --as NAME' says which"
        throw Refusal(.badRequest, "'event.pubkey' is missing, and \(who)", outcome: .notStarted)
      }
      fields["pubkey"] = .string(meant.description)
    }
    for (name, standard) in [("created_at", JSONValue.integer(0)), ("tags", .array([])), ("content", .string(""))]
    where fields[name] == nil {
      fields[name] = standard
    }
    // The id is of no interest here, and with default values it could not match.
    fields["id"] = nil
    do throws(EventFault) { return try UnsignedEvent(json: JSONPayload.encode(JSONValue.object(fields))) } catch {
      throw Refusal(.badRequest, "'event': \(error)", outcome: .notStarted)
    }
  }

  // MARK: plan.relays

  private var relayList: PlanRelayList {
    PlanRelayList(relays: directory.list(), indexers: directory.indexers.map(\.text))
  }

  private func add(_ wanted: PlanRelay) async throws(Refusal) -> PlanRelayList {
    let relay = RelayDirectory.Added(
      try url(wanted.relay), reads: wanted.reads ?? true, writes: wanted.writes ?? true)
    guard !directory.isHome(relay.url) else {
      throw Refusal(.ownRelay, "\(relay.url) is not added: \(OwnAddresses.reason)", outcome: .notStarted)
    }
    guard relay.reads || relay.writes else {
      throw Refusal(.badRequest, "a relay that is neither read nor written is of no use", outcome: .notStarted)
    }
    let before = directory.addedRelays.first { $0.url == relay.url }
    guard directory.add(relay) else {
      throw Refusal(.full, "\(RelayDirectory.addedMaximum) relays were added already", outcome: .notStarted)
    }
    do throws(StorageFault) { try await added.add(relay) } catch {
      // The relay on the disk still counts.
      _ = before.map { directory.add($0) } ?? directory.remove(relay.url)
      throw refusal(error)
    }
    recovered()
    log.notice("a relay was added", metadata: ["relay": "\(relay.url)"])
    return relayList
  }

  private func remove(_ wanted: PlanRelay) async throws(Refusal) -> PlanRelayList {
    let relay = try url(wanted.relay)
    guard directory.addedRelays.contains(where: { $0.url == relay }) else {
      let source = directory.list().first { $0.relay == relay.text }?.sources.first
      let reason = source.map { "it is there by \($0), and is changed there" } ?? "nothing names it"
      throw Refusal(.noSuchRelay, "\(relay) was not added by hand: \(reason)", outcome: .notStarted)
    }
    do throws(StorageFault) { try await added.remove(relay) } catch { throw refusal(error) }
    _ = directory.remove(relay)
    recovered()
    log.notice("a relay was removed", metadata: ["relay": "\(relay)"])
    return relayList
  }

  func url(_ text: String) throws(Refusal) -> RelayURL {
    do throws(RelayURLFault) { return try RelayURL(text) } catch {
      throw Refusal(.badRequest, "'relay': \(error)", outcome: .notStarted)
    }
  }

  private func recovered() {
    fault = nil
    update()
  }

  private func refusal(_ fault: StorageFault) -> Refusal {
    LedgerHealth("the file of added relays", log) { [added] in added.markDamaged() }.leaveIfDamaged(fault)
    if self.fault?.kind != fault.kind { log.error("\(fault.description)") }
    self.fault = fault
    update()
    return Refusal(fault.kind == .full ? .diskFull : .failed, fault.description, outcome: .notStarted)
  }

  // MARK: plan.progress

  private func progress(
    _ request: BusRequest, _ wanted: StoreObserve, _ filters: [Filter]
  ) async throws(Refusal) -> Nothing? {
    var relays: [String] = []
    for relay in wanted.relays ?? [] { relays.append(try url(relay).text) }
    let plan = ObservePlan(
      filters, policy: wanted.policy ?? .cacheWithNetwork, relays: relays,
      isExclusive: wanted.exclusiveRelays ?? false, networkLimit: wanted.networkLimit)
    let key = "\(plan.key)"
    let (number, follower) = try followers.add(request, of: key)
    defer { followers.remove(number) }
    request.accept()
    try await follower.run(until: { _ in false }) { progress(of: key) }
    return nil
  }

  /// An observe without an interest needs no network: its observers take stored events, or what was fetched before.
  private func progress(of key: String) -> ObserveProgress {
    let isObserved = observes.isObserved(key)
    return wishes.progress(of: key)
      ?? ObserveProgress(isObserved: isObserved, isComplete: isObserved, relays: [])
  }
}
