/// Held and attached: the operator takes the worker's place in hand.
///
/// While an instance lives it is drained first, so the newcomer never meets it. A hold outlives a visit; a visit
/// outlives a release.
extension WorkerMachine {
  mutating func holdRequested(_ transition: inout Transition) {
    guard !isHeld else { return }
    isHeld = true
    makeRoom(because: "it is to be held", &transition)
  }

  mutating func releaseRequested(_ transition: inout Transition) {
    // Nobody holds it.
    guard isHeld else { return }
    isHeld = false
    // In other states an instance or a visitor is still leaving or there; what comes after is decided when it has gone.
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
    // One that was refused, or dismissed by a stop.
    guard visitor == pid else { return }
    visitor = nil
    // Had it only waited for its place, the ending life decides.
    guard state.kind == .attached else { return }
    lastVisit = LastVisit(pid: pid, at: transition.now, why: why)
    transition.preface = "was left by pid \(pid), started by hand (\(why)), and "
    settle(&transition)
  }

  private mutating func makeRoom(because reason: String, _ transition: inout Transition) {
    switch state.kind {
    // What is leaving already leaves anyway, and a visitor stays until it goes by itself.
    case .draining, .stopping, .attached: break
    default:
      if incarnation == nil { settle(&transition) } else { leave(drain: nil, because: reason, &transition) }
    }
  }
}
