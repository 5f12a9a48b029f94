internal import Frames

/// The methods of the role `mirror`.
public enum MirrorMethod {
  /// How much is kept, and how complete it is.
  public static let status = Method<NoArguments, MirrorStatus>(
    768, "mirror.status", of: .mirror, for: [.client, .localRelay],
    "How much of each account is here, and how complete it is by the store's coverage.")

  static let all: [MethodDeclaration] = [status.declaration]
}
