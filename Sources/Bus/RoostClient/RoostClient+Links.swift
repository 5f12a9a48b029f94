public import Contracts
internal import Cryptography
internal import EventLoop
public import Frames

// Links and private messages, in gift wraps. What is sent is committed by the worker `link-feed` before relays are
// asked, under a token: a call that is repeated after a death, of the connection or of the worker, sends nothing twice.

extension RoostClient {
  /// How long the worker may take beyond the wait for relays, in milliseconds: the account may have to be unlocked, and
  /// relays of a recipient to be found.
  private static let linkMilliseconds: UInt32 = 60_000

  // MARK: Sending

  /// Sends a link. When this returns, the link is on disk; for each recipient a relay has it, or the wait is over.
  ///
  /// - Parameter wanted: the link. Without a `token` it gets a random one, so the request may be repeated.
  /// - Throws: `no-relays` when the recipient names no relays for gift wraps and the account has agreed to none;
  ///   `not-sent` with `givesUp`; `no-such-conversation` for a name that no contact has; `no-such-account`, `locked`,
  ///   `disk-full`; `unavailable` when no worker `link-feed` runs.
  public func post(_ wanted: LinksPost) async throws(Refusal) -> SentLink {
    var wanted = wanted
    wanted.token = wanted.token ?? Self.linkToken()
    return try await send(LinkMethod.post, wanted, wanted.waitMilliseconds)
  }

  /// Sends a reply to a post. As ``post(_:)``.
  ///
  /// - Throws: `no-such-post`; otherwise as ``post(_:)``.
  public func reply(_ wanted: LinksReply) async throws(Refusal) -> SentLink {
    var wanted = wanted
    wanted.token = wanted.token ?? Self.linkToken()
    return try await send(LinkMethod.reply, wanted, wanted.waitMilliseconds)
  }

  /// Sends a private message (NIP-17). As ``post(_:)``.
  public func sendMessage(_ wanted: MessagesSend) async throws(Refusal) -> SentLink {
    var wanted = wanted
    wanted.token = wanted.token ?? Self.linkToken()
    return try await send(LinkMethod.sendMessage, wanted, wanted.waitMilliseconds)
  }

  // MARK: Reading

  /// Conversations with links, the newest first: at most `limit` of them.
  public func conversations(_ wanted: LinksList = LinksList()) async throws(Refusal) -> [LinkConversationRow] {
    try await collect(LinkMethod.list, wanted)
  }

  /// A page of the posts of a conversation, the newest first; or of a post and its replies, the oldest first. The
  /// `place` of its last row is the `before` of the next page.
  ///
  /// - Throws: `no-such-conversation`, `no-such-post`, `no-such-account`, `locked`.
  public func linkRows(_ wanted: LinksShow) async throws(Refusal) -> [LinkRow] {
    try await collect(LinkMethod.show, wanted)
  }

  /// Marks the posts of a conversation as read, or a post with its replies.
  ///
  /// - Returns: how many were unread.
  @discardableResult
  public func markLinksRead(_ wanted: LinksRead) async throws(Refusal) -> Int {
    try await ask(LinkMethod.read, wanted).count
  }

  /// Conversations with private messages, the newest first.
  public func messageConversations(_ wanted: LinksList = LinksList()) async throws(Refusal) -> [LinkConversationRow] {
    try await collect(LinkMethod.listMessages, wanted)
  }

  /// A page of the messages of a conversation, the newest first. As ``linkRows(_:)``.
  public func messageRows(_ wanted: LinksShow) async throws(Refusal) -> [LinkRow] {
    try await collect(LinkMethod.showMessages, wanted)
  }

  /// Marks the messages of a conversation as read.
  ///
  /// - Returns: how many were unread.
  @discardableResult
  public func markMessagesRead(_ wanted: LinksRead) async throws(Refusal) -> Int {
    try await ask(LinkMethod.readMessages, wanted).count
  }

  // MARK: Contacts and state

  /// The contacts of an account, by name.
  public func contacts(of account: String? = nil) async throws(Refusal) -> [LinkContact] {
    try await collect(LinkMethod.contacts, LinksContacts(account: account))
  }

  /// Adds a contact, changes it, or removes it.
  ///
  /// - Throws: `name-taken`, `full`, `no-such-account`, `locked`, `disk-full`.
  @discardableResult
  public func changeContact(_ wanted: LinksContact) async throws(Refusal) -> LinkContact {
    try await ask(LinkMethod.contact, wanted)
  }

  /// Whether something can be sent now, and what the worker has of each account.
  public func linksStatus() async throws(Refusal) -> LinksStatus {
    try await ask(LinkMethod.status, NoArguments())
  }

  /// An address with which one browser on this machine comes in to the page of links, once. Each call
  /// makes another.
  ///
  /// - Throws: `bad-request` for a text that is no link of linkstr's; `not-listening`; `unavailable` when no worker
  ///   `link-page` runs.
  public func pageAddress(_ wanted: PageEnter = PageEnter()) async throws(Refusal) -> PageAddress {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.linkMilliseconds)
    do throws(Refusal) { return try await request(PageMethod.enter, wanted, options: options) } catch {
      throw explained(error, without: .linkPage, "which shows links in a browser")
    }
  }

  /// Subscribes to what comes, is sent or is read. After a gap the present state is to be read again.
  @discardableResult
  public func linkChanges(
    onGap: @escaping @EventLoopActor (TopicGap) -> Void = { _ in },
    onChange: @escaping @EventLoopActor (LinkChange) -> Void
  ) async throws(Refusal) -> TopicSubscription {
    do throws(Refusal) { return try await subscribe(to: LinkTopic.changes, onGap: onGap, onValue: onChange) } catch {
      throw explainedLinks(error)
    }
  }

  // MARK: Asking

  /// 128 random bits: no two posts have the same.
  private static func linkToken() -> String {
    String(decoding: Hexadecimal.encode(RandomBytes.make(16)), as: UTF8.self)
  }

  private func send<Arguments>(
    _ method: Method<Arguments, SentLink>, _ wanted: Arguments, _ waitMilliseconds: Int64?
  ) async throws(Refusal) -> SentLink {
    let wait = UInt32(clamping: waitMilliseconds ?? LinksPost.waitMillisecondsDefault)
    let (limit, isTooLong) = wait.addingReportingOverflow(Self.linkMilliseconds)
    let options = RequestOptions.idempotent(ttlMilliseconds: isTooLong ? .max : limit)
    do throws(Refusal) { return try await request(method, wanted, options: options) } catch {
      throw explainedLinks(error)
    }
  }

  private func ask<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, _ wanted: Arguments
  ) async throws(Refusal) -> Answer {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.linkMilliseconds)
    do throws(Refusal) { return try await request(method, wanted, options: options) } catch {
      throw explainedLinks(error)
    }
  }

  private func collect<Arguments, Part>(
    _ method: Stream<Arguments, Part, StoreCount>, _ wanted: Arguments
  ) async throws(Refusal) -> [Part] {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.linkMilliseconds)
    do throws(Refusal) { return try await stream(method, wanted, options: options).collect() } catch {
      throw explainedLinks(error)
    }
  }

  /// Explains a refusal that means that no worker `link-feed` is configured.
  func explainedLinks(_ refusal: Refusal) -> Refusal {
    explained(refusal, without: .linkFeed, "which keeps links and private messages")
  }
}
