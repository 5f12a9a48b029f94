internal import Frames

/// The methods of the role `link-feed`.
public enum LinkMethod {
  /// Sends a link.
  public static let post = Method<LinksPost, SentLink>(
    960, "links.post", of: .linkFeed, for: [.client, .linkPage],
    "Sends a link to a contact in gift wraps. Answered when a relay of each recipient has it, or when the wait is over.",
    refuses: [.noSuchAccount, .locked, .noRelays, .notSent, .noSuchConversation, .diskFull])
  /// Sends a reply to a post.
  public static let reply = Method<LinksReply, SentLink>(
    961, "links.reply", of: .linkFeed, for: [.client, .linkPage], "Sends a reply to a post; otherwise as `links.post`.",
    refuses: [.noSuchAccount, .locked, .noRelays, .notSent, .noSuchPost, .diskFull])
  /// Conversations with links.
  public static let list = Stream<LinksList, LinkConversationRow, StoreCount>(
    962, "links.list", of: .linkFeed, for: [.client, .linkPage], "The conversations of an account, the newest first.",
    refuses: [.noSuchAccount, .locked])
  /// Posts, or a post and its replies.
  public static let show = Stream<LinksShow, LinkRow, StoreCount>(
    963, "links.show", of: .linkFeed, for: [.client, .linkPage],
    "The posts of a conversation, the newest first; or a post and its replies, the oldest first.",
    refuses: [.noSuchAccount, .locked, .noSuchConversation, .noSuchPost])
  /// Marks as read.
  public static let read = Method<LinksRead, StoreCount>(
    964, "links.read", of: .linkFeed, for: [.client, .linkPage],
    "Marks the posts of a conversation as read, or a post with its replies. Answered with how many were unread.",
    refuses: [.noSuchAccount, .locked, .noSuchConversation, .noSuchPost, .diskFull])
  /// The contacts.
  public static let contacts = Stream<LinksContacts, LinkContact, StoreCount>(
    965, "links.contacts", of: .linkFeed, for: [.client, .linkPage], "The contacts of an account, by name.",
    refuses: [.noSuchAccount, .locked])
  /// Changes a contact.
  public static let contact = Method<LinksContact, LinkContact>(
    966, "links.contact", of: .linkFeed, for: [.client, .linkPage],
    "Adds a contact, changes it, or removes it. Contacts are on this machine only.",
    refuses: [.noSuchAccount, .locked, .nameTaken, .full, .diskFull])
  /// Figures of the worker.
  public static let status = Method<NoArguments, LinksStatus>(
    967, "links.status", of: .linkFeed, for: [.client, .localRelay, .linkPage],
    "Whether something can be sent now, and how many gift wraps were opened and wait.")
  /// Sends a message.
  public static let sendMessage = Method<MessagesSend, SentLink>(
    968, "messages.send", of: .linkFeed, for: [.client, .linkPage],
    "Sends a private message (NIP-17) in gift wraps; otherwise as `links.post`.",
    refuses: [.noSuchAccount, .locked, .noRelays, .notSent, .noSuchConversation, .diskFull])
  /// Conversations with messages.
  public static let listMessages = Stream<LinksList, LinkConversationRow, StoreCount>(
    969, "messages.list", of: .linkFeed, for: [.client, .linkPage],
    "The conversations with messages, the newest first.",
    refuses: [.noSuchAccount, .locked])
  /// Messages.
  public static let showMessages = Stream<LinksShow, LinkRow, StoreCount>(
    970, "messages.show", of: .linkFeed, for: [.client, .linkPage], "The messages of a conversation, the newest first.",
    refuses: [.noSuchAccount, .locked, .noSuchConversation, .noSuchPost])
  /// Marks messages as read.
  public static let readMessages = Method<LinksRead, StoreCount>(
    971, "messages.read", of: .linkFeed, for: [.client, .linkPage],
    "Marks the messages of a conversation as read. Answered with how many were unread.",
    refuses: [.noSuchAccount, .locked, .noSuchConversation, .diskFull])

  static let all: [MethodDeclaration] = [
    post.declaration, reply.declaration, list.declaration, show.declaration, read.declaration, contacts.declaration,
    contact.declaration, status.declaration, sendMessage.declaration, listMessages.declaration,
    showMessages.declaration, readMessages.declaration, LinkTopic.changes.declaration,
  ]
}

/// The topics of the role `link-feed`.
public enum LinkTopic {
  /// What has come, was sent or was read.
  public static let changes = Topic<LinkChange>(
    992, "links.changes", of: .linkFeed, for: [.client, .linkPage],
    "What has come, was sent or was read, with its notice.")
}
