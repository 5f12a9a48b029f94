import Contracts
import EventLoop
import Frames
import Logs
import MessageHub

/// The registry: every peer learns of it when it changes, as a whole.
///
/// So its length concerns every worker, and a worker that makes it grow is held to what the others take: what it brings
/// is refused to it when another one could no longer learn the registry.
@EventLoopActor
final class RegistryBroadcast {
  private unowned let daemon: Daemon
  private var isDirty = false
  private var last: [UInt8] = []

  init(daemon: Daemon) { self.daemon = daemon }

  /// Room that is kept for what changes the registry's length besides its methods: members that come, and their words.
  private static let slackByteCount = 4 << 10

  /// Whether the registry, with this table and one member more, could go to every worker that is here. Clients
  /// come and go and may ask for little: they hold no worker up, and neither does one started by hand hold up one of
  /// the configuration.
  ///
  /// - Throws: `full`, with the name of one that takes less.
  func check(_ table: AccessTable, for newcomer: PeerConnection) throws(Refusal) {
    let byteCount = JSONPayload.encode(daemon.shell.hub.registry(table)).count + Self.slackByteCount
    let narrow = daemon.shell.allConnections.first { other in
      (newcomer.isManaged ? other.isManaged : other.isWorker) && !other.takes(payloadByteCount: byteCount)
    }
    guard let narrow else { return }
    throw Refusal(
      .full,
      "with these methods REGISTRY would have about \(byteCount) bytes, and \(narrow.name) takes less (its frameLimit)",
      outcome: .notStarted)
  }

  /// Sends it to every peer, once a turn.
  func changed() {
    guard !isDirty else { return }
    isDirty = true
    EventLoop.process.atTurnEnd { [unowned self] in
      isDirty = false
      let payload = JSONPayload.encode(daemon.shell.hub.registry())
      guard payload != last else { return }
      last = payload
      for connection in daemon.shell.allConnections { send(payload, to: connection) }
    }
  }

  private func send(_ payload: [UInt8], to connection: PeerConnection) {
    guard connection.takes(payloadByteCount: payload.count) else {
      // No worker is to blame for what the configuration brought: it keeps what it knows.
      guard !connection.isWorker else {
        daemon.log(
          .warning, "bus", "\(connection.name) takes no REGISTRY of \(payload.count) bytes and keeps the one it has")
        return
      }
      daemon.admission.refused(
        connection, Refusal(.badLength, "REGISTRY now has \(payload.count) bytes, more than was agreed"))
      return
    }
    payload.withUnsafeBytes { connection.send(FrameHeader(type: .registry, payloadByteCount: payload.count), $0) }
  }
}
