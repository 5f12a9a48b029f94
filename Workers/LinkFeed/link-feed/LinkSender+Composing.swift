import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinkAddresses
import LinkLedger
import Linkstr
import LinuxSystem
import Nostr
import Storage
import WorkerKit
import Wording

// What is sent: a post, a reply, a message. Each is checked before anything is made of it.

extension LinkSender {
  func post(_ request: BusRequest, _ wanted: LinksPost) async throws(Refusal) -> SentLink {
    let vault = try await feed.vault(wanted.account)
    let destination = try await destination(wanted, vault)
    let url: LinkURL
    do throws(LinkURLFault) { url = try LinkURL(wanted.url) } catch {
      let shown = VisibleText.make(String(wanted.url.prefix(Self.shownMaximum)))
      throw Refusal(.badRequest, "'\(shown)' cannot be sent: \(error)", outcome: .notStarted)
    }
    let manner = Manner(
      request, [wanted.to, wanted.url, wanted.note] + (wanted.session.map { [$0] } ?? []), wanted.token,
      wanted.waitMilliseconds, wanted.givesUp)
    guard case .peer(let peer) = destination else {
      feed.usesLinks(vault.key)
      return try await send(vault, manner) { [self] (token) throws(Refusal) in
        try await keepInSession(url, wanted, destination, token, vault)
      }
    }
    let draft: LinkDraft
    do throws(LinkFault) {
      var random = SystemRandomNumberGenerator()
      draft = try LinkDraft.post(
        url, note: wanted.note, to: peer, by: vault.key, at: WallClock.seconds, using: &random)
    } catch { throw Self.bad(error) }
    return try await send(draft.rumor, to: draft.recipients, vault, manner)
  }

  func reply(_ request: BusRequest, _ wanted: LinksReply) async throws(Refusal) -> SentLink {
    let vault = try await feed.vault(wanted.account)
    let root = try await feed.post(wanted.post, .links, vault).rumor
    let peer = try peer(ofPost: root, vault)
    let draft: LinkDraft
    do throws(LinkFault) {
      draft = try LinkDraft.reply(wanted.text, to: root.id, with: peer, by: vault.key, at: WallClock.seconds)
    } catch { throw Self.bad(error) }
    return try await send(
      draft.rumor, to: draft.recipients, vault,
      Manner(request, [wanted.post, wanted.text], wanted.token, wanted.waitMilliseconds, wanted.givesUp))
  }

  func message(_ request: BusRequest, _ wanted: MessagesSend) async throws(Refusal) -> SentLink {
    let vault = try await feed.vault(wanted.account)
    var others: Set<PublicKey> = []
    for text in wanted.to {
      for member in try await members(text, vault) where member != vault.key { others.insert(member) }
    }
    var answered = wanted.replyTo.flatMap { EventID($0) }
    // What is answered need not be here, if its whole id is given.
    if let text = wanted.replyTo, answered == nil {
      answered = try await feed.post(text, as: "replyTo", .messages, vault).rumor.id
    }
    let manner = Manner(
      request, wanted.to + [wanted.text, wanted.subject, wanted.replyTo, "\(wanted.legacy ?? false)"], wanted.token,
      wanted.waitMilliseconds, wanted.givesUp)
    if wanted.legacy == true { return try await legacy(wanted.text, to: others.first ?? vault.key, vault, manner) }
    let rumor = PrivateMessage.rumor(
      wanted.text, to: others.isEmpty ? [vault.key] : others.sorted(), subject: wanted.subject, answering: answered,
      by: vault.key, at: WallClock.seconds)
    return try await send(
      rumor, to: (others.union([vault.key])).sorted(), vault, manner)
  }

  /// Sends a message of kind 4: an event of the account, which goes where the account writes and the recipient reads.
  private func legacy(
    _ text: String, to peer: PublicKey, _ vault: LinkVault, _ manner: Manner
  ) async throws(Refusal) -> SentLink {
    try await send(vault, manner) { [self] (token) throws(Refusal) in
      let bus = feed.worker.bus
      let account = "\(vault.key)"
      let encrypted = try await bus.request(
        SignerMethod.nip04Encrypt, SignerCipher(account: account, peer: "\(peer)", text: text),
        ttlMilliseconds: Self.signMilliseconds
      ).text
      let template = UnsignedEvent(
        pubkey: vault.key, createdAt: WallClock.seconds, kind: EventKind.encryptedDirectMessage,
        tags: [["p", "\(peer)"]], content: encrypted)
      let signed = try await bus.request(
        SignerMethod.sign, SignerSign(account: account, event: RawJSON(template.json)),
        ttlMilliseconds: Self.signMilliseconds)
      // `try?`: the signer has made it.
      guard let event = try? Event(json: signed.event.bytes),
        let kept = KeptRumor(legacy: event, text: text, for: vault.key)
      else { throw Refusal(.badPayload, "the signer's event cannot be read", outcome: .notStarted) }
      let item = kept.row(in: vault, noticeAt: 0, stage: 1)
      let sealed = vault.seal(
        KeptCopy(recipient: "\(peer)", wrap: "\(event.id)", event: signed.event), "copy", item.id)
      return try await keep([item], [LinkLedger.Copy(item: item.id, isOwn: false, sealed: sealed)], token, vault)
    }
  }

  /// The members of the conversation that a text names, besides the account.
  private func members(_ text: String, _ vault: LinkVault) async throws(Refusal) -> [PublicKey] {
    let found = try await feed.conversation(named: text, vault)
    if found?.isSession == true {
      throw Refusal(
        .badRequest, "'\(VisibleText.make(text))' is a session: messages do not go there", outcome: .notStarted)
    }
    if let found, !found.members.isEmpty {
      return found.members.compactMap { PublicKey($0) }
    }
    return [try await feed.person(text, vault)]
  }

  func peer(_ text: String, _ vault: LinkVault) async throws(Refusal) -> PublicKey {
    let members = try await members(text, vault)
    guard members.count == 1 else {
      throw Refusal(.badRequest, "'\(text)' has several members; a link goes to one contact", outcome: .notStarted)
    }
    return members[0]
  }

  private func peer(ofPost rumor: KeptRumor, _ vault: LinkVault) throws(Refusal) -> PublicKey {
    let members = rumor.members(besides: vault.key)
    if case .link(let item) = rumor.content, case .session = item.body {
      throw Refusal(.badRequest, "it is a post of a session, and sessions have no replies", outcome: .notStarted)
    }
    return members.first ?? vault.key
  }

  static func bad(_ fault: LinkFault) -> Refusal {
    Refusal(.badRequest, "it cannot be sent: \(fault)", outcome: .notStarted)
  }

  /// Characters of a link that a refusal repeats.
  private static let shownMaximum = 100
}
