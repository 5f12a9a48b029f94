internal import Contracts
internal import Frames

/// The roles of those who asked a recorded worker, for recordings in which no role stands: older ones, from before the
/// hub wrote it into REQUEST and EVENT (``FrameHeader/callerRole``). A worker of today refuses what comes from nobody.
///
/// They are read from the registries that the worker was told: a seat of a worker's has its role, any other seat is a
/// client's.
struct RecordedCallers {
  private var rolesBySeat: [Int: UInt16] = [:]

  /// The frames with a role in each REQUEST and EVENT of somebody's.
  static func completed(_ frames: [RecordedFrame]) -> [RecordedFrame] {
    var callers = RecordedCallers()
    return frames.map { frame in
      guard frame.direction == .toWorker else { return frame }
      var frame = frame
      switch frame.header.type {
      // A registry that cannot be read tells the worker nothing either.
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
