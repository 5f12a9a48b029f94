/// Held and attached: the operator takes the worker's place in hand.
///
/// While an instance lives it is drained first, so the newcomer never meets it. A hold outlives a visit; a visit
/// outlives a release.
extension WorkerMachine {
  mutating func holdRequested(_ turn: inout Turn) {
    guard !isHeld else { return }
    isHeld = true
    makeRoom(because: "it is to be held", &turn)
  }

  mutating func releaseRequested(_ turn: inout Turn) {
    // Nobody holds it.
    guard isHeld else { return }
    isHeld = false
    // In other states an instance or a visitor is still leaving or there; what comes after is decided when it has gone.
    if state == .held { settle(&turn) }
  }

  mutating func attachArrived(_ pid: Int32, _ turn: inout Turn) {
    if let visitor {
      turn.actions.append(
        .refuseAttached(pid: pid, reason: "\(name) is attached to pid \(visitor) already; end that one first"))
      return
    }
    visitor = pid
    makeRoom(because: "pid \(pid), started by hand, takes its place", &turn)
  }

  mutating func attachedLeft(_ pid: Int32, _ why: String, _ turn: inout Turn) {
    // One that was refused, or dismissed by a stop.
    guard visitor == pid else { return }
    visitor = nil
    // Had it only waited for its place, the ending life decides.
    guard state.kind == .attached else { return }
    lastVisit = LastVisit(pid: pid, at: turn.now, why: why)
    turn.preface = "was left by pid \(pid), started by hand (\(why)), and "
    settle(&turn)
  }

  private mutating func makeRoom(because reason: String, _ turn: inout Turn) {
    switch state.kind {
    // What is leaving already leaves anyway, and a visitor stays until it goes by itself.
    case .draining, .stopping, .attached: break
    default:
      if incarnation == nil { settle(&turn) } else { leave(drain: nil, because: reason, &turn) }
    }
  }
}
