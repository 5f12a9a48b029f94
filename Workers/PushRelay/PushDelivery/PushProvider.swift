/// The server that takes a push. Limits, waits and circuit breakers apply to each provider.
///
/// APNs and FCM are one provider each. Web Push has one for each host in endpoints, and a client that registers an
/// endpoint chooses the host. So each host is a provider of its own, and a dead one harms only its own devices.
public enum PushProvider: Hashable, Sendable, CustomStringConvertible {
  /// APNs.
  case apple
  /// FCM.
  case google
  /// A push service, by the host and port of its endpoints, as `push.example:443`.
  case web(String)

  /// Its platform.
  public var platform: PushPlatform {
    switch self {
    case .apple: .ios
    case .google: .android
    case .web: .webPush
    }
  }

  /// `APNs`, `FCM`, `Web Push`. The host of an endpoint is left out: it may be one person's own server.
  public var description: String {
    switch self {
    case .apple: "APNs"
    case .google: "FCM"
    case .web: "Web Push"
    }
  }
}

extension PushToken {
  /// The provider that delivers pushes to it.
  public var provider: PushProvider {
    switch self {
    case .apple: .apple
    case .google: .google
    case .web(let endpoint, _, _): .web(Self.authority(of: endpoint))
    }
  }

  /// Host and port of an `https` URL, in lower case; the text itself when it has none, which is then a provider of its
  /// own.
  static func authority(of endpoint: String) -> String {
    guard let colon = endpoint.firstRange(of: "://") else { return endpoint }
    let rest = endpoint[colon.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = (rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest[...]).lowercased()
    let hasPort = host.hasSuffix("]") ? false : host.lastIndex(of: ":") != nil
    return hasPort ? host : host + ":443"
  }
}
