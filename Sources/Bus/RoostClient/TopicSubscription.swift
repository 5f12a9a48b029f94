public import Bus
public import Contracts
public import EventLoop
public import Frames

/// Why events of a topic may be missing at this point.
public enum TopicGap: Sendable, Equatable {
  /// The hub dropped this many because this client did not keep up.
  case dropped(UInt64)
  /// The connection was lost and restored; the number of events missed meanwhile is unknown.
  case reconnected
}

/// A subscription to a topic, renewed after every lost connection. It ends with ``cancel()``, not by being released.
@EventLoopActor
public final class TopicSubscription {
  /// The topic's name.
  public let topic: String
  /// Called when the supervisor no longer allows the subscription, or the client is closed.
  public var onEnd: (@EventLoopActor (Refusal) -> Void)?

  fileprivate let onEvent: @EventLoopActor (BusPayload) -> Void
  fileprivate let onGap: @EventLoopActor (TopicGap) -> Void
  fileprivate var isActive = false
  private weak var client: RoostClient?

  fileprivate init(
    topic: String, client: RoostClient, onEvent: @escaping @EventLoopActor (BusPayload) -> Void,
    onGap: @escaping @EventLoopActor (TopicGap) -> Void
  ) {
    self.topic = topic
    self.client = client
    self.onEvent = onEvent
    self.onGap = onGap
  }

  /// Ends the subscription. No handler is called afterwards.
  public func cancel() {
    isActive = false
    onEnd = nil
    client?.remove(self)
  }

  func ended(_ refusal: Refusal) {
    isActive = false
    let callback = onEnd
    onEnd = nil
    callback?(refusal)
  }
}

extension RoostClient {
  /// Subscribes to a topic. Handlers run on the loop, in the order of the events, and should return soon: until then
  /// the next event is not read.
  ///
  /// - Parameters:
  ///   - topic: its name in the registry, `supervisor.events`.
  ///   - onGap: called when events are missing; where that matters, request the present state.
  ///   - onEvent: one event's payload.
  /// - Throws: `unknown-method`, `denied`, `full`; `no-supervisor` when none comes in time.
  @discardableResult
  public func subscribe(
    _ topic: String, onGap: @escaping @EventLoopActor (TopicGap) -> Void = { _ in },
    onEvent: @escaping @EventLoopActor (BusPayload) -> Void
  ) async throws(Refusal) -> TopicSubscription {
    guard subscriptions.values.reduce(0, { $0 + $1.count }) < settings.subscriptionMaximum else {
      throw Refusal(
        .full, "this client has \(settings.subscriptionMaximum) subscriptions already", outcome: .notStarted)
    }
    let subscription = TopicSubscription(topic: topic, client: self, onEvent: onEvent, onGap: onGap)
    let patience = patienceEnd()
    while true {
      let session = try await liveSession(until: patience)
      do throws(Refusal) {
        // The handler is registered before the request is sent, because the first event may follow the answer directly.
        subscriptions[topic, default: []].append(subscription)
        subscription.isActive = true
        try await session.bus.subscribe(topic)
        return subscription
      } catch {
        subscription.isActive = false
        remove(subscription)
        guard session.isLoss(error) else { throw error }
      }
    }
  }

  /// Subscribes to a topic of Contracts: `SignerTopic.changes`, `PlanTopic.published`, `RelayTopic.states`.
  ///
  /// - Parameters:
  ///   - topic: the topic.
  ///   - onGap: called when values are missing, also when one could not be read; where that matters, request the
  ///     present state.
  ///   - onValue: one value.
  /// - Throws: as the subscription by name.
  @discardableResult
  public func subscribe<Value>(
    to topic: Topic<Value>, onGap: @escaping @EventLoopActor (TopicGap) -> Void = { _ in },
    onValue: @escaping @EventLoopActor (Value) -> Void
  ) async throws(Refusal) -> TopicSubscription {
    try await subscribe(topic.name, onGap: onGap) { payload in
      // A value of a later version, which cannot be read, is missing for this reader.
      guard let value = try? payload.read(as: Value.self, of: topic.name) else { return onGap(.dropped(1)) }
      onValue(value)
    }
  }

  func remove(_ subscription: TopicSubscription) {
    let topic = subscription.topic
    guard subscriptions[topic]?.contains(where: { $0 === subscription }) ?? false else { return }
    subscriptions[topic]?.removeAll { $0 === subscription }
    guard subscriptions[topic]?.isEmpty ?? false else { return }
    subscriptions[topic] = nil
    guard let session else { return }
    EventLoopActor.task {
      // A refusal means that there was no subscription, which is the aim.
      do throws(Refusal) { try await session.bus.unsubscribe(topic) } catch {}
    }
  }

  func resumeSubscriptions(on session: LiveSession) {
    for topic in subscriptions.keys.sorted() {
      EventLoopActor.task { [weak self] in await self?.resume(topic, on: session) }
    }
  }

  private func resume(_ topic: String, on session: LiveSession) async {
    do throws(Refusal) {
      try await session.bus.subscribe(topic)
      for subscription in subscriptions[topic] ?? [] where subscription.isActive { subscription.onGap(.reconnected) }
    } catch {
      guard !session.isLoss(error) else { return }
      let ended = subscriptions.removeValue(forKey: topic) ?? []
      for subscription in ended { subscription.ended(error) }
    }
  }

  func received(_ event: BusEvent) {
    for subscription in subscriptions[event.name] ?? [] where subscription.isActive {
      subscription.onEvent(event.payload)
    }
    event.acknowledge()
  }

  func receivedGap(_ topic: String, _ dropped: UInt64) {
    for subscription in subscriptions[topic] ?? [] where subscription.isActive { subscription.onGap(.dropped(dropped)) }
  }
}
