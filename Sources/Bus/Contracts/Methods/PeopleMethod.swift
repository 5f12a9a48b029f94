internal import Frames

/// The methods of the role `people`.
public enum PeopleMethod {
  /// Figures of the worker.
  public static let status = Method<NoArguments, PeopleStatus>(
    908, "people.status", of: .people, for: [.client, .localRelay], "How many lists are kept, and what waits.")

  /// A version of a list.
  public static let list = Method<PeopleList, KnownList>(
    896, "people.list", of: .people, for: [.client], "The newest version of a list, with its entries.",
    refuses: [.noSuchAccount, .noSuchEvent])
  /// Changes a list.
  public static let edit = Method<PeopleEdit, EditedList>(
    897, "people.edit", of: .people, for: [.client],
    "Changes the newest version of a list. Answered when the new version is signed and committed; it is published then.",
    refuses: [.noSuchAccount, .locked, .notFresh, .wouldReplace, .noSuchEvent, .diskFull])
  /// The versions of a list.
  public static let versions = Stream<PeopleVersions, ListVersionRow, StoreCount>(
    898, "people.versions", of: .people, for: [.client], "The versions of a list that are kept, the newest first.",
    refuses: [.noSuchAccount])

  static let all: [MethodDeclaration] = [
    list.declaration, edit.declaration, versions.declaration, status.declaration,
  ]
}
