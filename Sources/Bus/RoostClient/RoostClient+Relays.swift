public import Addresses
public import Contracts
public import Frames
public import Nostr

// Relays: which are known, how they are, what they say of themselves, and where something would be sent or asked.

extension RoostClient {
  /// How long an answer about relays may take, in milliseconds; a relay's document is fetched first.
  private static let relayMilliseconds: UInt32 = 30_000

  /// The known relays, why each is known, which worker holds its connection, and how that is.
  public func relays() async throws(Refusal) -> [PlanRelayList.Relay] {
    try await askingPlanner(PlanMethod.relays, NoArguments()).relays
  }

  /// Adds a relay by hand. Doing it again changes `reads` and `writes`.
  ///
  /// - Parameters:
  ///   - relay: the relay.
  ///   - reads: whether subscriptions are opened there.
  ///   - writes: whether events are published there.
  /// - Returns: all known relays.
  @discardableResult
  public func addRelay(
    _ relay: RelayURL, reads: Bool = true, writes: Bool = true
  ) async throws(Refusal) -> [PlanRelayList.Relay] {
    try await askingPlanner(PlanMethod.addRelay, PlanRelay(relay: relay.text, reads: reads, writes: writes)).relays
  }

  /// Removes a relay that was added by hand.
  ///
  /// - Throws: `no-such-relay`; relays of `supervisor.conf` and of lists are changed there.
  /// - Returns: all known relays.
  @discardableResult
  public func removeRelay(_ relay: RelayURL) async throws(Refusal) -> [PlanRelayList.Relay] {
    try await askingPlanner(PlanMethod.removeRelay, PlanRelay(relay: relay.text)).relays
  }

  /// The relays of one connector, and how their connections are.
  ///
  /// - Parameter worker: the connector's name; nil while there is exactly one.
  public func relayStates(of worker: String? = nil) async throws(Refusal) -> RelayStates {
    var options = RequestOptions.idempotent(ttlMilliseconds: Self.relayMilliseconds)
    options.worker = worker
    return try await request(RelayMethod.list, NoArguments(), options: options)
  }

  /// What a relay says of itself (NIP-11), none of it proven, and which bounds are obeyed there.
  ///
  /// - Parameters:
  ///   - relay: the relay.
  ///   - isForeign: whether its URL is from others: then it is not asked at a private address.
  /// - Throws: `no-information`, `own-relay`, or why it cannot be reached.
  public func relayInformation(_ relay: RelayURL, isForeign: Bool) async throws(Refusal) -> RelayInformationResult {
    try await request(
      RelayMethod.information, RelayInformationRequest(relay: relay.text, isForeign: isForeign),
      options: .idempotent(ttlMilliseconds: Self.relayMilliseconds))
  }

  /// Dials a relay now, and forgets its failures and its quarantine.
  ///
  /// - Throws: `no-such-relay` when no connector has it.
  @discardableResult
  public func retryRelay(_ relay: RelayURL) async throws(Refusal) -> RelayStates.Relay {
    try await request(
      RelayMethod.retry, RelayRetry(relay: relay.text),
      options: .idempotent(ttlMilliseconds: Self.relayMilliseconds))
  }

  // MARK: Routes

  /// Which relays would be asked for these filters, and why; who of the people in them is covered how often. Nothing is
  /// sent.
  public func route(_ filters: [Filter]) async throws(Refusal) -> Route {
    try await askingPlanner(PlanMethod.route, PlanRoute(filters: try filters.payload()))
  }

  /// Where an event would be sent, and why. Nothing is sent.
  ///
  /// - Throws: `no-relays` with the reason.
  public func route(_ event: Event) async throws(Refusal) -> Route {
    let value = try JSONPayload.decode(JSONValue.self, from: event.json)
    return try await askingPlanner(PlanMethod.route, PlanRoute(event: value))
  }

  /// The same for a draft by this author, 64 hexadecimal digits as in `SignerAccount.publicKey`.
  public func route(_ draft: EventDraft, by author: String) async throws(Refusal) -> Route {
    var event = draft.template
    if case .object(var members) = event {
      members["pubkey"] = .string(author)
      event = .object(members)
    }
    return try await askingPlanner(PlanMethod.route, PlanRoute(event: event))
  }

  private func askingPlanner<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, _ arguments: Arguments
  ) async throws(Refusal) -> Answer {
    do throws(Refusal) {
      return try await request(
        method, arguments, options: .idempotent(ttlMilliseconds: Self.relayMilliseconds))
    } catch {
      throw explained(error)
    }
  }
}
