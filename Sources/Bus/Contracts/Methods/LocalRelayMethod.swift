internal import Frames

/// The methods of the role `local-relay`.
public enum LocalRelayMethod {
  /// Figures of the local relay. Counters start at 0 with the process.
  public static let status = Method<NoArguments, LocalRelayStatus>(
    704, "local.status", of: .localRelay, for: [.client],
    "Figures of the local relay. Counters begin with the process.")
  /// Connected clients, the latest first, and the origins that are allowed.
  public static let clients = Method<NoArguments, LocalRelayClients>(
    705, "local.clients", of: .localRelay, for: [.client],
    "Connected clients, the latest first, and the origins that are allowed.")
  /// Allows web pages of an origin to do what programs may.
  public static let allow = Method<LocalRelayOrigin, LocalRelayOrigins>(
    706, "local.allow", of: .localRelay, for: [.client],
    "Allows web pages of an origin to do what programs may.", refuses: [.full, .diskFull])
  /// Takes that permission back, and closes connections of the origin.
  public static let deny = Method<LocalRelayOrigin, LocalRelayOrigins>(
    707, "local.deny", of: .localRelay, for: [.client],
    "Takes that permission back, and closes connections of the origin.", refuses: [.diskFull])

  static let all: [MethodDeclaration] = [
    status.declaration, clients.declaration, allow.declaration, deny.declaration,
  ]
}

extension LocalRelayStatus: Payload {}
extension LocalRelayClients: Payload {}
extension LocalRelayOrigins: Payload {}
