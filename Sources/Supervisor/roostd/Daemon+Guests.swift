import Contracts
import Logs

// Guests: workers started by hand, with a token, that no configuration names. They have no machine, since roostd
// neither starts nor watches them; it only says that they come and go. One that takes the place of a worker of the
// configuration is no guest: that worker's machine tells of it.

extension Daemon {
  /// The connections of all guests.
  var guests: [PeerConnection] {
    shell.allConnections.filter { connection in
      // A reload may have added a worker of its name.
      if case .guest(let name, _) = connection.role { worker(named: name) == nil } else { false }
    }
  }

  /// The connection of the guest with this name.
  func guest(named name: String) -> PeerConnection? { guests.first { $0.attachedTo == name } }

  /// The state of a guest's place, as events tell it.
  func guestState(_ name: String) -> WorkerStateWord { guest(named: name) == nil ? .absent : .attached }

  /// A guest has its seat.
  func guestJoined(_ name: String, role: Role, process: Int32) {
    tell(
      .info, name, from: .absent, to: .attached, "has joined: role \(role.name), pid \(process), started by hand")
  }

  /// A guest's seat is given back.
  func guestLeft(_ name: String, because reason: String) {
    tell(.info, name, from: .attached, to: .absent, "has left: \(reason)")
    registry.changed()
  }
}
