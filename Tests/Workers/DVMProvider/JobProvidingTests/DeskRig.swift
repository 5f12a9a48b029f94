import Contracts
import Cryptography
import JobProviding
import Nostr

/// A desk with everything around it played: what it writes is kept as a ledger would, and what it wants done is noted.
struct DeskRig {
  static let provider = SecretKey.generate()
  static let now: Int64 = 1_750_000_000

  var desk: ProviderMachine
  /// What is on the disk.
  var ledger: [EventID: ServedRequest] = [:]
  /// Everything but writing that was asked for, in order.
  var actions: [ServingAction] = []
  /// False: nothing that is to be written is, until ``write()``.
  var writesAtOnce = true
  private var unwritten: [EventID] = []

  init(_ rules: ServingRules = .usual, accounts: Set<PublicKey> = []) {
    desk = ProviderMachine(rules, provider: Self.provider.publicKey, accounts: accounts)
  }

  /// Another process begins with what is on the disk.
  mutating func die(_ rules: ServingRules = .usual, at now: Int64 = DeskRig.now) {
    desk = ProviderMachine(
      rules, provider: Self.provider.publicKey, known: Set(ledger.keys),
      lastNumber: ledger.values.map(\.number).max() ?? 0)
    actions = []
    unwritten = []
    for request in ledger.values.filter({ !$0.isSettled }).sorted(by: { $0.number < $1.number }) {
      perform { $0.restored(request, expiration: nil, at: now) }
    }
    perform { $0.timePassed(at: now) }
  }

  mutating func perform(_ step: (inout ProviderMachine) -> [ServingAction]) {
    for action in step(&desk) {
      if case .record(let id) = action { unwritten.append(id) } else { actions.append(action) }
    }
    if writesAtOnce { write() }
  }

  mutating func write() {
    while !unwritten.isEmpty {
      let id = unwritten.removeFirst()
      guard let request = desk[id], let version = desk.version(of: id) else { continue }
      ledger[id] = request
      perform { $0.recorded(id, version: version, at: Self.now) }
    }
  }

  mutating func receive(_ event: Event, for recipients: [PublicKey] = [], at now: Int64 = DeskRig.now) {
    perform { $0.received(event, recipients: recipients, at: now) }
  }

  mutating func finish(_ event: Event, _ outcome: ServingOutcome = .done("42")) {
    perform { $0.finished(event.id, outcome, at: Self.now) }
  }

  /// Signs what is to be said of a request, in a form that says what it was.
  mutating func compose(_ event: Event, _ text: String = "signed") {
    perform { $0.composed(event.id, Array(text.utf8), id: event.id, at: Self.now) }
  }

  mutating func publish(_ event: Event) { perform { $0.published(event.id, at: Self.now) } }

  func state(_ event: Event) -> ServedJob.State? { ledger[event.id]?.state }
}

extension ServingRules {
  static var usual: ServingRules {
    ServingRules(
      services: [5_302: Service(concurrentMaximum: 2, isRepeatable: true), 5_001: Service(concurrentMaximum: 1)],
      customers: .anyone)
  }
}

/// A request for a job.
func makeRequest(
  _ kind: UInt16 = 5_302, by customer: SecretKey = .generate(), at time: Int64 = DeskRig.now, tags: [[String]] = [],
  content: String = ""
) -> Event {
  UnsignedEvent(pubkey: customer.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
    .signed(by: customer)
}
