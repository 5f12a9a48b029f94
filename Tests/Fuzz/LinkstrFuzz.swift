// Fuzz entry for what strangers put into links: contents of rumors, addresses, deep links, answers of oEmbed.
// `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: links
import Cryptography
import LinkAddresses
import Linkstr
import Nostr

private let account = PublicKey(SHA256.hash([1]))
private let sender = PublicKey(SHA256.hash([2]))

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLinkstr(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  let text = String(decoding: bytes, as: UTF8.self)
  for dialect in LinkPayload.Dialect.allCases { readPayload(text, dialect) }
  readURL(text)
  readDeepLink(text)
  if let player = LinkMedia.player(inAnswer: bytes) {
    precondition(player.isSecure && player.host == "rumble.com", "nothing but a player is taken from an answer")
  }
  readItem(text, tags: [["p", "\(account)"]])
  readItem(text, tags: [])
  return 0
}

private func readPayload(_ text: String, _ dialect: LinkPayload.Dialect) {
  do throws(LinkFault) {
    let payload = try LinkPayload(text, as: dialect)
    // Escaping may make a text longer than a content can be.
    guard payload.json.utf8.count <= LinkPayload.byteCountMaximum else { return }
    let again = try LinkPayload(payload.json, as: dialect)
    precondition(again == payload, "what is written is read")
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
}

private func readURL(_ text: String) {
  do throws(LinkURLFault) {
    let url = try LinkURL(text)
    precondition(url.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a link is printable ASCII")
    precondition(!url.text.contains { "\"<>\\^`{|}".contains($0) }, "nothing in a link ends an attribute")
    let again = try LinkURL(url.text)
    precondition(again == url, "a link has one spelling")
    switch LinkMedia(url).embed {
    case .frame(let embed)?, .lookup(let embed)?: precondition(embed.isSecure, "an embed is encrypted")
    case nil: break
    }
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
}

private func readDeepLink(_ text: String) {
  for text in [text, "linkstr://open?p=\(Base64URL.text(of: Array(text.utf8)))"] {
    do throws(LinkDeepLinkFault) {
      let link = try LinkDeepLink(text)
      let again = try LinkDeepLink(link.text)
      precondition(again == link, "what is written is read")
    } catch {
      precondition(!error.description.isEmpty, "every fault has words")
    }
  }
}

private func readItem(_ text: String, tags: [[String]]) {
  let rumor = UnsignedEvent(
    pubkey: sender, createdAt: 1_771_700_000, kind: LinkPayload.rumorKind, tags: tags, content: text)
  do throws(LinkFault) {
    let item = try LinkItem(verified: rumor, for: account)
    precondition(item.sender == sender && !item.isOwn, "the sender is the author")
    if let notice = LinkNotice(item, from: text) {
      precondition(notice.body.count <= LinkNotice.bodyLengthMaximum && !notice.body.isEmpty, "a notice is short")
    }
    guard case .session = item.body else { return }
    var sessions = LinkSessions(account)
    _ = try sessions.received(item, fromContact: false)
    let outcome = try sessions.received(item, fromContact: false)
    precondition(outcome == .duplicate, "a rumor is taken once")
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
}
