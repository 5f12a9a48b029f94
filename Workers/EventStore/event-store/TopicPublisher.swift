import Bus
import Contracts
import EventLoop
import Frames

/// Publishes the messages of a topic one after the other: each when every subscriber has acknowledged the one before.
/// So a slow subscriber holds the credit of one message, and leaves the rest to answers.
@EventLoopActor
final class TopicPublisher<Message: Payload> {
  private let bus: BusConnection
  private let topic: Topic<Message>
  private let next: @EventLoopActor () -> Message?
  private var isPublishing = false

  /// How long after a message that found no room it is tried again.
  private let pauseMilliseconds: UInt64 = 100

  /// - Parameter next: takes the next message; nil when none waits.
  init(_ bus: BusConnection, _ topic: Topic<Message>, next: @escaping @EventLoopActor () -> Message?) {
    (self.bus, self.topic, self.next) = (bus, topic, next)
  }

  /// Messages wait: publishes until none does.
  func begin() {
    guard !isPublishing else { return }
    isPublishing = true
    EventLoopActor.task { [self] in
      while let message = next() { await publish(message) }
      isPublishing = false
    }
  }

  /// If the last message were left out, no later one would show the gap. So it is tried until there is room for it; a
  /// subscriber that refuses it sees the gap.
  private func publish(_ message: Message) async {
    while true {
      do throws(Refusal) { return try await bus.publish(topic, message, needsAck: true) } catch {
        guard error.code == .full else { return }
        await EventLoopActor.sleep(milliseconds: pauseMilliseconds)
      }
    }
  }
}
