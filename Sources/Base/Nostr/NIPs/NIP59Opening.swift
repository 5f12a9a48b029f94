public import Cryptography
internal import JSON

// Opening many gift wraps (NIP-59), in the steps that `GiftWrap.open(by:)` does in one call: a program that opens
// thousands keeps what the next wrap needs too. A third of the work is the shared point with the author of the seal,
// and the same few authors write again and again.

/// A gift wrap whose id and signature nothing here has checked (NIP-59); kind and size are right.
///
/// It may be opened like a verified one, and nothing less is proven. A wrap is signed by a key that was made for it:
/// the signature says nothing about the author, whom the seal's signature proves. The code of NIP-44 proves that the
/// content is what the holder of the wrap's key encrypted for the recipient. Id, time and tags of the wrap stay
/// unproven; they decide nothing except whether it names the recipient, whose key must open it anyway. So the
/// signature, a third of the cost of opening, would only tell a damaged wrap from one that its sender made so. NIP-44
/// wants it checked before decryption because in an event of a known author it is the proof of the author.
public struct UnverifiedWrap: Sendable {
  /// The key that was made for this wrap.
  public let author: PublicKey
  private let recipients: [PublicKey]
  private let content: String

  /// Most `p` tags that are read; those behind them name no recipient.
  public static let recipientMaximum = 16

  /// Reads an event of kind 1059 or 21059.
  ///
  /// - Throws: `badWrap`, `notAWrap` or `tooLarge`.
  public init(_ json: [UInt8]) throws(GiftWrapFault) {
    let result = json.withUnsafeBytes { bytes -> Result<Self, GiftWrapFault> in
      do throws(EventFault) {
        let event = try ScannedEvent(bytes)
        guard event.kind == GiftWrap.kind || event.kind == GiftWrap.ephemeralKind else {
          return .failure(.notAWrap(kind: event.kind))
        }
        let content = event.content.string(in: bytes)
        guard content.utf8.count <= GiftWrap.contentByteCountMaximum else {
          return .failure(.tooLarge(byteCount: content.utf8.count, maximum: GiftWrap.contentByteCountMaximum))
        }
        return .success(Self(author: event.pubkey, recipients: Self.recipients(of: event, in: bytes), content: content))
      } catch {
        return .failure(.badWrap(error))
      }
    }
    self = try result.get()
  }

  private init(author: PublicKey, recipients: [PublicKey], content: String) {
    self.author = author
    self.recipients = recipients
    self.content = content
  }

  private static func recipients(of event: ScannedEvent, in bytes: UnsafeRawBufferPointer) -> [PublicKey] {
    var reader = TagReader(event, in: bytes)
    var recipients: [PublicKey] = []
    while recipients.count < recipientMaximum, reader.nextTag() {
      guard let name = reader.nextString(), name.equals("p", in: bytes), let value = reader.nextString() else {
        continue
      }
      if let key = PublicKey(value.string(in: bytes)) { recipients.append(key) }
    }
    return recipients
  }

  /// Whether a `p` tag names this key.
  public func isAddressed(to recipient: PublicKey) -> Bool { recipients.contains(recipient) }

  /// The decrypted content: a seal as JSON, of which nothing is checked yet.
  ///
  /// - Throws: `encryption`.
  public func open(by recipient: SecretKey) throws(GiftWrapFault) -> [UInt8] {
    do throws(NIP44Fault) {
      return try NIP44.decrypt(content, with: ConversationKey(recipient, author))
    } catch {
      throw .encryption(error)
    }
  }
}

extension Seal {
  /// The rumor in it.
  ///
  /// - Parameter conversation: the key of the conversation between the recipient and the seal's author.
  /// - Throws: `encryption`, `badRumor` or `impersonation`.
  public func rumor(with conversation: ConversationKey) throws(GiftWrapFault) -> Rumor {
    let json: [UInt8]
    do throws(NIP44Fault) { json = try NIP44.decrypt(event.content, with: conversation) } catch {
      throw .encryption(error)
    }
    return try Rumor(json, in: self)
  }
}
