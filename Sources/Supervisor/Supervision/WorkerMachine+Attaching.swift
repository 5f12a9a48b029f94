/// Held and attached: the operator takes over the worker's place.
///
/// A living instance is drained first, so the newcomer never meets it. A hold survives the end of a visit; a visit
/// survives a release.
extension WorkerMachine {
  mutating func holdRequested(_ transition: inout Transition) {
    guard !isHeld else { return }
    isHeld = true
    makeRoom(because: "it is to be held", &transition)
  }

  mutating func releaseRequested(_ transition: inout Transition) {
    // It is not held.
    guard isHeld else { return }
    isHeld = false
    // In other states an instance or a visitor is still present; what comes next is decided when it has gone.
    if state == .held { settle(&transition) }
  }

  mutating func attachArrived(_ pid: Int32, _ transition: inout Transition) {
    if let visitor {
      transition.actions.append(
        .refuseAttached(pid: pid, reason: "\(name) is attached to pid \(visitor) already; end that one first"))
      return
    }
    visitor = pid
    makeRoom(because: "pid \(pid), started by hand, takes its place", &transition)
  }

  mutating func attachedLeft(_ pid: Int32, _ why: String, _ transition: inout Transition) {
    // A visitor that was refused, or dismissed by a stop.
    guard visitor == pid else { return }
    visitor = nil
    // If the visitor only waited for the place, the ending life decides.
    guard state.kind == .attached else { return }
    lastVisit = LastVisit(pid: pid, at: transition.now, why: why)
    transition.preface = "was left by pid \(pid), started by hand (\(why)), and "
    settle(&transition)
  }

  private mutating func makeRoom(because reason: String, _ transition: inout Transition) {
    switch state.kind {
    // A worker that is leaving will leave anyway, and a visitor stays until it leaves without a request.
    case .draining, .stopping, .attached: break
    default:
      if incarnation == nil { settle(&transition) } else { leave(drain: nil, because: reason, &transition) }
    }
  }
}
