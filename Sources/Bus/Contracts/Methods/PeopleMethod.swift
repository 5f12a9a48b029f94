internal import Frames

/// The methods of the role `people`.
public enum PeopleMethod {
  /// Figures of the worker.
  public static let status = Method<NoArguments, PeopleStatus>(
    908, "people.status", of: .people, for: [.client, .localRelay], "How many lists are kept, and what waits.")

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

  static let all: [MethodDeclaration] = [feed.declaration, inbox.declaration, status.declaration]
}
