import Cryptography
import Nostr
import Testing

@Suite("Secret keys in texts")
struct SpottedSecretTests {
  private static let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
  private static let ncryptsec =
    "ncryptsec1qgg9947rlpvqu76pj5ecreduf9jxhselq2nae2kghhvd5g7dgjtcxfqtd67p9m0w57lspw8gsq6yphnm8623nsl8xn9j4jdzz84zm3frztj3z7s35"
    + "vpzmqf6ksu8r89qk5z2zxfmu5gv8th8wclt0h4p"

  @Test("are found wherever they stand, in either case, also with a letter wrong")
  func found() {
    for text in [
      Self.nsec, "my key: \(Self.nsec).", Self.nsec.uppercased(), "nostr:" + Self.nsec, "x" + Self.nsec + "qq",
      Self.nsec.dropLast() + "6", "é" + Self.nsec, "nsec1nsec1" + Self.nsec.dropFirst(5),
    ] {
      #expect(SpottedSecret(in: text) == .nsec, "\(text)")
    }
    #expect(SpottedSecret(in: "(" + Self.ncryptsec + ")") == .ncryptsec)
  }

  @Test("are not found in what only speaks of them")
  func notFound() {
    for text in [
      "", "nsec1", "nsec1…", "nsec", "an nsec1abc is short", String(Self.nsec.dropLast()),
      "nsec1 " + Self.nsec.dropFirst(5),
      "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg", String(Self.ncryptsec.dropLast(20)),
      "nsec1" + String(repeating: "b", count: 58),
    ] {
      #expect(SpottedSecret(in: text) == nil, "\(text)")
    }
  }

  @Test("are left out of what is shown, pieces of them too")
  func redacted() {
    #expect(SpottedSecret.redacted("no '\(Self.nsec)' here") == "no 'nsec1…' here")
    #expect(SpottedSecret.redacted("a \(Self.nsec.prefix(20)), \(Self.ncryptsec)") == "a nsec1…, ncryptsec1…")
    #expect(SpottedSecret.redacted("nsec1… and nsec1abc") == "nsec1… and nsec1abc")
  }
}

@Suite("What tags refer to")
struct TagReferenceTests {
  private let key = SecretKey.generate().publicKey
  private let id = EventID(SHA256.hash(Array("x".utf8)))

  @Test("is hexadecimal digits, and what people write is turned into those")
  func spelled() throws {
    for text in ["\(key)", key.npub, "nostr:" + key.npub] {
      #expect(try TagReference.key.value(spelled: text) == "\(key)")
    }
    #expect(try TagReference.event.value(spelled: id.note) == "\(id)")
    #expect(try TagReference.eventOrAddress.value(spelled: id.note) == "\(id)")
    let address = "30023:\(key):a:b"
    #expect(try TagReference.address.value(spelled: address) == address)
    #expect(try TagReference.eventOrAddress.value(spelled: address) == address)
  }

  @Test("is nothing else: no broken entity, no digits of another number, no other thing")
  func refused() {
    let hexadecimal = "\(key)"
    for (reference, text) in [
      (TagReference.key, ""), (.key, String(hexadecimal.dropLast())), (.key, hexadecimal.uppercased()),
      (.key, id.note), (.key, key.npub.dropLast() + "b"), (.event, key.npub), (.event, "x"),
      (.address, id.note), (.address, "1:\(key):"),
      (.eventOrAddress, key.npub), (.key, "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"),
    ] {
      #expect(!reference.accepts(text), "\(text)")
      #expect(throws: EntityFault.self, "\(text)") { try reference.value(spelled: text) }
    }
    #expect(TagReference(tagName: "t") == nil && TagReference(tagName: "P") == .key)
  }
}
