internal import Frames

/// The methods of the role `people`.
public enum PeopleMethod {
  /// Figures of the worker.
  public static let status = Method<NoArguments, PeopleStatus>(
    908, "people.status", of: .people, for: [.client, .localRelay], "How many lists are kept, and what waits.")

  static let all: [MethodDeclaration] = [status.declaration]
}
