/// What a person who runs the relay has to know. It names no device and nobody who is woken.
public enum PushAlarm: Hashable, Sendable {
  /// Nothing goes through until somebody mends our side.
  case fault(PushProvider, PushReason)
  /// One token after the other is refused: the wrong environment or the wrong project, most likely. None was removed.
  case everyTokenRefused(PushProvider, PushReason)
  /// The provider is in trouble and is left alone for a while.
  case trouble(PushProvider, PushReason)
  /// The platform does not understand what it was sent: a bug of the relay.
  case message(PushProvider, PushReason)

  /// Whom it is about.
  public var provider: PushProvider {
    switch self {
    case .fault(let provider, _), .everyTokenRefused(let provider, _), .trouble(let provider, _),
      .message(let provider, _):
      provider
    }
  }

  /// Whether a whole platform is in trouble: not when one push is not understood, and never for what one of many
  /// services of Web Push says, which may be anybody's own.
  public var concernsPlatform: Bool {
    switch self {
    case .fault, .everyTokenRefused, .trouble: provider.platform != .webPush
    case .message: false
    }
  }

  /// Whether it may be the relay that is to blame: a service of Web Push understands what its owner wants it to.
  public var isForOperator: Bool {
    switch self {
    case .message: provider.platform != .webPush
    default: true
    }
  }
}
