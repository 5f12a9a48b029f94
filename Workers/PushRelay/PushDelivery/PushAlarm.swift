/// What the operator of the relay must know. It names no device and no owner.
public enum PushAlarm: Hashable, Sendable {
  /// No push succeeds until a person fixes our side.
  case fault(PushProvider, PushReason)
  /// One token after the other is refused: probably the wrong environment or project. No token was removed.
  case everyTokenRefused(PushProvider, PushReason)
  /// The provider is in trouble and is left alone for a while.
  case trouble(PushProvider, PushReason)
  /// The platform cannot read what we sent: a bug of the relay.
  case message(PushProvider, PushReason)

  /// The provider that it is about.
  public var provider: PushProvider {
    switch self {
    case .fault(let provider, _), .everyTokenRefused(let provider, _), .trouble(let provider, _),
      .message(let provider, _):
      provider
    }
  }

  /// Whether a whole platform is in trouble: not when a single push cannot be read, and never because of one of the
  /// many services of Web Push, which may be private servers.
  public var concernsPlatform: Bool {
    switch self {
    case .fault, .everyTokenRefused, .trouble: provider.platform != .webPush
    case .message: false
    }
  }

  /// Whether the relay may be the cause. A Web Push service may refuse messages as its owner likes, so its complaint
  /// does not count.
  public var isForOperator: Bool {
    switch self {
    case .message: provider.platform != .webPush
    default: true
    }
  }
}
