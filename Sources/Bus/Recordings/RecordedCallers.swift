internal import Contracts
internal import Frames

/// The roles of the callers in a recording that does not contain them: it was made before the hub wrote the role into
/// REQUEST and EVENT (``FrameHeader/callerRole``). A worker of today refuses requests without a caller's role.
///
/// They are derived from the registries that the worker received: a seat of a worker has the worker's role, any other
/// seat belongs to a client.
struct RecordedCallers {
  private var rolesBySeat: [Int: UInt16] = [:]

  /// The frames with a role in each REQUEST and EVENT that came from a peer.
  static func completed(_ frames: [RecordedFrame]) -> [RecordedFrame] {
    var callers = RecordedCallers()
    return frames.map { frame in
      guard frame.direction == .toWorker else { return frame }
      var frame = frame
      switch frame.header.type {
      // A registry that cannot be read gives the worker no information either.
      case .welcome: callers.learn((try? JSONPayload.decode(Welcome.self, from: frame.payload))?.registry)
      case .registry: callers.learn(try? JSONPayload.decode(Registry.self, from: frame.payload))
      case .request, .event:
        let source = frame.header.source
        guard frame.header.re == 0, source != .hub else { break }
        frame.header.callerRole = callers.rolesBySeat[source.seat] ?? Role.client.number
      default: break
      }
      return frame
    }
  }

  private mutating func learn(_ registry: Registry?) {
    guard let registry else { return }
    rolesBySeat = [:]
    for member in registry.members {
      rolesBySeat[Endpoint(rawValue: member.endpoint).seat] = registry.roles[member.role]
    }
  }
}
