internal import Frames

/// The methods of the role `people`.
public enum PeopleMethod {
  /// Whether a name is a person's (NIP-05).
  public static let name = Method<PeopleName, NameClaim>(
    899, "people.name", of: .people, for: [.client, .localRelay, .linkFeed],
    "Whether an internet identifier (NIP-05) is a person's; its server is asked unless the answer is known.",
    refuses: [.noSuchName, .rateLimited])
  /// Profiles, and each newer one.
  public static let profiles = Stream<PeopleProfiles, ProfilePage, Nothing>(
    900, "people.profiles", of: .people, for: [.client, .localRelay, .linkFeed],
    "Profiles of up to 10,000 people: what is known at once, then what relays send, and each change if that is wanted.",
    refuses: [.full])
  /// Whom some letters mean.
  public static let find = Stream<PeopleFind, FoundPeople, StoreCount>(
    901, "people.find", of: .people, for: [.client, .localRelay, .linkFeed],
    "Whom a person means by a few letters: those an account follows first.", refuses: [.noSuchAccount])
  /// Figures of the worker.
  public static let status = Method<NoArguments, PeopleStatus>(
    908, "people.status", of: .people, for: [.client, .localRelay], "How many lists are kept, and what waits.")

  /// Forgets an account everywhere on this machine.
  public static let forget = Stream<PeopleForget, ForgetStep, PeopleForgotten>(
    920, "people.forget", of: .people, for: [.client],
    "Removes an account that is left for it, with everything on this machine that is its alone; the key is last. It "
      + "continues by itself after any death, and a repeated call joins it.", refuses: [.noSuchAccount])

  /// What the people write whom an account follows.
  public static let feed = Stream<PeopleFeed, FeedEvents, Nothing>(
    902, "people.feed", of: .people, for: [.client, .localRelay],
    "What the people write whom an account follows, or those of a set, without what it has muted: stored events, and "
      + "then new ones, until the caller cancels.",
    refuses: [.noSuchAccount, .full])
  /// What others write to an account.
  public static let inbox = Stream<PeopleInbox, InboxItems, Nothing>(
    903, "people.inbox", of: .people, for: [.client, .localRelay],
    "What others write to an account: answers, mentions, quotes, reactions, reposts and zaps; stored ones, and then new "
      + "ones, until the caller cancels.",
    refuses: [.noSuchAccount, .full])

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
    list.declaration, edit.declaration, versions.declaration, name.declaration, profiles.declaration,
    find.declaration, feed.declaration, inbox.declaration, status.declaration, forget.declaration,
  ]
}
