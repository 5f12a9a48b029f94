/// Whose server takes a push: what is bounded, delayed and given up together.
///
/// APNs and FCM are one each. Web Push has as many as there are hosts in endpoints, and whoever registers an endpoint
/// chooses the host: so each host stands for itself, and a dead one harms its own devices only.
public enum PushProvider: Hashable, Sendable, CustomStringConvertible {
  /// APNs.
  case apple
  /// FCM.
  case google
  /// A push service, by the host and port of its endpoints, as `push.example:443`.
  case web(String)

  /// Whose it is.
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
  /// Who brings pushes to it.
  public var provider: PushProvider {
    switch self {
    case .apple: .apple
    case .google: .google
    case .web(let endpoint, _, _): .web(Self.authority(of: endpoint))
    }
  }

  /// Host and port of an `https` URL, in lower case; the text itself where there is none, which then is alone.
  static func authority(of endpoint: String) -> String {
    guard let colon = endpoint.firstRange(of: "://") else { return endpoint }
    let rest = endpoint[colon.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = (rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest[...]).lowercased()
    let hasPort = host.hasSuffix("]") ? false : host.lastIndex(of: ":") != nil
    return hasPort ? host : host + ":443"
  }
}
