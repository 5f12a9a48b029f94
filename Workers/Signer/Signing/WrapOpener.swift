public import Cryptography
public import Nostr
public import NostrContracts

// Opening the wraps of a run, on any thread. The order is that of the cost, and of the proof: the wrap's form and its
// recipient, one decryption, the seal's signature, and only then the key of the conversation with its author, which is
// kept for the author's next wrap.

/// Opens gift wraps for one account. Belongs to one thread at a time.
public struct WrapOpener {
  private let key: SecretKey
  private let authors: ConversationCache
  private let verifier = EventVerifier()

  /// An opener with the account's key.
  public init(_ key: SecretKey, authors: ConversationCache) {
    self.key = key
    self.authors = authors
  }

  /// Opens a wrap, with all checks of NIP-59. It is stricter than `signer.unwrap`, which warns where the NIP forbids
  /// something. About 80 µs, and 120 µs if the author is new.
  public func open(_ json: [UInt8]) -> WrapOutcome {
    do throws(GiftWrapFault) {
      let wrap = try UnverifiedWrap(json)
      guard wrap.isAddressed(to: key.publicKey) else {
        return .refused(WrapRefusal(.notForThisAccount, "no 'p' tag of the wrap names the account"))
      }
      let rumor = try rumor(of: wrap)
      if rumor.warnings.contains(.sealHasTags) {
        return .refused(WrapRefusal(.notASeal, "the seal has tags other than its expiration"))
      }
      return .opened(OpenedWrap(author: rumor.author, id: rumor.id, rumor: rumor.event.json))
    } catch {
      return .refused(WrapRefusal(error))
    }
  }

  private func rumor(of wrap: UnverifiedWrap) throws(GiftWrapFault) -> Rumor {
    var known: ConversationCache.Author?
    let seal = try Seal(wrap.open(by: key), verifier: verifier) { author in
      known = authors.author(author, of: key.publicKey)
      return known?.point
    }
    let author = seal.event.pubkey
    if let known { return try seal.rumor(with: known.conversation) }
    let conversation: ConversationKey
    do throws(NIP44Fault) { conversation = try ConversationKey(key, author) } catch { throw .encryption(error) }
    let rumor = try seal.rumor(with: conversation)
    if let point = ParsedPublicKey(author) {
      authors.keep(ConversationCache.Author(point: point, conversation: conversation), author, of: key.publicKey)
    }
    return rumor
  }
}

extension WrapRefusal {
  /// Why a wrap was not opened.
  public init(_ fault: GiftWrapFault) {
    let code: Code =
      switch fault {
      case .badWrap: .malformed
      case .notAWrap: .notAGiftWrap
      case .tooLarge: .tooLarge
      case .encryption: .undecryptable
      case .notASeal: .notASeal
      case .badSeal(.wrongID), .badSeal(.badSignature), .badSeal(.badPublicKey): .forgedSeal
      case .badSeal: .notASeal
      case .badRumor: .malformedRumor
      case .impersonation: .wrongAuthor
      }
    self.init(code, fault.description)
  }
}
