public import Contracts

/// What the local relay says of itself, as `roost doctor` shows it.
public enum LocalCheckText {
  /// What somebody must look after, with what to do; nothing where there is nothing.
  public static func checks(_ status: LocalRelayStatus) -> [DoctorResult.Check] {
    guard status.knowsUsers == false else { return [] }
    return [
      .init(
        name: "local relay", isGood: false,
        text: "the kernel does not tell whose programs connect, so every program of this machine, your own too, has to "
          + "authenticate (AUTH): as root type 'modprobe tcp_diag', then 'roost restart local-relay'")
    ]
  }
}
