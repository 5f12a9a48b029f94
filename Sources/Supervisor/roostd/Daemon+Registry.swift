import Contracts
import EventLoop
import Frames
import Logs
import MessageHub

// The registry: every peer hears of it when it changes, as a whole.
//
// So its length is everybody's affair, and who makes it grow is held to what the others take: what a worker brings is
// refused to that worker when another one could not be told of it any more.

extension Daemon {
  /// Room that is kept for what changes the registry's length besides its methods: members that come, and their words.
  private static let registrySlackByteCount = 4 << 10

  /// Whether the registry, with this table and one member more, could be told to every worker that is here. Clients
  /// come and go and may ask for little: they hold nobody up, and neither does one started by hand hold up one of the
  /// configuration.
  ///
  /// - Throws: `full`, with the name of one that takes less.
  func checkRegistry(with table: AccessTable, for newcomer: PeerConnection) throws(Refusal) {
    let byteCount = JSONPayload.encode(shell.hub.registry(table)).count + Self.registrySlackByteCount
    let narrow = shell.allConnections.first { other in
      (newcomer.isManaged ? other.isManaged : other.isWorker) && !other.takes(payloadByteCount: byteCount)
    }
    guard let narrow else { return }
    throw Refusal(
      .full,
      "with these methods REGISTRY would have about \(byteCount) bytes, and \(narrow.name) takes less (its frameLimit)",
      outcome: .notStarted)
  }

  /// Tells every peer the registry, once a turn.
  func registryChanged() {
    guard !isRegistryDirty else { return }
    isRegistryDirty = true
    EventLoop.process.atTurnEnd { [unowned self] in
      isRegistryDirty = false
      let payload = JSONPayload.encode(shell.hub.registry())
      guard payload != lastRegistry else { return }
      lastRegistry = payload
      for connection in shell.allConnections { tellRegistry(payload, to: connection) }
    }
  }

  private func tellRegistry(_ payload: [UInt8], to connection: PeerConnection) {
    guard connection.takes(payloadByteCount: payload.count) else {
      // No worker is to blame for what the configuration brought: it keeps what it knows.
      guard !connection.isWorker else {
        log(.warning, "bus", "\(connection.name) takes no REGISTRY of \(payload.count) bytes and keeps the one it has")
        return
      }
      refused(connection, Refusal(.badLength, "REGISTRY now has \(payload.count) bytes, more than was agreed"))
      return
    }
    payload.withUnsafeBytes { connection.send(FrameHeader(type: .registry, payloadByteCount: payload.count), $0) }
  }
}
