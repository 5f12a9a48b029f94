public import Contracts
internal import Frames

/// Texts about users of this machine that the local relay did not admit, for `roost doctor` and the status page.
public enum OutsiderText {
  /// The maximum number of users that are named; further ones are only counted.
  public static let namedMaximum = 8

  /// One sentence about other users and how to admit them, one about programs behind a proxy, one about programs whose
  /// user is unknown; none when all were admitted.
  public static func sentences(_ status: LocalRelayStatus) -> [String] {
    var sentences: [String] = []
    let users = status.outsideUsers ?? 0
    if users > 0 {
      sentences.append(
        "Since its start this relay has kept out other users of this machine \(times(users))\(named(status)). To let a "
          + "user in, add its uid to allow-uids in [supervisor] of supervisor.conf, and type: roost reload")
    }
    if let proxied = status.outsideProxied, proxied > 0 {
      sentences.append("What a proxy on this machine passed on had to show itself \(times(proxied)).")
    }
    if let unknown = status.outsideUnknown, unknown > 0 {
      sentences.append("Programs whose user the kernel did not tell had to show themselves \(times(unknown)).")
    }
    return sentences
  }

  /// The same for `roost doctor`, as good checks.
  public static func checks(_ status: LocalRelayStatus) -> [DoctorResult.Check] {
    let told = sentences(status)
    guard !told.isEmpty else {
      return [.init(name: "local relay", isGood: true, text: "no other user of this machine has come since its start")]
    }
    return told.map { .init(name: "local relay", isGood: true, text: $0) }
  }

  private static func times(_ count: Int) -> String { count == 1 ? "once" : Amount.count(count, "time") }

  private static func named(_ status: LocalRelayStatus) -> String {
    guard let outsiders = status.outsiders, !outsiders.isEmpty else { return "" }
    let first = outsiders.prefix(namedMaximum).map { "uid \($0.uid) \(times($0.count))" }
    let more = outsiders.count - first.count
    let rest = more > 0 ? ["\(Amount.count(more, "other user"))"] : []
    return " (\((first + rest).joined(separator: ", ")))"
  }
}
